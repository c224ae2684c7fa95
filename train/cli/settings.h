#pragma once

#include <heed/data/registry.h>
#include <heed/layers/transformer.h>
#include <heed/train/schedule.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace heed::cli {

/// All that decides the bits of a training.
struct Settings : Recipe {
  std::string task = {};
  std::string file = {};         ///< the text, for a task that takes one
  std::string fingerprint = {};  ///< of the file's bytes; empty in a checkpoint of old
  std::int64_t accumulate = 1;
  std::int64_t overfit = 0;  ///< how many batches to learn by heart; 0 for those of the task
  std::int64_t seed = 1;
  std::map<std::string, std::string, std::less<>> options = {};  ///< of the task, all of them
};

/// One of them, as it is written: --lr 0.003 on the command line, lr = 0.003 in a config file.
struct Setting {
  std::string name;   ///< d-model
  std::string group;  ///< its heading in --help
  std::string help;   ///< what it is
  std::string range;  ///< what it may be
  bool quoted;        ///< a string in a config file
  std::function<std::string(const Settings&)> get;
  /// Throws ValueError, naming setting, value and range, if the text is no such value.
  std::function<void(Settings&, std::string_view)> set;
};

/// Length and hash of a file's bytes: files of one content have one, whatever they are called.
std::string fingerprint_of(std::string_view bytes);

/// All of them but task, file and the task's own options, in the order in which they are listed.
std::span<const Setting> all_settings();

/// Sets one of them or of the options of the task. Throws ValueError for a name (with a suggestion)
/// or a value that is none.
void set(Settings& settings, std::string_view name, std::string_view value);

/// What `scale` stands for; nothing for 1/sqrt(d_head). Throws ValueError as Setting::set does.
std::optional<double> scale_named(std::string_view written);
std::string scale_range();

/// A sentence for the name of an option, --pairs or pairs, that this task has not, but others have;
/// empty for any other name.
std::string belongs_elsewhere(std::string_view written, std::string_view task);

/// The defaults of a task. Throws ValueError, with a suggestion, if there is no such task.
Settings settings_of(std::string_view task);

/// As a config file: reading it gives the same settings, to the bit.
std::string to_config(const Settings& settings);

/// The task that a config file names; empty if it names none. Throws as apply_config does.
std::string task_in_config(std::string_view config, std::string_view origin);

/// Sets what a config file sets; its [build] section is for people. Throws ConfigError, naming
/// origin and line, if it is no such file, or for a key (with a suggestion) or value that is none.
void apply_config(Settings& settings, std::string_view config, std::string_view origin);

/// Settings must also go together. Throws ValueError naming what does not.
void validate(const Settings& settings);

/// What the task is to be made with, from this file unless it is empty.
TaskOptions task_options(const Settings& settings, const std::string& file = "");

TransformerConfig model_config(const Settings& settings, std::int64_t vocabulary);
Schedule schedule_of(const Settings& settings);

}  // namespace heed::cli
