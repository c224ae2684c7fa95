#include <heed/autograd/error.h>
#include <heed/data/numbers.h>
#include <heed/train/checkpoint.h>
#include <heed/train/cli/saved_run.h>

#include <system_error>

namespace heed::cli {
namespace {

constexpr const char* kConfig = "heed.config";
constexpr const char* kTokenizer = "heed.tokenizer";
constexpr const char* kStep = "heed.step";

std::filesystem::path checkpoint_of(const std::filesystem::path& path) {
  std::error_code unknown;
  if (std::filesystem::is_regular_file(path, unknown)) return path;
  const RunDirectory run = RunDirectory::open(path);
  if (!std::filesystem::exists(run.last_checkpoint(), unknown))
    throw FileError(text("the run ", run.path().string(), " has no checkpoint"));
  return run.last_checkpoint();
}

/// Refuses settings that would build a model far larger than what the file holds.
void check_size(const TransformerConfig& config, const Parameters& tensors,
                std::string_view checkpoint) {
  const auto d = static_cast<double>(config.d_model), v = static_cast<double>(config.vocabulary);
  const auto d_ff = static_cast<double>(mlp_width(config));
  const double shared =
      config.kv_heads ? static_cast<double>(config.kv_heads) / static_cast<double>(config.heads)
                      : 1;
  const int maps = config.activation == Activation::none     ? 0
                   : config.activation == Activation::swiglu ? 3
                                                             : 2;
  const bool table = config.positions == Positions::learned;
  const double matrices =
      (config.tied_embedding ? v : 2 * v) * d +
      (table ? static_cast<double>(config.context) * d : 0) +
      static_cast<double>(config.layers) * d * (2 * d + 2 * d * shared + maps * d_ff);
  std::int64_t held = 0;
  for (const NamedTensor& tensor : tensors) held += tensor.value.numel();
  if (matrices > static_cast<double>(held))
    throw FileError(text(checkpoint, " does not fit the model; its settings ask for at least ",
                         static_cast<std::int64_t>(matrices), " weights, but it holds ", held));
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
    const std::int64_t step = Whole{}.read(kStep, metadata(kStep));
    const TransformerConfig config_of_model = model_config(settings, tokenizer->size());
    check_size(config_of_model, file.tensors, checkpoint);
    Rng rng(0);
    Transformer model(config_of_model, rng);
    copy_parameters(file.tensors, named_parameters(model), checkpoint);
    return {checkpoint, std::move(settings), std::move(tokenizer), std::move(model), step};
  } catch (const ValueError& error) {  // what it says of itself is no model
    throw FileError(text(checkpoint, ": ", error.what()));
  }
}

}  // namespace heed::cli
