#pragma once

#include <heed/data/option.h>
#include <heed/data/task.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// The training that a task is known to work with: defaults of the command line's flags.
struct Recipe {
  std::int64_t layers = 2;
  std::int64_t heads = 2;
  std::int64_t d_model = 32;
  std::int64_t d_ff = 0;  ///< 0: 4 d_model
  std::int64_t context = 32;
  double dropout = 0;
  std::int64_t batch = 32;
  std::int64_t steps = 1000;
  double lr = 1e-3;
  double min_lr = 0;  ///< where the schedule ends
  std::int64_t warmup = 0;
  std::string schedule = "constant";  ///< constant, linear or cosine
  double weight_decay = 0;
  double beta2 = 0.999;
  double clip = 1;
  std::int64_t eval_every = 100;
};

/// A task as it is listed, described and made.
struct TaskInfo {
  std::string name = {};         ///< as typed: heed train NAME
  std::string summary = {};      ///< one line
  std::string description = {};  ///< one screen: a row, what is asked, what a head should find
  std::string citation = {};
  bool takes_file = false;
  /// A row is a piece of something that goes on, and not a question with its answer.
  bool open_ended = false;
  std::string end = {};  ///< after this text an answer has ended; empty if it fills the context
  Recipe recipe = {};
  std::vector<TaskOption> options = {};  ///< of its own
  std::function<std::unique_ptr<Task>(const TaskOptions&)> make = {};
};

/// Every known task: heed's own, and then those registered, in order.
const std::deque<TaskInfo>& tasks();

/// Throws ValueError with a suggestion if there is none of this name.
const TaskInfo& find_task(std::string_view name);

/// The task's option of this name. Throws ValueError with a suggestion if it has none.
const TaskOption& find_option(const TaskInfo& info, std::string_view name);

/// Makes a task known by its name. Not to be called while another thread looks one up. Throws
/// ValueError if the name is empty or taken, or if there is nothing to make it with.
void register_task(TaskInfo info);

/// The named task. Throws ValueError if it is unknown, if an option is not its own or out of its
/// range, or if a file is missing from the options or has no place there; FileError if the file
/// cannot serve.
std::unique_ptr<Task> make_task(std::string_view name, const TaskOptions& options = {});

}  // namespace heed
