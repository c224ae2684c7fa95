#pragma once

#include <string>

namespace heed::cli {

/// A Python program that builds an exported model in PyTorch and checks that it computes what heed
/// computed; `config` is what it is made of, as JSON.
std::string pytorch_script(const std::string& config);

}  // namespace heed::cli
