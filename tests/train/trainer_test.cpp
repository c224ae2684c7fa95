#include <gmock/gmock.h>
#include <heed/autograd/autograd.h>
#include <heed/data/data.h>
#include <heed/layers/layers.h>
#include <heed/train/train.h>

#include <cmath>

#include "support.h"

namespace heed {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Six letters and the separator, three to copy.
std::unique_ptr<Task> small_copy() {
  return make_task("copy", {.context = 6, .chosen = {{"alphabet", "6"}}});
}

Transformer small_model(const Task& task) {
  Rng rng(7);
  return Transformer({.vocabulary = task.vocabulary(),
                      .context = task.context(),
                      .layers = 1,
                      .heads = 2,
                      .d_model = 8,
                      .dropout = .1},
                     rng);
}

/// Everything a training needs, made the same each time.
struct Fixture {
  std::unique_ptr<Task> task = small_copy();
  Transformer model = small_model(*task);
  Sgd optimizer{parameters(model), {.lr = .1}};

  Trainer trainer(TrainerOptions options, TrainerCallbacks callbacks = {}) {
    options.schedule.lr = .1;
    return Trainer(trainable(model), *task, optimizer, options, Rng(3), std::move(callbacks));
  }
  std::vector<double> values() const {
    std::vector<double> all;
    for (const NamedTensor& parameter : parameters(model))
      for (double value : parameter.value.to_vector()) all.push_back(value);
    return all;
  }
};

TEST(Trainer, CallsWhoListens) {
  Fixture f;
  std::vector<std::int64_t> steps, measured, evaluated;
  Trainer trainer =
      f.trainer({.steps = 7, .batch = 2, .eval_every = 3, .eval_rows = 10, .measure_every = 4},
                {.on_step =
                     [&](const StepReport& report) {
                       steps.push_back(report.step);
                       if (report.update_ratio) measured.push_back(report.step);
                       EXPECT_EQ(report.tokens, 12);
                       EXPECT_GT(report.seconds, 0);
                       EXPECT_EQ(report.lr, .1);
                       EXPECT_GT(report.grad_norm, 0);
                     },
                 .on_evaluate =
                     [&](std::int64_t step, const Evaluation& found) {
                       evaluated.push_back(step);
                       EXPECT_EQ(found.rows, step == 7 ? f.task->held_out_rows() : 10);
                     }});
  EXPECT_TRUE(trainer.run());
  EXPECT_THAT(steps, ElementsAre(1, 2, 3, 4, 5, 6, 7));
  EXPECT_THAT(measured, ElementsAre(1, 4, 7));
  EXPECT_THAT(evaluated, ElementsAre(3, 6, 7));
}

TEST(Trainer, IsTheLoopByHand) {
  Fixture by_trainer, by_hand;
  Trainer trainer = by_trainer.trainer({.batch = 4, .clip = .5});
  Rng data = Rng(3).stream("data"), dropout = Rng(3).stream("dropout");
  for (int i = 0; i < 3; ++i) {
    const StepReport report = trainer.step();
    const Batch batch = by_hand.task->sample(4, data);
    const Training scope(dropout);
    const Tensor loss = cross_entropy(by_hand.model(batch.inputs), batch.targets);
    by_hand.optimizer.zero_grad();
    backward(loss);
    EXPECT_EQ(report.loss, loss.item());
    EXPECT_EQ(report.grad_norm, clip_grad_norm(parameters(by_hand.model), .5));
    by_hand.optimizer.step();
    EXPECT_EQ(by_trainer.values(), by_hand.values());
  }
}

TEST(Trainer, FollowsItsSchedule) {
  Fixture f;
  Trainer trainer(
      trainable(f.model), *f.task, f.optimizer,
      {.batch = 1, .schedule = {.decay = Decay::linear, .lr = 1, .warmup = 1, .end = 3}}, Rng(1));
  std::vector<double> rates;
  for (int i = 0; i < 4; ++i) rates.push_back(trainer.step().lr);
  EXPECT_THAT(rates, ElementsAre(.5, 1, .5, 0));
  EXPECT_EQ(f.optimizer.lr(), 0);
}

TEST(Trainer, AccumulatesToTheOneLargeBatch) {
  Fixture small, large;
  small.model.dropout.p = large.model.dropout.p = 0;
  for (Transformer* model : {&small.model, &large.model}) {
    model->blocks[0].dropout.p = 0;
    model->blocks[0].attention.config.dropout = 0;
  }
  Trainer in_parts = small.trainer({.batch = 2, .accumulate = 4});
  Trainer at_once = large.trainer({.batch = 8});
  for (int i = 0; i < 3; ++i) {
    const StepReport a = in_parts.step(), b = at_once.step();
    EXPECT_NEAR(a.loss, b.loss, 1e-6);
    EXPECT_EQ(a.tokens, b.tokens);
    EXPECT_EQ(a.accuracy, b.accuracy);
  }
  const std::vector<double> a = small.values(), b = large.values();
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-6);
}

TEST(Trainer, EvaluatesTheAverageAndTrainsOn) {
  Fixture averaged, plain;
  std::vector<std::vector<double>> seen;
  Trainer trainer = averaged.trainer(
      {.steps = 4, .batch = 2, .ema = .5, .eval_every = 2},
      {.on_evaluate = [&](std::int64_t, const Evaluation&) { seen.push_back(averaged.values()); }});
  const std::optional<Evaluation> last = trainer.run();
  std::vector<double> sum(plain.values().size(), 0);
  Trainer other = plain.trainer({.batch = 2});
  double weights = 0;
  for (std::size_t step = 1; step <= 4; ++step) {
    other.step();
    const std::vector<double> now = plain.values();
    weights = .5 * weights + 1;
    for (std::size_t i = 0; i < now.size(); ++i) {
      sum[i] = .5 * sum[i] + now[i];
      if (step % 2 == 0) {
        ASSERT_NEAR(seen.at(step / 2 - 1)[i], sum[i] / weights, 1e-6);
      }
    }
  }
  EXPECT_EQ(averaged.values(), plain.values()) << "the average is kept beside what is trained";
  const Averaged scope(trainer.average());
  EXPECT_EQ(averaged.values(), seen.back());
  EXPECT_EQ(evaluate(trainable(averaged.model), *averaged.task, 1000).loss, last->loss);
  EXPECT_EQ(other.average(), nullptr);
  EXPECT_THROW(plain.trainer({.ema = 1}), ValueError);
}

TEST(Trainer, ReducesBeforeItClips) {
  Fixture f;
  const double before = f.trainer({.batch = 2}).step().grad_norm;
  Fixture g;
  const auto ten_times = [](const Parameters& all) {
    for (const NamedTensor& parameter : all) {
      Tensor gradient = parameter.value.grad();
      for (float& x : gradient.mutate<float>()) x *= 10;
    }
  };
  EXPECT_NEAR(g.trainer({.batch = 2}, {.reduce = ten_times}).step().grad_norm, 10 * before,
              1e-5 * before);
}

TEST(Trainer, MeasuresHowFarAStepGoes) {
  Fixture f;
  const std::vector<double> before = f.values();
  const double ratio = f.trainer({.batch = 2, .measure_every = 1}).step().update_ratio.value();
  double change = 0, length = 0;
  const std::vector<double> after = f.values();
  for (std::size_t i = 0; i < before.size(); ++i) {
    change += (after[i] - before[i]) * (after[i] - before[i]);
    length += before[i] * before[i];
  }
  EXPECT_NEAR(ratio, std::sqrt(change / length), 1e-9);
}

TEST(Trainer, StopsWhenAsked) {
  Fixture f;
  Trainer trainer = f.trainer({.steps = 100, .batch = 1}, {.stop = [&] { return true; }});
  EXPECT_FALSE(trainer.run());
  EXPECT_EQ(trainer.steps_done(), 1);
}

TEST(Trainer, NamesTheBadParameterAndLeavesTheGoodValues) {
  Fixture f;
  Trainer trainer = f.trainer({.batch = 2});
  trainer.step();
  f.model.blocks[0].mlp->up.weight.mutate<float>()[0] = std::numeric_limits<float>::infinity();
  const std::vector<double> before = f.values();
  const std::string message = message_of<NonFinite>([&] { trainer.step(); });
  EXPECT_THAT(message, HasSubstr("step 2: loss "));
  EXPECT_THAT(message, HasSubstr("the gradient of token_embedding.weight"));
  EXPECT_EQ(f.values(), before);
  EXPECT_EQ(trainer.steps_done(), 1);
}

TEST(Trainer, RefusesAnEvaluationThatIsNotFinite) {
  Fixture f;
  f.model.head->weight.mutate<float>()[0] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(message_of<NonFinite>([&] { f.trainer({.steps = 0}).run(); }), HasSubstr("held-out"));
}

TEST(Trainer, RefusesOptionsOutsideTheirRange) {
  Fixture f;
  EXPECT_THROW(f.trainer({.steps = -1}), ValueError);
  EXPECT_THROW(f.trainer({.batch = 0}), ValueError);
  EXPECT_THROW(f.trainer({.accumulate = 0}), ValueError);
  EXPECT_THROW(f.trainer({.clip = 0}), ValueError);
  EXPECT_THROW(f.trainer({.eval_every = -1}), ValueError);
  EXPECT_THROW(f.trainer({.eval_rows = 0}), ValueError);
  EXPECT_THROW(f.trainer({.measure_every = -1}), ValueError);
}

TEST(Trainer, LooksAtHeadsWithoutATrace) {
  Fixture watched, alone;
  Trainer a = watched.trainer({.batch = 2}), b = alone.trainer({.batch = 2});
  const Batch probe = watched.task->held_out(0, 4);
  for (int i = 0; i < 3; ++i) {
    a.step();
    b.step();
    EXPECT_EQ(look_at_heads(watched.model, probe).size(), 2u);
    evaluate(trainable(watched.model), *watched.task, 5);
  }
  EXPECT_EQ(watched.values(), alone.values());
}

// ---- evaluation

/// Says that what comes next is what stood three places before: the task, solved.
struct Solved {
  std::int64_t vocabulary;
  std::int64_t wrong_at = -1;  // but for this position

  Tensor operator()(const Tokens& ids, const Mask&) const {
    const std::int64_t length = ids.dim(1);
    std::vector<std::int64_t> next;
    for (std::int64_t i = 0; i < ids.numel(); ++i) {
      const std::int64_t t = i % length;
      const std::int64_t id = t >= 3 ? ids.data()[static_cast<std::size_t>(i - 3)] : 0;
      next.push_back(t == wrong_at ? (id + 1) % vocabulary : id);
    }
    return one_hot(tokens(next, ids.shape()), vocabulary) * 20.;
  }
  void visit(Visitor&) {}
};

TEST(Evaluate, CountsTargetsAndRows) {
  const std::unique_ptr<Task> task = small_copy();
  const std::int64_t all = task->held_out_rows();
  const Solved solved{task->vocabulary()}, nearly{task->vocabulary(), 4};
  const Evaluation best = evaluate(trainable(solved), *task, 1'000'000);
  EXPECT_EQ(best.rows, all);
  EXPECT_EQ(best.accuracy, 1);
  EXPECT_EQ(best.exact_match, 1);
  EXPECT_NEAR(best.loss, std::log1p(6 * std::exp(-20.)), 1e-6);
  EXPECT_TRUE(std::isnan(best.alignment)) << "there is no head";
  const Evaluation good = evaluate(trainable(nearly), *task, all);
  EXPECT_NEAR(good.accuracy, 2 / 3., 1e-12);
  EXPECT_EQ(good.exact_match, 0);
  EXPECT_NEAR(good.loss, 20 / 3., 1e-5);
}

TEST(Tally, ARowWithoutTargetsIsNeitherExactNorNot) {
  Tally tally;
  tally.add(zeros({2, 1, 3}), tokens({kIgnore, 0}, {2, 1}));
  EXPECT_EQ(tally.exact_match(), 1);
  EXPECT_EQ(tally.accuracy(), 1);
}

TEST(Evaluate, CountsNoRowTwice) {
  class Counting : public Task {
   public:
    std::int64_t context() const override { return inner_->context(); }
    const Tokenizer& tokenizer() const override { return inner_->tokenizer(); }
    Batch sample(std::int64_t rows, Rng& rng) const override { return inner_->sample(rows, rng); }
    std::int64_t held_out_rows() const override { return 258; }
    Batch held_out(std::int64_t first, std::int64_t rows) const override {
      EXPECT_GE(first, next);
      next = first + rows;
      return inner_->held_out(0, rows);
    }
    mutable std::int64_t next = 0;

   private:
    std::unique_ptr<Task> inner_ = small_copy();
  } task;
  const Solved solved{task.vocabulary()};
  for (std::int64_t rows : {1, 64, 65, 128, 191, 192, 193, 255, 256, 257, 258, 1000}) {
    task.next = 0;
    EXPECT_EQ(evaluate(trainable(solved), task, rows).rows, std::min<std::int64_t>(rows, 258));
    EXPECT_LE(task.next, 258);
  }
}

TEST(Evaluate, SpreadsFewRowsOverAll) {
  class Spread : public Task {
   public:
    std::int64_t context() const override { return inner_->context(); }
    const Tokenizer& tokenizer() const override { return inner_->tokenizer(); }
    Batch sample(std::int64_t rows, Rng& rng) const override { return inner_->sample(rows, rng); }
    std::int64_t held_out_rows() const override { return 1'000; }
    Batch held_out(std::int64_t first, std::int64_t rows) const override {
      asked.emplace_back(first, rows);
      return inner_->held_out(0, rows);
    }
    mutable std::vector<std::pair<std::int64_t, std::int64_t>> asked;

   private:
    std::unique_ptr<Task> inner_ = small_copy();
  } task;
  const Solved solved{task.vocabulary()};
  EXPECT_EQ(evaluate(trainable(solved), task, 100).rows, 100);
  EXPECT_THAT(task.asked, ElementsAre(std::pair(0, 50), std::pair(500, 50)));
  task.asked.clear();
  evaluate(trainable(solved), task, 1'000);
  std::int64_t next = 0;
  for (const auto& [first, rows] : task.asked) {
    EXPECT_EQ(first, next);
    next += rows;
  }
  EXPECT_EQ(next, 1'000) << "each row once";
  EXPECT_THROW(evaluate(trainable(solved), task, 0), ValueError);
}

TEST(Evaluate, AddsUpTheFiguresOfAllBatches) {
  class Numbered : public Task {
   public:
    std::int64_t context() const override { return inner_->context(); }
    const Tokenizer& tokenizer() const override { return inner_->tokenizer(); }
    Batch sample(std::int64_t rows, Rng& rng) const override { return inner_->sample(rows, rng); }
    std::int64_t held_out_rows() const override { return 200; }
    Batch held_out(std::int64_t first, std::int64_t rows) const override {
      sum_ = static_cast<double>(rows * (2 * first + rows - 1)) / 2;
      return inner_->held_out(0, rows);
    }
    std::vector<Figure> figures(const Batch& batch, const Answers&) const override {
      return {{.name = "number", .sum = sum_, .count = double(batch.inputs.dim(0))}};
    }

   private:
    mutable double sum_ = 0;  // of the numbers of the rows that were asked for last
    std::unique_ptr<Task> inner_ = small_copy();
  } task;
  const Solved solved{task.vocabulary()};
  const Evaluation found = evaluate(trainable(solved), task, 200);
  ASSERT_EQ(found.figures.size(), 1u);
  EXPECT_EQ(found.figures[0].count, 200);
  EXPECT_EQ(found.figures[0].value(), 99.5) << "the mean of 0 to 199";
}

TEST(Evaluate, MeasuresTheBestHead) {
  const std::unique_ptr<Task> task = small_copy();
  const Transformer model = small_model(*task);
  const Batch batch = task->held_out(0, 64);
  const std::vector<Head> heads = look_at_heads(model, batch, alignment_cells(*task, batch));
  ASSERT_EQ(heads.size(), 2u);
  const double best = std::max(heads[0].metrics.alignment, heads[1].metrics.alignment);
  EXPECT_EQ(evaluate(trainable(model), *task, 64).alignment, best);
  EXPECT_EQ(best_alignment(heads), best);
  EXPECT_TRUE(std::isnan(best_alignment({})));
}

// ---- heads

TEST(Heads, AreThoseOfEveryLayer) {
  const std::unique_ptr<Task> task = small_copy();
  Rng rng(1);
  const Transformer model({.vocabulary = 7, .context = 6, .layers = 2, .heads = 2, .d_model = 4},
                          rng);
  const Batch batch = task->held_out(0, 3);
  const std::vector<Head> heads = look_at_heads(model, batch);
  ASSERT_EQ(heads.size(), 4u);
  EXPECT_EQ(heads[2].layer, "blocks.1.attention");
  EXPECT_EQ(heads[3].head, 1);

  const Recorder recorder(model);
  model(batch.inputs);
  const Tensor all = recorder.at("blocks.1.attention.weights");
  EXPECT_EQ(heads[3].weights.to_vector(),
            reshape(slice(slice(all, 0, 0, 1), 1, 1, 2), {6, 6}).to_vector());
  const std::vector<HeadMap> maps = maps_of(heads);
  EXPECT_EQ(maps[3].title, "L1 H1");
}

TEST(Heads, AreListedInATableThatFits) {
  std::vector<Head> heads(2);
  heads[0].layer = heads[1].layer = "a";
  heads[1].head = 1;
  heads[0].metrics.alignment = .876;
  heads[1].metrics.alignment = std::nan("");
  heads[1].metrics.entropy = 12.345;
  const Lines lines = head_table(heads, 29);
  EXPECT_THAT(lines, ElementsAre("layer head  aligned  entropy",  //
                                 "    0    0     0.88     0.00",  //
                                 "    0    1        -    12.35"));
  EXPECT_EQ(head_table(heads, 28)[0], lines[0]);
  EXPECT_EQ(head_table(heads, 27)[0], "layer head  aligned");
  EXPECT_EQ(head_table(heads, 5)[0], "layer");
  EXPECT_EQ(head_table(heads, 0)[0], "");
}

}  // namespace
}  // namespace heed
