#pragma once

#include <heed/layers/visitor.h>
#include <heed/train/safetensors.h>

#include <filesystem>
#include <string_view>

/// Checkpoints are safetensors files; the parameters are those of `named_parameters(model)`.
namespace heed {

/// Writes every parameter once, tied ones under their first name, and the metadata, to which it
/// adds the order of a Linear's axes: "heed.linear" is "in,out". Errors as write_safetensors.
void save_checkpoint(const std::filesystem::path& path, const Parameters& named,
                     Metadata metadata = {});

/// Reads a checkpoint into the parameters, in place, and returns its metadata. Tied parameters are
/// still tied. Throws FileError as read_safetensors and copy_parameters do, before any parameter
/// has changed.
Metadata load_checkpoint(const std::filesystem::path& path, const Parameters& named);

/// Writes the values of `from` into the parameters of the same names. Throws FileError, listing
/// what is missing, unexpected or of another shape or dtype, unless the two agree; `origin` is what
/// it calls the source.
void copy_parameters(const Parameters& from, const Parameters& named, std::string_view origin);

}  // namespace heed
