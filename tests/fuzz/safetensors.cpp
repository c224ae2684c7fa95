// Any bytes as a safetensors file: read whole or refused with a FileError, nothing else.
#include <heed/autograd/autograd.h>
#include <heed/train/train.h>

#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::istringstream in(std::string(reinterpret_cast<const char*>(data), size));
  std::size_t bytes = 0;
  try {
    for (const auto& [name, tensor] : heed::read_safetensors(in, size, "fuzz").tensors) {
      bytes += static_cast<std::size_t>(tensor.numel()) * (tensor.dtype() == heed::f64 ? 8 : 4);
    }
  } catch (const heed::FileError&) {
    return 0;
  }
  if (bytes > size) std::abort();  // more numbers than the file holds
  return 0;
}
