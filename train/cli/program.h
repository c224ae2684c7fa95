#pragma once

namespace heed::cli {

/// The program as main() calls it: reads the command line, does what it says, reports what goes
/// wrong as one line on stderr, and returns the exit code.
int run_program(int argc, char** argv);

}  // namespace heed::cli
