#include <heed/autograd/error.h>
#include <heed/train/atomic_file.h>
#include <heed/train/safetensors.h>
#include <heed/train/safetensors_header.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>
#include <vector>

namespace heed {
namespace {

using detail::kMetadata;
using detail::quote;

static_assert(std::endian::native == std::endian::little, "the format's bytes are little-endian");

constexpr std::uint64_t kPrefix = 8;               // bytes that hold the header's length
constexpr std::uint64_t kMaxHeader = 100'000'000;  // as in the format's reference implementation

[[noreturn]] void fail(std::string_view origin, const std::string& reason) {
  throw FileError(text(origin, ": ", reason));
}

void read_bytes(std::istream& in, void* to, std::uint64_t bytes, std::string_view origin) {
  if (!in.read(static_cast<char*>(to), static_cast<std::streamsize>(bytes)))
    fail(origin, "ended while it was being read");
}

std::span<const std::byte> bytes_of(const Tensor& x) {
  return dispatch(x.dtype(), [&](auto t) { return std::as_bytes(x.data<decltype(t)>()); });
}

/// The JSON text; `size` is the whole file's.
std::string read_header(std::istream& in, std::uint64_t size, std::string_view origin) {
  if (size < kPrefix)
    fail(origin, text("has ", size, " bytes; a safetensors file begins with ", kPrefix,
                      " bytes that hold the length of its header"));
  std::uint64_t length = 0;
  read_bytes(in, &length, kPrefix, origin);
  if (length > size - kPrefix)
    fail(origin, text("says that its header has ", length, " bytes, but only ", size - kPrefix,
                      " follow: it is cut off, or no safetensors file"));
  if (length > kMaxHeader)
    fail(origin, text("has a header of ", length, " bytes; the format allows ", kMaxHeader));
  std::string json(length, '\0');
  read_bytes(in, json.data(), length, origin);
  if (!json.starts_with('{')) fail(origin, "its header does not begin with {");
  return json;
}

/// A tensor whose shape, dtype and place fit together.
struct Placed {
  std::string name;
  Shape shape;
  DType dtype;
  std::uint64_t begin, end;
};

Placed place(const detail::TensorEntry& entry, std::string_view origin) {
  const std::string tensor = text("tensor ", quote(entry.name), " ");
  if (entry.dtype != "F32" && entry.dtype != "F64")
    fail(origin, text(tensor, "is of dtype ", quote(entry.dtype), "; heed reads F32 and F64"));
  if (entry.offsets->size() != 2 || entry.offsets->front() > entry.offsets->back())
    fail(origin, text(tensor, "has data_offsets that are not a begin and an end"));

  Placed placed{entry.name,
                {},
                entry.dtype == "F32" ? f32 : f64,
                entry.offsets->front(),
                entry.offsets->back()};
  std::uint64_t bytes = size_of(placed.dtype);
  for (std::uint64_t length : *entry.shape) {
    if (length > INT64_MAX || __builtin_mul_overflow(bytes, length, &bytes))
      fail(origin, text(tensor, "has more elements than can be counted"));
    placed.shape.push_back(static_cast<std::int64_t>(length));
  }
  if (bytes != placed.end - placed.begin)
    fail(origin, text(tensor, "has ", placed.end - placed.begin, " bytes of data, but ",
                      placed.dtype, " of shape ", placed.shape, " takes ", bytes));
  return placed;
}

/// Throws unless the tensors, in this order, fill `size` bytes without a gap.
void check_cover(const std::vector<Placed>& tensors, std::uint64_t size, std::string_view origin) {
  std::uint64_t at = 0;
  for (const Placed& tensor : tensors) {
    if (tensor.begin != at)
      fail(origin, text("tensor ", quote(tensor.name), " begins at byte ", tensor.begin,
                        " of the data, but the one before it ends at ", at));
    at = tensor.end;
  }
  if (at != size)
    fail(origin, text("its tensors take ", at, " bytes of data, but it holds ", size,
                      at > size ? ": it is cut off" : ""));
}

}  // namespace

SafeTensors read_safetensors(std::istream& in, std::uint64_t size, std::string_view origin) {
  const std::string json = read_header(in, size, origin);
  detail::SafetensorsHeader header = detail::parse_safetensors_header(json, origin);

  std::vector<Placed> tensors;
  for (const detail::TensorEntry& entry : header.entries) tensors.push_back(place(entry, origin));
  std::ranges::sort(tensors, {}, [](const Placed& t) { return std::pair(t.begin, t.end); });
  check_cover(tensors, size - kPrefix - json.size(), origin);

  SafeTensors file{{}, std::move(header.metadata)};
  for (Placed& tensor : tensors) {
    Tensor x = empty(tensor.shape, tensor.dtype);
    dispatch(tensor.dtype, [&](auto t) {
      const auto elements = x.mutate<decltype(t)>();
      read_bytes(in, elements.data(), elements.size_bytes(), origin);
    });
    file.tensors.push_back({std::move(tensor.name), std::move(x)});
  }
  return file;
}

SafeTensors read_safetensors(const std::filesystem::path& path) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error) fail(path.string(), text("cannot be read: ", error.message()));
  std::ifstream in(path, std::ios::binary);
  if (!in) fail(path.string(), text("cannot be read: ", std::strerror(errno)));
  return read_safetensors(in, size, path.string());
}

void write_safetensors(const std::filesystem::path& path, const Parameters& tensors,
                       const Metadata& metadata) {
  std::vector<NamedTensor> ordered(tensors);
  std::ranges::stable_sort(ordered, std::greater(), [](const NamedTensor& tensor) {
    return size_of(tensor.value.dtype());  // so that each begins at a multiple of its element
  });

  nlohmann::ordered_json header;
  if (!metadata.empty()) header[kMetadata] = metadata;
  std::uint64_t at = 0;
  for (const NamedTensor& tensor : ordered) {
    if (header.contains(tensor.name) || tensor.name == kMetadata)
      throw ValueError(
          text("write_safetensors: the name ", quote(tensor.name),
               tensor.name == kMetadata ? " is kept for the metadata" : " occurs twice"));
    const Shape& shape = tensor.value.shape();
    const std::uint64_t end = at + bytes_of(tensor.value).size();
    header[tensor.name] = {{"dtype", tensor.value.dtype() == f32 ? "F32" : "F64"},
                           {"shape", std::vector<std::int64_t>(shape.begin(), shape.end())},
                           {"data_offsets", {at, end}}};
    at = end;
  }
  std::string json;
  try {
    json = header.dump();
  } catch (const nlohmann::json::type_error&) {
    throw ValueError(
        text("write_safetensors: a name or metadata for ", path.string(), " is not UTF-8"));
  }
  json.resize((json.size() + kPrefix - 1) / kPrefix * kPrefix, ' ');

  const std::uint64_t length = json.size();
  AtomicFile file(path);
  file.write(std::as_bytes(std::span(&length, 1)));
  file.write(json);
  for (const NamedTensor& tensor : ordered) file.write(bytes_of(tensor.value));
  file.commit();
}

}  // namespace heed
