#pragma once

#include <heed/data/option.h>
#include <heed/data/task.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
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
  std::int64_t kv_heads = 0;          ///< 0: as many as heads
  std::string positions = "learned";  ///< learned, sinusoidal, rotary, alibi or none
  std::string norm = "pre";           ///< pre, post or none
  std::string norm_kind = "layer";    ///< layer or rms
  std::string activation = "gelu";    ///< of the MLP; none: blocks of attention alone
  std::string scale = "sqrt";         ///< of the scores: 1/sqrt(d_head), none, or a number
  std::string mask = "causal";        ///< causal or none
  bool tied = false;                  ///< the token embedding is also the head
  std::int64_t batch = 32;
  std::int64_t steps = 1000;
  std::string optimizer = "adamw";  ///< sgd, nesterov, adam, adamw, rmsprop, lion or muon
  double lr = 1e-3;
  double min_lr = 0;  ///< where the schedule ends
  std::int64_t warmup = 0;
  std::string schedule = "constant";  ///< constant, linear, cosine, wsd, step or noam
  std::int64_t period = 0;            ///< of wsd and step; 0 for a fifth of the steps
  double factor = 0.1;                ///< of step
  double weight_decay = 0;
  std::string decays = "matrices";  ///< what weight decay is for: matrices, weights (matrices that
                                    ///< are no embedding) or all
  std::string groups = {};          ///< rates of some parameters, as parse_groups reads them
  double momentum = 0.9;            ///< of sgd, nesterov and muon
  double beta1 = 0.9;               ///< of adam, adamw and lion
  double beta2 = 0.999;             ///< of adam, adamw and lion; rmsprop's only one
  double clip = 1;
  double ema = 0;  ///< how much an average of the weights keeps at each step; 0 for none
  std::int64_t eval_every = 100;
};

/// A task as it is listed, described and made.
struct TaskInfo {
  std::string name = {};         ///< as typed: heed train NAME
  std::string summary = {};      ///< one line
  std::string description = {};  ///< one screen: a row, what is asked, what a head should find
  std::string citation = {};
  bool takes_file = false;
  std::string example = {};  ///< what a file may hold, to show rows of at a context of 24
  /// A row is a piece of something that goes on, and not a question with its answer.
  bool open_ended = false;
  /// A target says something of the row so far, and is not what comes next in it.
  bool labels = false;
  std::string end = {};  ///< after this text an answer has ended; empty if it fills the context
  /// How many ids answer a prompt, where they do not fill the context and no text ends them.
  std::function<std::int64_t(std::span<const std::int64_t> prompt)> answer = {};
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

/// Makes a task known to `tasks`, `find_task` and `make_task`, in this program. Not to be called
/// while another thread looks one up. Throws ValueError if the name is empty or taken, if there is
/// nothing to make it with, or if an option has no name or one that is taken: by another option, or
/// by a flag or setting of heed's command line, such as steps.
void register_task(TaskInfo info);

/// The named task. Throws ValueError if it is unknown, if an option is not its own or out of its
/// range, or if a file is missing from the options or has no place there; FileError if the file
/// cannot serve.
std::unique_ptr<Task> make_task(std::string_view name, const TaskOptions& options = {});

}  // namespace heed
