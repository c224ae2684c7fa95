#!/usr/bin/env python3
"""Values, gradients and second gradients of ops by PyTorch, in double precision.

ops.py            writes ops.json beside this script
ops.py --check    compares ops.json with what PyTorch says now; exits 77 where there is no PyTorch
"""
import json
import math
import pathlib
import sys

try:
    import torch
    import torch.nn.functional as F
except ImportError:
    print("no PyTorch for this Python")
    sys.exit(77)

FILE = pathlib.Path(__file__).with_name("ops.json")
INFINITY = float("inf")


def wave(shape, phase, low=-2.0, high=2.0):
    """Numbers between low and high, without any order or tie."""
    count = math.prod(shape)
    values = [(low + high) / 2 + (high - low) / 2 * math.sin(2.399963 * i + phase) for i in range(count)]
    return torch.tensor([round(v, 6) for v in values], dtype=torch.float64).reshape(shape)


def attention(q, k, v, hidden=None, causal=False, scale=None):
    scores = q @ k.transpose(-2, -1) * (1 / math.sqrt(q.shape[-1]) if scale is None else scale)
    if causal:
        queries, keys = scores.shape[-2:]
        later = torch.arange(keys)[None, :] > torch.arange(queries)[:, None] + keys - queries
        hidden = later if hidden is None else hidden | later
    if hidden is not None:
        scores = scores.masked_fill(hidden, -INFINITY)
    return torch.softmax(scores, -1) @ v


IDS = torch.tensor([[2, 0, 3], [3, 3, 1]])
TARGETS = torch.tensor([1, 4, -100, 0])
HIDDEN = torch.tensor([False, True, False, False, True])

M = (3, 4)
Q, K = (2, 2, 3, 4), (2, 2, 5, 4)
POSITIVE = dict(low=0.2, high=3.0)
PROBABILITY = dict(low=0.05, high=0.95)

# name: (function, [shape or (shape, range), ...])
OPS = {
    "exp": (torch.exp, [M]),
    "log": (torch.log, [(M, POSITIVE)]),
    "log1p": (torch.log1p, [(M, POSITIVE)]),
    "sqrt": (torch.sqrt, [(M, POSITIVE)]),
    "rsqrt": (torch.rsqrt, [(M, POSITIVE)]),
    "pow_number": (lambda x: x ** 3, [M]),
    "pow": (torch.pow, [(M, POSITIVE), (4,)]),
    "divide": (torch.div, [M, ((4,), POSITIVE)]),
    "maximum": (torch.maximum, [M, M]),
    "tanh": (torch.tanh, [M]),
    "sigmoid": (torch.sigmoid, [M]),
    "erf": (torch.erf, [M]),
    "leaky_relu": (lambda x: F.leaky_relu(x, 0.1), [M]),
    "elu": (lambda x: F.elu(x, 1.5), [M]),
    "gelu_erf": (F.gelu, [M]),
    "gelu_tanh": (lambda x: F.gelu(x, approximate="tanh"), [M]),
    "silu": (F.silu, [M]),
    "softplus": (F.softplus, [M]),
    "mean": (lambda x: x.mean((0, 2)), [(2, 3, 4)]),
    "var": (lambda x: x.var((0, 2)), [(2, 3, 4)]),
    "var_of_all": (lambda x: x.var(dim=(0, 1), unbiased=False), [M]),
    "amax": (lambda x: x.amax(1), [M]),
    "logsumexp": (lambda x: x.logsumexp((0, 2)), [(2, 3, 4)]),
    "norm": (lambda x: x.norm(dim=-1), [M]),
    "cumsum": (lambda x: x.cumsum(0), [M]),
    "softmax": (lambda x: x.softmax(1), [(2, 3, 4)]),
    "log_softmax": (lambda x: x.log_softmax(-1), [M]),
    "matmul": (torch.matmul, [(3, 1, 2, 4), (2, 4, 3)]),
    "linear": (lambda x, w, b: F.linear(x, w.T, b), [(2, 3, 4), (4, 5), (5,)]),
    "layer_norm": (lambda x, w, b: F.layer_norm(x, (4,), w, b, 1e-5), [(2, 3, 4), (4,), (4,)]),
    "embedding": (lambda table: F.embedding(IDS, table), [(4, 3)]),
    "gather": (lambda x: x.gather(1, IDS), [(2, 4)]),
    "cross_entropy": (lambda x: F.cross_entropy(x, TARGETS), [(4, 5)]),
    "cross_entropy_smoothed": (
        lambda x: F.cross_entropy(x, TARGETS, label_smoothing=0.1), [(4, 5)]),
    "cross_entropy_none": (lambda x: F.cross_entropy(x, TARGETS, reduction="none"), [(4, 5)]),
    "nll_loss": (lambda x: F.nll_loss(x, TARGETS), [(4, 5)]),
    "mse_loss": (F.mse_loss, [M, M]),
    "l1_loss": (F.l1_loss, [M, M]),
    "huber_loss": (lambda x, t: F.huber_loss(x, t, delta=0.75), [M, M]),
    "binary_cross_entropy_with_logits": (
        F.binary_cross_entropy_with_logits, [M, (M, PROBABILITY)]),
    "kl_div": (lambda p, t: F.kl_div(p, t, reduction="none").mean(), [M, (M, PROBABILITY)]),
    "attention": (attention, [Q, K, K]),
    "attention_causal": (lambda q, k, v: attention(q, k, v, causal=True), [Q, K, K]),
    "attention_hidden": (lambda q, k, v: attention(q, k, v, HIDDEN, scale=1.0), [Q, K, K]),
}


def listed(x):
    plain = torch.zeros(x.shape, dtype=torch.float64).add_(x.detach())  # some zeros have no storage
    return {"shape": list(x.shape), "values": plain.flatten().tolist()}


def derivative(y, seed, xs, **options):
    grads = torch.autograd.grad(y, xs, seed, allow_unused=True, **options)
    return [torch.zeros_like(x) if g is None else g for g, x in zip(grads, xs)]


def entry(name, f, specifications):
    inputs = []
    for i, specification in enumerate(specifications):
        ranged = isinstance(specification[-1], dict)
        shape, limits = specification if ranged else (specification, {})
        inputs.append(wave(shape, 1 + 2 * i, **limits).requires_grad_())
    y = f(*inputs)
    seed = wave(y.shape, 0.5)
    first = derivative(y, seed, inputs, create_graph=True)
    directions = [wave(x.shape, 7 + i) for i, x in enumerate(inputs)]
    total = sum((g * v).sum() for g, v in zip(first, directions))
    second = [torch.zeros_like(x) for x in inputs]
    if total.requires_grad:
        second = derivative(total, None, inputs)
    return {
        "name": name,
        "inputs": [listed(x) for x in inputs],
        "output": listed(y),
        "seed": listed(seed),
        "gradients": [listed(g) for g in first],
        "directions": [listed(v) for v in directions],
        "second": [listed(g) for g in second],
    }


def same(a, b):
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, float):
        return abs(a - b) <= 1e-12 * max(1, abs(a), abs(b))
    return a == b


entries = [entry(name, *op) for name, op in OPS.items()]
if "--check" in sys.argv:
    stored = json.loads(FILE.read_text())
    wrong = [e["name"] for e, s in zip(entries, stored) if not same(e, s)]
    if wrong or len(entries) != len(stored):
        sys.exit(f"ops.json is not what PyTorch {torch.__version__} says: {wrong}; run ops.py")
else:
    lines = ",\n".join(json.dumps(e) for e in entries)
    FILE.write_text(f"[\n{lines}\n]\n")
