#include <fcntl.h>
#include <heed/autograd/error.h>
#include <heed/data/suggest.h>
#include <heed/tests/gradients/checks.h>
#include <heed/train/cli/build_info.h>
#include <heed/train/cli/commands.h>
#include <heed/train/cli/config_file.h>
#include <heed/train/cli/flags.h>
#include <heed/train/cli/output.h>
#include <heed/train/cli/program.h>
#include <heed/train/cli/settings.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <sstream>
#include <string>
#include <variant>
#include <vector>

namespace heed::cli {
namespace {

/// What the parser says, as a sentence of ours.
std::string explanation(const CLI::ParseError& error) {
  std::string reason = error.what();
  if (const std::size_t at = reason.find(": 1 required "); at != std::string::npos)
    return reason.substr(0, at) + " needs a value";
  if (const std::size_t at = reason.find(": needs a value"); at != std::string::npos)
    return reason.erase(at, 1);
  if (const std::size_t at = reason.find(": At Most 1 required"); at != std::string::npos)
    return reason.substr(0, at) + " may be given once";
  if (reason == "A subcommand is required") return "a command is required";
  return reason;
}

std::string joined(const std::string& complaint, const std::string& help) {
  return complaint.ends_with('?') ? complaint + " (" + help + ")" : complaint + "; " + help;
}

/// `heed bench step`: the innermost command that was named.
const CLI::App& chosen(const CLI::App& program) {
  const std::vector<CLI::App*> named = program.get_subcommands();
  return named.empty() ? program : chosen(*named.front());
}

/// What is wrong with a flag that the command does not have.
std::string unknown_flag(const CLI::App& command, const std::string& flag) {
  const CLI::Option* task = command.get_option_no_throw("task");
  if (task && !task->empty())
    if (const std::string elsewhere = belongs_elsewhere(flag, task->as<std::string>());
        !elsewhere.empty())
      return elsewhere;
  return unknown_name("option", flag, flags_of(command));
}

/// Why a command line was not understood, and what may have been meant.
std::string complaint(const CLI::App& program, const CLI::ParseError& error) {
  const CLI::App& command = chosen(program);
  std::string words = command.get_name();
  for (const CLI::App* above = command.get_parent(); above; above = above->get_parent())
    words = above->get_name() + " " + words;
  const std::string help = "see " + words + " --help";
  const std::vector<std::string> extras = program.remaining(true);
  const bool of_a_value = dynamic_cast<const CLI::ValidationError*>(&error);
  if (extras.empty() || of_a_value) return joined(explanation(error), help);

  const std::string& extra = extras.front();
  if (extra.starts_with('-'))
    return joined(unknown_flag(command, extra.substr(0, extra.find('='))), help);
  std::vector<std::string> known;
  for (const CLI::App* each : command.get_subcommands(nullptr)) known.push_back(each->get_name());
  if (known.empty()) return joined(text("unexpected argument \"", extra, "\""), help);
  return joined(unknown_name("command", extra, known), help);
}

int complain(Exit code, const std::string& reason) {
  std::string line = "heed: " + reason;
  std::ranges::replace(line, '\n', ' ');
  err.line(printable(line));
  return code;
}

int run(int argc, char** argv) {
  CLI::App program("Trains small attention models and shows what their heads learn.",
                   command_name());
  program.require_subcommand(1);
  program.set_version_flag("--version", "heed " + version());
  Action action;
  const std::vector<std::string> words(argv + 1, argv + argc);
  add_train(program, action, words);
  add_sample(program, action);
  add_eval(program, action);
  add_export(program, action);
  add_import(program, action);
  add_tasks(program, action);
  add_gradcheck(program, action, checks::subjects);
  add_bench(program, action);
  add_version(program, action);
  refuse_flags_as_values(program, words);
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {  // --help, --version
      std::ostringstream asked_for;
      program.exit(error, asked_for, asked_for);
      std::string shown = asked_for.str();
      while (shown.ends_with('\n')) shown.pop_back();
      out.raw(shown);
      return kOk;
    }
    return complain(kUsage, complaint(program, error));
  }
  try {
    return action();
  } catch (const ConfigError&) {  // of keys in a file
    throw;
  } catch (const ValueError& error) {
    const CLI::Option* config = chosen(program).get_option_no_throw("--config");
    if (config && !config->empty()) throw;  // the setting may be of the file
    throw ValueError(with_flags(error.what(), chosen(program)));
  }
}

int run_and_report(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const WriteError& error) {
    return complain(kFailure, error.what());
  } catch (const ValueError& error) {
    return complain(kUsage, error.what());
  } catch (const FileError& error) {
    return complain(kBadData, error.what());
  } catch (const NonFinite& error) {
    return complain(kDiverged, error.what());
  } catch (const std::exception& error) {
    return complain(kFailure, reason_of(error));
  }
}

/// What is written must not reach a file that got the number of a closed output, and a file that
/// grows too large must not end the program by a signal: the write that fails is where it is dealt
/// with.
void prepare_process() {
  int opened = -1;  // the lowest number that is free; what is only read refuses to be written
  while ((opened = ::open("/dev/null", O_RDONLY)) >= 0 && opened <= STDERR_FILENO) {
  }
  if (opened > STDERR_FILENO) ::close(opened);
  std::signal(SIGXFSZ, SIG_IGN);
}

}  // namespace

int run_program(int argc, char** argv) {
  prepare_process();
  set_command_name(argv[0]);
  return run_and_report(argc, argv);
}

}  // namespace heed::cli
