#include <heed/autograd/error.h>
#include <heed/train/metrics.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

namespace heed {

std::string json_line(const Fields& fields) {
  nlohmann::ordered_json line = nlohmann::ordered_json::object();
  for (const auto& [name, value] : fields)
    std::visit([&, &name = name](const auto& v) { line[name] = v; }, value);
  return line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

MetricsFile::MetricsFile(std::filesystem::path path)
    : path_(std::move(path)), out_(path_, std::ios::app) {
  if (!out_) throw FileError(text("cannot write ", path_.string(), ": ", std::strerror(errno)));
}

void MetricsFile::write(const Fields& fields) {
  out_ << json_line(fields) << '\n' << std::flush;
  if (!out_) throw FileError(text("cannot write ", path_.string(), ": ", std::strerror(errno)));
}

}  // namespace heed
