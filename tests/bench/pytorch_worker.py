"""PyTorch's side of compare_pytorch.py: answers requests, one JSON object a line, until its input ends."""
import ctypes
import json
import math
import statistics
import struct
import sys
import time

import numpy
import torch
import torch.nn.functional as F


def mixed(x):
    """SplitMix64, as train/cli/bench_model.cpp has it."""
    with numpy.errstate(over="ignore"):
        x = x + numpy.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> numpy.uint64(30))) * numpy.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> numpy.uint64(27))) * numpy.uint64(0x94D049BB133111EB)
        return x ^ (x >> numpy.uint64(31))


def batch(model, n):
    """Inputs and targets of step `n`, the same ids as heed's."""
    vocabulary, time_, rows = (numpy.uint64(model[key]) for key in "VTB")
    draw = (numpy.uint64(n) * rows + numpy.arange(rows, dtype=numpy.uint64)) * (time_ + numpy.uint64(1))
    ids = [mixed(draw) % vocabulary]
    for _ in range(int(time_)):
        draw = draw + numpy.uint64(1)
        ids.append((numpy.uint64(5) * ids[-1] + mixed(draw) % numpy.uint64(4)) % vocabulary)
    table = torch.from_numpy(numpy.stack(ids, 1).astype(numpy.int64))
    return table[:, :-1].contiguous(), table[:, 1:].contiguous()


def read_safetensors(path):
    data = open(path, "rb").read()
    start = 8 + struct.unpack("<Q", data[:8])[0]
    tensors = {}
    for name, about in json.loads(data[8:start]).items():
        if name == "__metadata__":
            continue
        begin, end = about["data_offsets"]
        values = numpy.frombuffer(data[start + begin:start + end], dtype="<f4").reshape(about["shape"])
        tensors[name] = torch.from_numpy(values.copy())
    return tensors


def attend(q, k, v, hidden, additive):
    """Causal attention; q, k, v (B, H, T, D). `additive` lets the product add a mask of -inf, which saves a pass."""
    scale = 1 / math.sqrt(q.shape[-1])
    if additive:
        shape = q.shape
        q, k, v = (x.reshape(-1, *shape[2:]) for x in (q, k, v))
        scores = torch.baddbmm(hidden, q * scale, k.transpose(1, 2))
        return (F.softmax(scores, -1) @ v).view(shape)
    scores = ((q * scale) @ k.transpose(-2, -1)).masked_fill(hidden, -math.inf)
    return F.softmax(scores, -1) @ v


def causal_mask(length, additive):
    future = torch.ones(length, length, dtype=torch.bool).triu(1)
    return torch.zeros(length, length).masked_fill(future, -math.inf) if additive else future


class Gpt:
    """The model of `heed bench step`: weights as PyTorch keeps them, (out, in).

    `fused` makes one product of queries, keys and values; the keys' part of its bias is held at 0."""

    def __init__(self, weights, heads, fused, additive):
        self.heads, self.additive = heads, additive
        self.p = {}
        for name, value in weights.items():
            is_linear = value.dim() == 2 and "embedding" not in name
            self.p[name] = value.T.contiguous() if is_linear else value.clone()
        self.blocks = sum(name.endswith("norm1.weight") for name in weights)
        if fused:
            for i in range(self.blocks):
                at = f"blocks.{i}.attention."
                zeros = torch.zeros_like(self.p[at + "w_q.bias"])
                biases = [self.p.pop(at + "w_q.bias"), zeros, self.p.pop(at + "w_v.bias")]
                self.p[at + "w_qkv.weight"] = torch.cat([self.p.pop(at + f"w_{x}.weight") for x in "qkv"])
                self.p[at + "w_qkv.bias"] = torch.cat(biases)
        for value in self.p.values():
            value.requires_grad_()
        if fused:
            keep = torch.cat([zeros + 1, zeros, zeros + 1])
            for i in range(self.blocks):
                self.p[f"blocks.{i}.attention.w_qkv.bias"].register_hook(lambda g: g * keep)
        length = weights["position_embedding.weight"].shape[0]
        self.hidden = causal_mask(length, additive)
        self.positions = torch.arange(length)

    def linear(self, x, name):
        return F.linear(x, self.p[name + ".weight"], self.p.get(name + ".bias"))

    def norm(self, x, name):
        return F.layer_norm(x, x.shape[-1:], self.p[name + ".weight"], self.p[name + ".bias"], 1e-5)

    def attention(self, x, name):
        B, T, C = x.shape
        if name + ".w_qkv.weight" in self.p:
            parts = self.linear(x, name + ".w_qkv").split(C, -1)
        else:
            parts = [self.linear(x, f"{name}.w_{part}") for part in "qkv"]
        q, k, v = (part.view(B, T, self.heads, -1).transpose(1, 2) for part in parts)
        hidden = self.hidden.expand(B * self.heads, T, T) if self.additive else self.hidden
        y = attend(q, k, v, hidden, self.additive)
        return self.linear(y.transpose(1, 2).reshape(B, T, C), name + ".w_o")

    def loss(self, inputs, targets):
        x = F.embedding(inputs, self.p["token_embedding.weight"])
        x = x + F.embedding(self.positions, self.p["position_embedding.weight"])
        for i in range(self.blocks):
            block = f"blocks.{i}"
            x = x + self.attention(self.norm(x, block + ".norm1"), block + ".attention")
            y = F.gelu(self.linear(self.norm(x, block + ".norm2"), block + ".mlp.up"))
            x = x + self.linear(y, block + ".mlp.down")
        logits = self.linear(self.norm(x, "final_norm"), "head")
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten())

    def optimizer(self, foreach, **options):
        """AdamW that spares what has one axis, as heed's does."""
        decays = options.pop("weight_decay")
        groups = [{"params": [p for p in self.p.values() if (p.dim() > 1) == matrix], "weight_decay": decay}
                  for matrix, decay in ((True, decays), (False, 0.0))]
        return torch.optim.AdamW(groups, foreach=foreach, **options)


class Clock:
    """Wall and CPU time of what runs within."""

    def __init__(self):
        self.walls, self.cpu = [], 0.0

    def __enter__(self):
        self.cpu -= time.process_time()
        self.start = time.perf_counter()

    def __exit__(self, *_):
        self.walls.append(time.perf_counter() - self.start)
        self.cpu += time.process_time()

    def report(self):
        return {"min_ms": 1e3 * min(self.walls), "median_ms": 1e3 * statistics.median(self.walls),
                "cpu_over_wall": self.cpu / sum(self.walls)}


def update(optimizer, parameters, loss):
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(parameters, 1.0)
    optimizer.step()


def step(request):
    model, variant = request["model"], request["variant"]
    torch.set_num_threads(variant["threads"])
    gpt = Gpt(read_safetensors(request["weights"]), model["H"], variant["fused"], variant["additive"])
    optimizer = gpt.optimizer(variant["foreach"], lr=1e-3, weight_decay=0.01)
    parameters = list(gpt.p.values())
    losses, clock = [], Clock()
    for n in range(request["warm_up"] + request["steps"]):
        if n == request["warm_up"]:
            clock = Clock()
        inputs, targets = batch(model, n)
        with clock:
            loss = gpt.loss(inputs, targets)
            update(optimizer, parameters, loss)
        losses.append(loss.item())
    return {**clock.report(), "first_loss": losses[0], "last_loss": losses[-1]}


def memory(name):
    """A line of /proc/self/status, in bytes."""
    return next(int(line.split()[1]) << 10 for line in open("/proc/self/status") if line.startswith(name))


def attention(request):
    """Forward and backward on (1, 4, T, 32), as `heed bench attention`."""
    variant, length = request["variant"], request["length"]
    torch.set_num_threads(variant["threads"])
    generator = torch.Generator().manual_seed(1)
    q, k, v, seed = torch.randn(4, 1, 4, length, 32, generator=generator).unbind()
    inputs = [x.clone().requires_grad_() for x in (q, k, v)]
    hidden = causal_mask(length, variant["additive"])
    if variant["additive"]:
        hidden = hidden.expand(4, length, length)
    clock = Clock()
    with open("/proc/self/clear_refs", "w") as peak:
        peak.write("5")
    before = memory("VmRSS")
    for _ in range(request["steps"]):
        with clock:
            torch.autograd.grad(attend(*inputs, hidden, variant["additive"]), inputs, seed)
    extra = memory("VmHWM") - before - 3 * 4 * length * 128
    return {**clock.report(), "extra_mb": 1e-6 * extra}


def copy_batch(generator, rows, letters=16, payload=15):
    """Rows of letters, a bar, the same letters again; targets from the bar on."""
    words = torch.randint(letters, (rows, payload), generator=generator)
    row = torch.cat([words, torch.full((rows, 1), letters), words], 1)
    targets = row[:, 1:].clone()
    targets[:, :payload] = -100
    return row[:, :-1], targets


def copy_rows(recipe):
    """Batches of the task, and its 1,000 unseen rows."""
    generator = torch.Generator().manual_seed(0)
    return lambda: copy_batch(generator, recipe["batch"]), lambda: [copy_batch(generator, 1000)]


def text_rows(recipe):
    """Batches of pieces of the file's first 90 %, and the rest of it cut into rows."""
    letters = open(recipe["file"], encoding="utf-8").read()
    number = {letter: n for n, letter in enumerate(sorted(set(letters)))}
    ids = torch.tensor([number[letter] for letter in letters])
    rows, length = recipe["batch"], recipe["context"]
    seen, unseen = ids[:len(ids) * 9 // 10], ids[len(ids) * 9 // 10:]
    generator = torch.Generator().manual_seed(0)
    steps = torch.arange(length + 1)

    def draw():
        starts = torch.randint(len(seen) - length, (rows, 1), generator=generator)
        pieces = seen[starts + steps]
        return pieces[:, :-1], pieces[:, 1:]

    def rest():
        starts = torch.arange(0, len(unseen) - length, length)[:, None]
        for pieces in unseen[starts + steps].split(64):
            yield pieces[:, :-1], pieces[:, 1:]

    return draw, rest


def rate(recipe, n):
    """The learning rate of step n: it climbs, then stays or falls as a cosine."""
    peak, warm_up = recipe["lr"], recipe["warmup"]
    if n < warm_up or recipe["schedule"] == "constant":
        return peak * min(1.0, (n + 1) / (warm_up + 1))
    fallen = 0.5 * (1 - math.cos(math.pi * (n - warm_up) / (recipe["steps"] - warm_up)))
    return peak - (peak - recipe["min-lr"]) * fallen


def train(request):
    """The loop of `heed train`: its steps, then its unseen rows."""
    variant, recipe = request["variant"], request["recipe"]
    torch.set_num_threads(variant["threads"])
    start = time.perf_counter()
    gpt = Gpt(read_safetensors(request["weights"]), recipe["heads"], variant["fused"], variant["additive"])
    optimizer = gpt.optimizer(variant["foreach"], lr=recipe["lr"], betas=(0.9, recipe["beta2"]),
                              weight_decay=recipe["weight-decay"])
    parameters = list(gpt.p.values())
    draw, unseen = (text_rows if "file" in recipe else copy_rows)(recipe)
    for n in range(request["steps"]):
        for group in optimizer.param_groups:
            group["lr"] = rate(recipe, n)
        update(optimizer, parameters, gpt.loss(*draw()))
    with torch.no_grad():
        losses = [(gpt.loss(inputs, targets).item(), len(inputs)) for inputs, targets in unseen()]
    loss = sum(mean * rows for mean, rows in losses) / sum(rows for _, rows in losses)
    return {"seconds": time.perf_counter() - start, "loss": loss}


def about(_):
    paths = {line.split()[-1] for line in open("/proc/self/maps") if "openblas" in line}
    kernels = set()
    for path in paths:
        library = ctypes.CDLL(path)
        if hasattr(library, "openblas_get_corename"):
            library.openblas_get_corename.restype = ctypes.c_char_p
            kernels.add(library.openblas_get_corename().decode())
    torch.ones(2, 2) @ torch.ones(2, 2)
    return {"torch": torch.__version__, "blas": "OpenBLAS " + ", ".join(kernels) if kernels else "not OpenBLAS"}


requests = {"about": about, "step": step, "attention": attention, "train": train}
for line in sys.stdin:
    asked = json.loads(line)
    print(json.dumps(requests[asked["do"]](asked)), flush=True)
