#include <heed/autograd/error.h>
#include <heed/data/numbers.h>
#include <heed/train/atomic_file.h>
#include <heed/train/checkpoint.h>
#include <heed/train/cli/build_info.h>
#include <heed/train/cli/saved_run.h>
#include <heed/train/pytorch.h>

#include <functional>
#include <system_error>
#include <utility>

namespace heed::cli {
namespace {

constexpr const char* kConfigKey = "heed.config";
constexpr const char* kTokenizerKey = "heed.tokenizer";
constexpr const char* kStepKey = "heed.step";
constexpr const char* kFileKey = "heed.file";  // its fingerprint, if there is one

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

Metadata metadata_of(const Settings& settings, const Tokenizer& tokenizer, std::int64_t step) {
  Metadata metadata{{kConfigKey, to_config(settings)},
                    {kTokenizerKey, tokenizer.save()},
                    {kStepKey, std::to_string(step)}};
  if (!settings.fingerprint.empty()) metadata[kFileKey] = settings.fingerprint;
  return metadata;
}

using Weights = std::function<void(const Transformer&)>;

/// The run of which this is the metadata; `load` gives its model the weights.
SavedRun restored(const std::string& checkpoint, const Metadata& metadata,
                  const Parameters& tensors, const Weights& load) {
  const auto said = [&](const char* key) -> const std::string& {
    const auto found = metadata.find(key);
    if (found == metadata.end())
      throw FileError(text(checkpoint, " is not a checkpoint of heed train: it has no ", key));
    return found->second;
  };
  try {
    const std::string& config = said(kConfigKey);
    Settings settings = settings_of(task_in_config(config, kConfigKey));
    apply_config(settings, config, kConfigKey);
    if (metadata.contains(kFileKey)) settings.fingerprint = said(kFileKey);
    std::unique_ptr<Tokenizer> tokenizer = load_tokenizer(said(kTokenizerKey));
    const std::int64_t step = Whole{}.read(kStepKey, said(kStepKey));
    const TransformerConfig config_of_model = model_config(settings, tokenizer->size());
    check_size(config_of_model, tensors, checkpoint);
    Rng rng(0);
    Transformer model(config_of_model, rng);
    load(model);
    return {checkpoint, std::move(settings), std::move(tokenizer), std::move(model), step};
  } catch (const ValueError& error) {  // what it says of itself is no model
    throw FileError(text(checkpoint, ": ", error.what()));
  }
}

}  // namespace

void save_run(const std::filesystem::path& path, const Transformer& model, const Settings& settings,
              const Tokenizer& tokenizer, std::int64_t step) {
  save_checkpoint(path, named_parameters(model), metadata_of(settings, tokenizer, step));
}

RunDirectory create_run(const std::filesystem::path& folder, const Transformer& model,
                        const Settings& settings, const Tokenizer& tokenizer, std::int64_t step) {
  RunDirectory run = RunDirectory::create(folder, settings.task);
  try {
    AtomicFile config(run.config());
    config.write(to_config(settings) + "\n" + build_section());
    config.commit();
    save_run(run.last_checkpoint(), model, settings, tokenizer, step);
    return run;
  } catch (...) {
    std::error_code ignored;
    std::filesystem::remove_all(run.path(), ignored);
    throw;
  }
}

SavedRun load_run(const std::filesystem::path& path) {
  const std::string checkpoint = checkpoint_of(path).string();
  const SafeTensors file = read_safetensors(checkpoint);
  return restored(checkpoint, file.metadata, file.tensors, [&](const Transformer& model) {
    copy_parameters(file.tensors, named_parameters(model), checkpoint);
  });
}

void save_for_pytorch(const std::filesystem::path& path, const SavedRun& run) {
  Metadata metadata = metadata_of(run.settings, *run.tokenizer, run.step);
  metadata["heed.linear"] = "out,in";
  write_safetensors(path, to_pytorch(parameters(run.model)), metadata);
}

SavedRun load_from_pytorch(const std::filesystem::path& path, const std::string& like) {
  SafeTensors file = read_safetensors(path);
  if (!like.empty() && !file.metadata.contains(kConfigKey))
    file.metadata = read_safetensors(checkpoint_of(like)).metadata;
  return restored(path.string(), file.metadata, file.tensors, [&](const Transformer& model) {
    from_pytorch(file.tensors, parameters(model), model.config.positions == Positions::rotary,
                 path.string());
  });
}

}  // namespace heed::cli
