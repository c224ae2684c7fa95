"""Values, gradients and second gradients of ops, several shapes each."""
import math

import torch
import torch.nn.functional as F

from recipe import derivative, ids, numbers, wave

INFINITY = float("inf")


def later(queries, keys):
    """What a causal mask hides; the last query sees every key."""
    return torch.arange(keys)[None, :] > torch.arange(queries)[:, None] + keys - queries


def attention_weights(q, k, hidden=None, causal=False, scale=None):
    k = k.repeat_interleave(q.shape[1] // k.shape[1], 1)
    scores = q @ k.transpose(-2, -1) * (1 / math.sqrt(q.shape[-1]) if scale is None else scale)
    if causal:
        scores = scores.masked_fill(later(*scores.shape[-2:]), -INFINITY)
    if hidden is not None:
        scores = scores.masked_fill(hidden, -INFINITY)
    return torch.softmax(scores, -1)


def attention(q, k, v, **options):
    return attention_weights(q, k, **options) @ v.repeat_interleave(q.shape[1] // v.shape[1], 1)


def split_heads(x, heads):
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)


def merge_heads(x):
    return x.transpose(1, 2).flatten(2)


def multi_head(q, k, v, heads, kv_heads, **options):
    q, k, v = split_heads(q, heads), split_heads(k, kv_heads), split_heads(v, kv_heads)
    return merge_heads(attention(q, k, v, **options))


def rms_norm(x, w=None, eps=1e-6):
    y = x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps)
    return y if w is None else y * w


def rope(x, base=10000):
    half = x.shape[-1] // 2
    positions = 3 * torch.arange(x.shape[-2], dtype=torch.float64)
    angles = positions[:, None] * base ** (-torch.arange(half, dtype=torch.float64) / half)
    a, b = x[..., :half], x[..., half:]
    return torch.cat([a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos()], -1)


def layer_norm(x, w=None, b=None, eps=1e-5):
    return F.layer_norm(x, x.shape[-1:], w, b, eps)


def targets(x):
    """One target for each row; the third of them is ignored."""
    result = ids(x.shape[:-1], x.shape[-1])
    result.view(-1)[2:3] = -100
    return result


def cross_entropy(x, **options):
    return F.cross_entropy(x.flatten(0, -2), targets(x).flatten(), **options)


POSITIVE = dict(low=0.2, high=3.0)
PROBABILITY = dict(low=0.05, high=0.95)

ONE = [[(2, 3)], [(7,)], [()], [(1, 1)], [(2, 0, 3)]]
TWO = [[(2, 3), (2, 3)], [(3,), (2, 3)], [(2, 1, 1), (3, 1)], [(), (2, 2)], [(4, 0), (4, 1)]]
ALIKE = [[(2, 3), (2, 3)], [(1,), (1,)], [(2, 1, 3), (2, 1, 3)], [(), ()]]
MATRIX = [[(2, 3)], [(1, 5)], [(4, 1)]]
CUBE = [[(2, 3, 2)], [(1, 2, 1)], [(2, 1, 3)]]
ROWS = [[(2, 4)], [(3, 1)], [(2, 1, 5)], [(0, 3)]]
LOGITS = [[(4, 5)], [(1, 3)], [(2, 2, 3)], [(5, 1)]]
TABLE = [[(4, 3)], [(5, 1)], [(1, 2)]]
FOUR = [[(2, 2, 3, 4), (2, 2, 5, 4), (2, 2, 5, 3)], [(1, 1, 1, 1)] * 3, [(1, 4, 2, 3), (1, 2, 3, 3), (1, 2, 3, 3)]]


def ranged(cases, *limits):
    """The cases with limits for the inputs in order; None leaves an input as it is."""
    return [[(shape, l) if l else shape for shape, l in zip(case, limits)] for case in cases]


# name: (function, cases); a case lists a shape, or (shape, limits), for each input
OPS = {
    "add": (torch.add, TWO),
    "subtract": (torch.sub, TWO),
    "multiply": (torch.mul, TWO),
    "divide": (torch.div, ranged(TWO, None, POSITIVE)),
    "add_number": (lambda x: 1.5 + x, ONE),
    "divide_number": (lambda x: 2 / x, ranged(ONE, POSITIVE)),
    "neg": (torch.neg, ONE),
    "exp": (torch.exp, ONE),
    "log": (torch.log, ranged(ONE, POSITIVE)),
    "log1p": (torch.log1p, ranged(ONE, POSITIVE)),
    "sqrt": (torch.sqrt, ranged(ONE, POSITIVE)),
    "rsqrt": (torch.rsqrt, ranged(ONE, POSITIVE)),
    "square": (torch.square, ONE),
    "cube": (lambda x: x**3, ONE),
    "pow_of_fraction": (lambda x: x**-1.5, ranged(ONE, POSITIVE)),
    "pow": (torch.pow, ranged(TWO, POSITIVE, None)),
    "abs": (torch.abs, ONE),
    "sin": (torch.sin, ONE),
    "cos": (torch.cos, ONE),
    "tanh": (torch.tanh, ONE),
    "erf": (torch.erf, ONE),
    "sigmoid": (torch.sigmoid, ONE),
    "relu": (torch.relu, ONE),
    "leaky_relu": (lambda x: F.leaky_relu(x, 0.1), ONE),
    "elu": (lambda x: F.elu(x, 1.5), ONE),
    "gelu_erf": (F.gelu, ONE),
    "gelu_tanh": (lambda x: F.gelu(x, approximate="tanh"), ONE),
    "silu": (F.silu, ONE),
    "softplus": (F.softplus, ONE),
    "maximum": (torch.maximum, TWO),
    "minimum": (torch.minimum, TWO),
    "clamp": (lambda x: x.clamp(-1, 1.5), ONE),
    "where_less": (lambda a, b: torch.where(a < b, a, 3 * b), TWO),
    "masked_fill": (lambda x: x.masked_fill(x > 1, 7.0), ONE),
    "sum": (lambda x: x.sum((0, 2)), CUBE + [[(2, 0, 3)]]),
    "sum_of_all": (torch.sum, ONE),
    "mean": (lambda x: x.mean((0, 2)), CUBE),
    "mean_of_all": (lambda x: x.mean(), MATRIX),
    "var": (lambda x: x.var((0, 2)), [[(2, 3, 2)], [(2, 1, 3)], [(5, 1, 1)]]),
    "var_uncorrected": (lambda x: x.var(-1, unbiased=False, keepdim=True), [[(2, 3)], [(1, 7)]]),
    "amax": (lambda x: x.amax(1), CUBE),
    "amin": (lambda x: x.amin((0, -1), keepdim=True), CUBE),
    "max": (lambda x: x.max(1).values, CUBE),
    "logsumexp": (lambda x: x.logsumexp((0, 2)), CUBE),
    "norm": (lambda x: x.norm(dim=-1), CUBE),
    "norm_of_all": (lambda x: x.norm(), MATRIX),
    "cumsum": (lambda x: x.cumsum(0), MATRIX + [[(7,)], [(0, 2)]]),
    "sum_to": (lambda x: x.sum_to_size(2, 1), [[(3, 2, 4)], [(2, 1)], [(1, 2, 5)]]),
    "reshape": (lambda x: x.reshape(2, -1), [[(3, 4)], [(2,)], [(1, 2, 5)]]),
    "permute": (lambda x: x.permute(2, 0, 1), CUBE + [[(2, 0, 3)]]),
    "transpose": (lambda x: x.transpose(0, -1), MATRIX + CUBE),
    "squeeze": (lambda x: x.squeeze(1), [[(2, 1, 3)], [(1, 1)]]),
    "unsqueeze": (lambda x: x.unsqueeze(-1), [[(2, 3)], [()]]),
    "broadcast_to": (lambda x: torch.broadcast_to(x, (2, 2, 3)), [[(2, 3)], [(2, 1, 1)], [(1,)], [()]]),
    "slice": (lambda x: x[:, 1:6:2], [[(2, 7)], [(1, 2)], [(2, 1)]]),
    "slice_from_the_end": (lambda x: x[-3:-1], [[(7,)], [(2, 3)], [(3, 1, 2)]]),
    "concat": (lambda a, b: torch.cat([a, b, a], 1), [[(2, 1), (2, 3)], [(1, 2, 2), (1, 0, 2)]]),
    "stack": (lambda a, b: torch.stack([a, b], 1), ALIKE[:3]),
    "split": (lambda x: torch.split(x, [2, 1, 2], 1)[2] * torch.split(x, 2, 1)[0], [[(2, 5)], [(1, 5, 2)]]),
    "flip": (lambda x: x.flip(0), MATRIX + [[(7,)]]),
    "split_heads": (lambda x: split_heads(x, 2), [[(2, 3, 4)], [(1, 1, 2)]]),
    "merge_heads": (merge_heads, [[(2, 2, 3, 2)], [(1, 3, 1, 1)]]),
    "matmul": (torch.matmul, [
        [(3, 1, 2, 4), (2, 4, 3)], [(2, 3), (3, 4)], [(3,), (3,)], [(3,), (2, 3, 2)], [(2, 3, 1), (1,)],
        [(1, 1), (1, 1)], [(2, 7), (7, 1)], [(2, 0), (0, 3)], [(0, 2), (2, 3)]]),
    "matmul_transposed_a": (lambda a, b: a.mT @ b, [[(3, 2), (3, 4)], [(2, 1, 5), (1, 3)], [(1, 3, 2), (2, 3, 1)]]),
    "matmul_transposed_b": (lambda a, b: a @ b.mT, [[(3, 2), (4, 2)], [(2, 1, 5), (3, 5)], [(1, 3, 2), (2, 1, 2)]]),
    "matmul_transposed": (lambda a, b: a.mT @ b.mT, [[(3, 2), (4, 3)], [(2, 5, 1), (3, 5)]]),
    "linear": (lambda x, w, b: F.linear(x, w.T, b), [
        [(2, 3, 4), (4, 5), (5,)], [(4,), (4, 2), (2,)], [(7, 1), (1, 1), (1,)], [(0, 2), (2, 3), (3,)]]),
    "linear_without_bias": (lambda x, w: F.linear(x, w.T), [[(2, 3), (3, 5)], [(1, 1, 7), (7, 2)]]),
    "softmax": (lambda x: x.softmax(-1), ROWS),
    "softmax_of_columns": (lambda x: x.softmax(1), CUBE),
    "softmax_hidden": (lambda x: x.masked_fill(x > 1, -INFINITY).softmax(-1), [[(3, 4)], [(2, 2, 5)]]),
    "log_softmax": (lambda x: x.log_softmax(-1), ROWS),
    "log_softmax_of_columns": (lambda x: x.log_softmax(0), MATRIX),
    "layer_norm": (layer_norm, [
        [(2, 3, 4), (4,), (4,)], [(7,), (7,), (7,)], [(2, 1), (1,), (1,)], [(0, 3), (3,), (3,)]]),
    "layer_norm_alone": (lambda x: layer_norm(x, eps=0.1), [[(2, 5)], [(1, 2, 3)]]),
    "rms_norm": (rms_norm, [[(2, 3, 4), (4,)], [(7,), (7,)], [(2, 1), (1,)], [(0, 3), (3,)]]),
    "rms_norm_alone": (lambda x: rms_norm(x, eps=0.1), [[(2, 5)], [(1, 2, 3)]]),
    "embedding": (lambda table: F.embedding(ids((2, 3), len(table)), table), TABLE),
    "gather": (lambda x: x.gather(1, ids((len(x), 4), x.shape[1])), MATRIX),
    "one_hot": (lambda x: x @ F.one_hot(ids((3,), x.shape[-1]), x.shape[-1]).double().T, MATRIX),
    "cross_entropy": (cross_entropy, LOGITS),
    "cross_entropy_sum": (lambda x: cross_entropy(x, reduction="sum"), LOGITS),
    "cross_entropy_smoothed": (lambda x: cross_entropy(x, label_smoothing=0.1), LOGITS),
    "cross_entropy_none": (
        lambda x: cross_entropy(x, reduction="none", label_smoothing=0.2).reshape(x.shape[:-1]), LOGITS),
    "nll_loss": (lambda x: F.nll_loss(x.flatten(0, -2), targets(x).flatten()), LOGITS),
    "mse_loss": (F.mse_loss, ALIKE),
    "l1_loss": (F.l1_loss, ALIKE),
    "huber_loss": (lambda x, t: F.huber_loss(x, t, delta=0.75), ALIKE),
    "binary_cross_entropy_with_logits": (F.binary_cross_entropy_with_logits, ranged(ALIKE, None, PROBABILITY)),
    "kl_div": (lambda p, t: F.kl_div(p, t, reduction="none").mean(), ranged(ALIKE, None, PROBABILITY)),
    "rope": (rope, [[(3, 4)], [(1, 2)], [(2, 1, 5, 6)]]),
    "attention_weights": (attention_weights, [case[:2] for case in FOUR]),
    "attention": (attention, FOUR),
    "attention_causal": (lambda q, k, v: attention(q, k, v, causal=True), FOUR),
    "attention_hidden": (
        lambda q, k, v: attention(q, k, v, hidden=later(q.shape[2], k.shape[2]).flip(-1), scale=1.0), FOUR),
    "attention_of_channels": (
        lambda q, k, v: multi_head(q, k, v, 2, 1, causal=True, scale=0.3),
        [[(2, 3, 4), (2, 5, 2), (2, 5, 2)], [(1, 1, 2), (1, 1, 1), (1, 1, 1)]]),
}


def entry(name, f, specifications):
    inputs = []
    for i, specification in enumerate(specifications):
        ranged = len(specification) == 2 and isinstance(specification[1], dict)
        inputs.append(specification if ranged else (specification, {}))
    xs = [wave(shape, 1 + 2 * i, **limits).requires_grad_() for i, (shape, limits) in enumerate(inputs)]
    y = f(*xs)
    first = derivative(y, wave(y.shape, 0.5), xs, create_graph=True)
    total = sum((g * wave(x.shape, 7 + i)).sum() for i, (g, x) in enumerate(zip(first, xs)))
    second = derivative(total, None, xs) if total.requires_grad else [torch.zeros_like(x) for x in xs]
    return {
        "name": name,
        "inputs": [{"shape": list(shape), **limits} for shape, limits in inputs],
        "shape": list(y.shape),
        "output": numbers(y),
        "gradients": [numbers(g) for g in first],
        "second": [numbers(g) for g in second],
    }


def entries():
    return [entry(name, f, case) for name, (f, cases) in OPS.items() for case in cases]
