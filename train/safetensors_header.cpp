#include <heed/autograd/error.h>
#include <heed/autograd/shape.h>
#include <heed/train/safetensors_header.h>

#include <nlohmann/json.hpp>
#include <set>
#include <utility>

namespace heed::detail {
namespace {

/// Takes the header in as it is parsed.
class HeaderReader final : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit HeaderReader(std::string_view origin) : origin_(origin) {}

  SafetensorsHeader take() { return std::move(header_); }

  bool start_object(std::size_t) override {
    switch (place_) {
      case Place::start:
        place_ = Place::top;
        break;
      case Place::value:
        place_ = key_ == kMetadata ? Place::metadata : Place::tensor;
        break;
      default:
        refuse("an object");
    }
    keys_.clear();
    return true;
  }

  bool end_object() override {
    if (place_ == Place::tensor) {
      const TensorEntry& entry = header_.entries.back();
      if (entry.dtype.empty() || !entry.shape || !entry.offsets)
        fail(text("tensor ", quote(entry.name), " lacks dtype, shape or data_offsets"));
    }
    place_ = Place::top;
    return true;
  }

  bool key(std::string& key) override {
    const bool top = place_ == Place::top;
    if (!(top ? names_ : keys_).insert(key).second)
      fail(text("its header has ", quote(key), " twice"));
    key_ = key;
    if (!top) return true;
    place_ = Place::value;
    if (key_ != kMetadata)
      header_.entries.push_back({.name = key, .dtype = {}, .shape = {}, .offsets = {}});
    return true;
  }

  bool string(std::string& value) override {
    if (place_ == Place::metadata)
      header_.metadata.emplace(key_, value);
    else if (place_ == Place::tensor && key_ == "dtype")
      header_.entries.back().dtype = value;
    else
      refuse("a string");
    return true;
  }

  bool start_array(std::size_t) override {
    if (place_ != Place::tensor) refuse("a list");
    if (key_ == "shape")
      numbers_ = &header_.entries.back().shape.emplace();
    else if (key_ == "data_offsets")
      numbers_ = &header_.entries.back().offsets.emplace();
    else
      refuse("a list");
    place_ = Place::list;
    return true;
  }

  bool end_array() override {
    place_ = Place::tensor;
    return true;
  }

  bool number_unsigned(std::uint64_t value) override {
    if (place_ != Place::list) refuse("a number");
    if (numbers_->size() == Shape::kMaxRank)
      fail(text("tensor ", quote(header_.entries.back().name), " has a ", key_, " of more than ",
                Shape::kMaxRank, " numbers"));
    numbers_->push_back(value);
    return true;
  }

  bool null() override { refuse("a null"); }
  bool boolean(bool) override { refuse("a boolean"); }
  bool number_integer(std::int64_t) override { refuse("a negative number"); }
  bool number_float(double, const std::string&) override { refuse("a fraction"); }
  bool binary(nlohmann::json::binary_t&) override { refuse("binary data"); }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::json::exception&) override {
    fail(text("its header is not JSON in UTF-8: error at byte ", position, " of it"));
  }

 private:
  enum class Place { start, top, value, metadata, tensor, list };

  [[noreturn]] void fail(const std::string& reason) const {
    throw FileError(text(origin_, ": ", reason));
  }
  [[noreturn]] void refuse(const char* found) const {
    fail(text("its header has ", found, " out of place, at ", quote(key_)));
  }

  std::string_view origin_;
  SafetensorsHeader header_;
  Place place_ = Place::start;
  std::set<std::string> names_, keys_;  // of the header; of the object within it
  std::string key_;
  std::vector<std::uint64_t>* numbers_ = nullptr;
};

}  // namespace

SafetensorsHeader parse_safetensors_header(const std::string& json, std::string_view origin) {
  HeaderReader reader(origin);
  nlohmann::json::sax_parse(json, &reader);
  return reader.take();
}

std::string quote(const std::string& name) {
  return nlohmann::json(name).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

}  // namespace heed::detail
