#pragma once

#include <heed/layers/visitor.h>

#include <cstdint>
#include <filesystem>
#include <istream>
#include <map>
#include <string>
#include <string_view>

/// The safetensors format (https://huggingface.co/docs/safetensors): eight bytes of header length,
/// a JSON header that names dtype, shape and place of each tensor, then their bytes.
namespace heed {

using Metadata = std::map<std::string, std::string>;

struct SafeTensors {
  Parameters tensors;  ///< in the order of their bytes
  Metadata metadata;
};

/// Reads a file of F32 and F64 tensors. Nothing in it is trusted: a header that is not what the
/// format asks for, or does not agree with the size of the file, throws FileError with what is
/// wrong and where, before any memory is taken that the file's size would not justify.
SafeTensors read_safetensors(const std::filesystem::path& path);
/// The same from a stream of `size` bytes; errors call it `origin`.
SafeTensors read_safetensors(std::istream& in, std::uint64_t size, std::string_view origin);

/// Writes the file whole or not at all (see AtomicFile). Throws ValueError for a name that occurs
/// twice, is kept for the format, or is not UTF-8, and FileError if it cannot be written.
void write_safetensors(const std::filesystem::path& path, const Parameters& tensors,
                       const Metadata& metadata = {});

}  // namespace heed
