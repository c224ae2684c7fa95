// What is a head for? An attention-only model of two layers learns to go on with a sequence that
// comes a second time. Its induction heads look at what followed the last time, and need to know,
// at each token, which token came before: a head of the first layer tells them. Silence that one.
// After Olsson et al., "In-context Learning and Induction Heads", arXiv:2209.11895.
//
//   ablation [STEPS]     trains on `induction` as its recipe says. Exit code 0: the loss is higher
//                        without that head. 1: it is not. 2: an error.
#include <heed/autograd/autograd.h>
#include <heed/data/data.h>
#include <heed/layers/layers.h>
#include <heed/train/train.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

using namespace heed;

namespace {

double loss_on(const Transformer& model, const Batch& batch) {
  const NoGrad quiet;
  return cross_entropy(model(batch.inputs), batch.targets).item();
}

/// The loss when one head adds nothing.
double loss_without(const Transformer& model, const Head& head, const Batch& batch) {
  Recorder recorder(model);
  recorder.replace(head.layer + ".weights", silence_head(head.head));
  return loss_on(model, batch);
}

void train(const Transformer& model, const Task& task, const Recipe& recipe, std::int64_t steps) {
  AdamW optimizer(parameters(model),
                  {.lr = recipe.lr, .beta2 = recipe.beta2, .weight_decay = recipe.weight_decay});
  Trainer trainer(trainable(model), task, optimizer,
                  {.steps = steps,
                   .batch = recipe.batch,
                   .schedule = {.lr = recipe.lr, .warmup = recipe.warmup},
                   .clip = recipe.clip},
                  Rng(1), {.on_step = [](const StepReport& report) {
                    if (report.step % 250 == 0)
                      std::printf("step %lld  loss %.3f\n", static_cast<long long>(report.step),
                                  report.loss);
                  }});
  trainer.run();
}

/// Trains, silences each head in turn, and tells what is lost. Returns whether the loss is higher
/// without the head of the first layer that looks most at the previous token.
bool silenced_is_worse(const Task& task, const Recipe& recipe, std::int64_t steps) {
  Rng rng(1);
  const Transformer model({.vocabulary = task.vocabulary(),
                           .context = task.context(),
                           .layers = recipe.layers,
                           .heads = recipe.heads,
                           .d_model = recipe.d_model,
                           .positions = named("positions", recipe.positions, kPositions),
                           .activation = named("activation", recipe.activation, kActivations)},
                          rng);
  train(model, task, recipe, steps);

  const Batch batch = task.held_out(0, std::min<std::int64_t>(64, task.held_out_rows()));
  const double whole = loss_on(model, batch);
  std::vector<Head> heads = look_at_heads(model, batch);
  std::printf("\nloss on unseen rows %.3f; without one head:\n%-24s previous  induction    loss\n",
              whole, "head");
  for (const Head& head : heads)
    std::printf("%-20s %3lld %9.2f %10.2f %7.3f\n", head.layer.c_str(),
                static_cast<long long>(head.head), head.metrics.previous_token,
                head.metrics.induction, loss_without(model, head, batch));

  std::erase_if(heads, [first = heads.front().layer](const Head& h) { return h.layer != first; });
  const Head& previous = *std::ranges::max_element(
      heads, {}, [](const Head& head) { return head.metrics.previous_token; });
  const double without = loss_without(model, previous, batch);
  std::printf(
      "\nHead %lld of %s looks at the previous token with weight %.2f. Silenced, the loss "
      "goes from %.3f to %.3f.\n",
      static_cast<long long>(previous.head), previous.layer.c_str(),
      previous.metrics.previous_token, whole, without);
  return without > whole;
}

}  // namespace

int main(int argc, char** argv) try {
  const Recipe recipe = find_task("induction").recipe;
  const std::int64_t steps = argc > 1 ? Whole{1}.read("STEPS", argv[1]) : recipe.steps;
  return silenced_is_worse(*make_task("induction"), recipe, steps) ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "ablation: %s\n", error.what());
  return 2;
}
