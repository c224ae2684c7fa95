// heed export and heed import: a model's weights to PyTorch and back.
#include <heed/autograd/error.h>
#include <heed/autograd/grad_mode.h>
#include <heed/data/option.h>
#include <heed/train/atomic_file.h>
#include <heed/train/cli/commands.h>
#include <heed/train/cli/config_file.h>
#include <heed/train/cli/output.h>
#include <heed/train/cli/pytorch_script.h>
#include <heed/train/cli/saved_run.h>
#include <heed/train/cli/threads.h>
#include <heed/train/metrics.h>
#include <heed/train/safetensors.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

namespace heed::cli {
namespace {

namespace fs = std::filesystem;

struct ExchangeArguments {
  std::string from, to = "pytorch", out, like;
  bool json = false;
};

/// What the model is made of, as JSON: the settings of the model, and its vocabulary.
std::string model_json(const SavedRun& run) {
  std::string json =
      fmt::format("{{\"vocabulary\": {}, \"eps\": {}", run.tokenizer->size(), run.model.config.eps);
  for (const Setting& setting : all_settings())
    if (setting.group == "Model")
      json += fmt::format(
          ", \"{}\": {}", setting.name,
          setting.quoted ? toml_string(setting.get(run.settings)) : setting.get(run.settings));
  return json + "}";
}

/// Tokens to compare on, and what the model makes of them.
Parameters probe(const SavedRun& run) {
  constexpr std::int64_t kRows = 4, kMostTokens = 64;
  const NoGrad quiet;
  Rng rng(1);
  const Shape shape{kRows, std::min(run.settings.context, kMostTokens)};
  std::vector<std::int64_t> ids(static_cast<std::size_t>(shape.numel()));
  for (std::int64_t& id : ids) id = rng.integer(run.tokenizer->size());
  const Tensor as_numbers =
      tensor({ids.begin(), ids.end()}, shape);  // the format has no use for f64
  return {{"tokens", as_numbers}, {"logits", run.model(tokens(std::move(ids), shape))}};
}

void write_text(const fs::path& path, const std::string& content) {
  AtomicFile file(path);
  file.write(content);
  file.commit();
}

int export_run(const ExchangeArguments& arguments) {
  Choice{"pytorch"}.read("--for", arguments.to);
  const SavedRun run = load_run(arguments.from);
  const fs::path folder = arguments.out;
  std::error_code error;
  if (!fs::create_directories(folder, error))
    throw WriteError(text("cannot make the folder ", folder.string(), ": ",
                          error ? error.message() : "it is there already; --out names another"));
  try {
    save_for_pytorch(folder / "model.safetensors", run);
    write_safetensors(folder / "probe.safetensors", probe(run));
    write_text(folder / "model.py", pytorch_script(model_json(run)));
  } catch (const FileError& failed) {
    fs::remove_all(folder, error);
    throw WriteError(failed.what());
  }
  if (arguments.json)
    out.raw(json_line({{"event", "result"}, {"run", run.checkpoint}, {"folder", folder.string()}}));
  else
    out.line(
        fmt::format("{} is now in {}. To see that PyTorch gives the same logits:\n"
                    "  python3 {}",
                    run.checkpoint, folder.string(), shell_word((folder / "model.py").string())));
  return kOk;
}

int import_run(const ExchangeArguments& arguments) {
  const SavedRun run = load_from_pytorch(arguments.from, arguments.like);
  std::string made;
  try {
    made = create_run(arguments.out, run.model, run.settings, *run.tokenizer, run.step)
               .path()
               .string();
  } catch (const FileError& failed) {
    throw WriteError(failed.what());
  }
  if (arguments.json) {
    out.raw(json_line({{"event", "result"}, {"file", arguments.from}, {"run", made}}));
  } else {
    out.line(fmt::format("{} is now the run {}. Next:", arguments.from, made));
    out.command("eval " + shell_word(made));
  }
  return kOk;
}

template <class Command>
void set_action(CLI::App* command, Action& action, std::shared_ptr<ExchangeArguments> arguments,
                Command run) {
  command->add_flag("--json", arguments->json, "one JSON object");
  command->callback([&action, arguments, run] {
    action = [arguments, run] {
      use_threads({});
      return run(*arguments);
    };
  });
}

}  // namespace

void add_export(CLI::App& program, Action& action) {
  CLI::App* command = program.add_subcommand(
      "export", "the weights of a model for PyTorch, with a program that builds it there");
  const auto arguments = std::make_shared<ExchangeArguments>();
  arguments->out = "pytorch";
  command->add_option("run", arguments->from, "a run, a folder of runs (its newest), a checkpoint")
      ->type_name("RUN")
      ->required();
  command->add_option("--for", arguments->to, "whom it is for: pytorch [pytorch]")->type_name("X");
  command->add_option("--out", arguments->out, "the folder to make for it [pytorch]")
      ->type_name("FOLDER");
  set_action(command, action, arguments, export_run);
}

void add_import(CLI::App& program, Action& action) {
  CLI::App* command =
      program.add_subcommand("import", "make a run of the weights that come back from PyTorch");
  const auto arguments = std::make_shared<ExchangeArguments>();
  arguments->out = "runs";
  command->add_option("file", arguments->from, "safetensors with the names that export gives")
      ->type_name("FILE")
      ->required();
  command
      ->add_option("--like", arguments->like,
                   "the run of that model, for a file that does not say what it is of")
      ->type_name("RUN");
  command->add_option("--out", arguments->out, "the folder in which the run gets its own [runs]")
      ->type_name("FOLDER");
  set_action(command, action, arguments, import_run);
}

}  // namespace heed::cli
