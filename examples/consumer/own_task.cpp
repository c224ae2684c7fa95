// A task of one's own, and a model that learns it.
#include <heed/data/data.h>
#include <heed/layers/layers.h>
#include <heed/train/train.h>

#include <algorithm>
#include <cstdio>

using namespace heed;

// Which of four letters comes more often than any other? "abacab=" asks for a.
class Majority : public DrawnTask {
 public:
  Majority() { hold_out(200, Rng(1).stream("majority held out")); }
  int64_t context() const override { return 8; }
  const Tokenizer& tokenizer() const override { return letters_; }

 private:
  Row draw(Rng& rng) const override {
    while (true) {
      std::vector<int64_t> ids, counts(4);
      for (int i = 0; i < 7; ++i) ids.push_back(rng.integer(4));
      for (const int64_t id : ids) ++counts[static_cast<size_t>(id)];
      const auto most = std::ranges::max_element(counts);
      if (std::ranges::count(counts, *most) > 1) continue;  // two letters come as often
      ids.insert(ids.end(), {4, most - counts.begin()});
      return next_token_row(ids, 7);  // only what follows = is asked for
    }
  }
  CharacterTokenizer letters_{"abcd="};
};

int main() {
  const Majority task;
  Rng rng(1);
  const Transformer model({.vocabulary = task.vocabulary(), .context = task.context()}, rng);
  AdamW optimizer(parameters(model), {.lr = 3e-3});
  Trainer trainer(trainable(model), task, optimizer, {.steps = 300, .schedule = {.lr = 3e-3}}, rng);
  const auto found = trainer.run();
  std::printf("right in %.1f %% of %lld rows it has not seen\n", 100 * found->accuracy,
              static_cast<long long>(found->rows));
  return found->accuracy > 0.9 ? 0 : 1;
}
