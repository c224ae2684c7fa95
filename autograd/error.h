#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

namespace heed {

/// What every error of heed derives from. The message names the operation, the values or shapes it
/// met and, where there is one, the way out.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Shapes that do not fit each other or the operation.
class ShapeError : public Error {
  using Error::Error;
};

/// Element types that do not fit each other or the operation.
class DTypeError : public Error {
  using Error::Error;
};

/// An axis, position or id outside its range.
class IndexError : public Error {
  using Error::Error;
};

/// A use of the graph that cannot give a right gradient (released, changed in place, no seed, ...).
class GraphError : public Error {
  using Error::Error;
};

/// A value or gradient that is not finite where it has to be.
class NonFinite : public Error {
  using Error::Error;
};

/// A file that is missing, unreadable, unwritable or not what it says it is.
class FileError : public Error {
  using Error::Error;
};

/// An option or argument outside its range (a probability of 2, a negative step count, ...).
class ValueError : public Error {
  using Error::Error;
};

/// The parts written one after the other, as `operator<<` writes them.
template <class... Parts>
std::string text(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return std::move(out).str();
}

}  // namespace heed
