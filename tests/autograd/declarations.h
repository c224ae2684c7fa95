#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace heed::op_table {

/// The functions that a header declares at namespace scope, as `name(type, type)`: without result,
/// parameter names, defaults, const and references. Members of classes are left out.
std::vector<std::string> declarations(const std::string& header);

/// Those of every header in a folder, in order of name.
std::vector<std::string> declarations_in(const std::filesystem::path& folder);

/// Those that neither have a row nor are excused in `unrowed()`.
std::vector<std::string> without_row(const std::vector<std::string>& declared);

/// Declared beside the ops, but no op of a tensor: the declaration and the reason.
struct Unrowed {
  std::string declaration;
  std::string reason;
};
const std::vector<Unrowed>& unrowed();

}  // namespace heed::op_table
