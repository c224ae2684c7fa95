#pragma once

#include <heed/train/safetensors.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heed::detail {

/// The name under which the header of a safetensors file holds the metadata.
inline constexpr std::string_view kMetadata = "__metadata__";

/// What the header says of a tensor: each there, and of the right kind, but not yet more.
struct TensorEntry {
  std::string name;
  std::string dtype;
  std::optional<std::vector<std::uint64_t>> shape, offsets;
};

struct SafetensorsHeader {
  std::vector<TensorEntry> entries;
  Metadata metadata;
};

/// Reads the JSON of a header. Throws FileError, naming `origin`, for what does not belong there,
/// where it stands: a deep or huge document builds nothing.
SafetensorsHeader parse_safetensors_header(const std::string& json, std::string_view origin);

/// The name in quotes, on one line, in ASCII.
std::string quote(const std::string& name);

}  // namespace heed::detail
