#pragma once

#include <pty.h>
#include <unistd.h>

namespace heed {

/// Whether the system has pseudo-terminals to give. A chroot in which no devpts is mounted has
/// none; there, a test of what is drawn on one can only be skipped.
inline bool has_pseudo_terminals() {
  int outer = -1, inner = -1;
  if (::openpty(&outer, &inner, nullptr, nullptr, nullptr) != 0) return false;
  ::close(outer);
  ::close(inner);
  return true;
}

inline constexpr const char* kNoPseudoTerminals = "no pseudo-terminals: /dev/pts is not mounted";

}  // namespace heed
