// A layer, its value, and the derivative of that value, from outside heed.
#include <heed/autograd/autograd.h>
#include <heed/layers/layers.h>
#include <heed/train/train.h>

#include <cstdio>

int main() {
  heed::Rng rng(1);
  heed::Linear layer(3, 2, rng);
  heed::Tensor x = heed::tensor({1, 2, 3}, {1, 3});
  x.requires_grad_();
  const heed::Tensor y = heed::sum(layer(x));
  const heed::Tensor dx = heed::grad(y, x);

  std::printf("y = %g\n", y.item());
  for (const double slope : dx.to_vector()) std::printf("dy/dx = %g\n", slope);

  heed::AdamW optimizer(heed::parameters(layer), {.lr = 0.1});
  heed::backward(heed::sum(layer(x)));
  optimizer.step();
  std::printf("after one step, y = %g\n", heed::sum(layer(x)).item());
}
