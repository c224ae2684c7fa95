#pragma once

#include <heed/data/text/tokenizer.h>
#include <heed/layers/transformer.h>
#include <heed/train/cli/settings.h>
#include <heed/train/run_directory.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

namespace heed::cli {

/// Writes a checkpoint that needs nothing beside it: weights, settings, tokenizer.
void save_run(const std::filesystem::path& path, const Transformer& model, const Settings& settings,
              const Tokenizer& tokenizer, std::int64_t step);

/// A new run in `folder`, with all that it needs to be evaluated and run again, or nothing
/// at all. Throws FileError if it cannot be written.
RunDirectory create_run(const std::filesystem::path& folder, const Transformer& model,
                        const Settings& settings, const Tokenizer& tokenizer, std::int64_t step);

/// What a checkpoint gives back.
struct SavedRun {
  std::string checkpoint;  ///< its path
  Settings settings;
  std::unique_ptr<Tokenizer> tokenizer;
  Transformer model;
  std::int64_t step = 0;
};

/// The last checkpoint of a run, of the newest run in a folder of runs, or a checkpoint itself.
/// Throws FileError if there is none, or if it is damaged or not one of heed's.
SavedRun load_run(const std::filesystem::path& path);

/// Writes the weights under PyTorch's names (see to_pytorch), with all that makes them a run.
void save_for_pytorch(const std::filesystem::path& path, const SavedRun& run);
/// The run that a file of weights under PyTorch's names is: what it says of itself, or else (it may
/// come from a program that knows nothing of heed) what the run at `like` is, with these weights.
/// Throws FileError as load_run does, and as from_pytorch does.
SavedRun load_from_pytorch(const std::filesystem::path& path, const std::string& like);

}  // namespace heed::cli
