#include <heed/autograd/error.h>
#include <heed/train/checkpoint.h>
#include <heed/train/cli/saved_run.h>

#include <charconv>

namespace heed::cli {
namespace {

constexpr const char* kConfig = "heed.config";
constexpr const char* kTokenizer = "heed.tokenizer";
constexpr const char* kStep = "heed.step";

std::filesystem::path checkpoint_of(const std::filesystem::path& path) {
  if (std::filesystem::is_regular_file(path)) return path;
  const RunDirectory run = RunDirectory::open(path);
  if (!std::filesystem::exists(run.last_checkpoint()))
    throw FileError(text("the run ", run.path().string(), " has no checkpoint"));
  return run.last_checkpoint();
}

}  // namespace

void save_run(const std::filesystem::path& path, const Transformer& model, const Settings& settings,
              const Tokenizer& tokenizer, std::int64_t step) {
  save_checkpoint(path, named_parameters(model),
                  {{kConfig, to_config(settings)},
                   {kTokenizer, tokenizer.save()},
                   {kStep, std::to_string(step)}});
}

SavedRun load_run(const std::filesystem::path& path) {
  const std::string checkpoint = checkpoint_of(path).string();
  const SafeTensors file = read_safetensors(checkpoint);
  const auto metadata = [&](const char* key) -> const std::string& {
    const auto found = file.metadata.find(key);
    if (found == file.metadata.end())
      throw FileError(text(checkpoint, " is not a checkpoint of heed train: it has no ", key));
    return found->second;
  };
  try {
    const std::string& config = metadata(kConfig);
    Settings settings = settings_of(task_in_config(config, kConfig));
    apply_config(settings, config, kConfig);
    std::unique_ptr<Tokenizer> tokenizer = load_tokenizer(metadata(kTokenizer));
    Rng rng(0);
    Transformer model(model_config(settings, tokenizer->size()), rng);
    copy_parameters(file.tensors, named_parameters(model), checkpoint);
    std::int64_t step = 0;
    const std::string& steps = metadata(kStep);
    std::from_chars(steps.data(), steps.data() + steps.size(), step);
    return {checkpoint, std::move(settings), std::move(tokenizer), std::move(model), step};
  } catch (const ValueError& error) {  // what it says of itself is no model
    throw FileError(text(checkpoint, ": ", error.what()));
  }
}

}  // namespace heed::cli
