#include <heed/train/cli/pytorch_script.h>

#include <string_view>

namespace heed::cli {
namespace {

constexpr std::string_view kConfig = "@CONFIG@";
constexpr std::string_view kScript = R"py(#!/usr/bin/env python3
"""A model that heed trained, in PyTorch. Needs PyTorch and numpy, and the files beside it.

python3 model.py                 checks that it gives heed's logits, to 1e-5
from model import load, save     load() gives the model; save(model, FILE) writes what `heed import FILE` reads

The blocks, where nothing but the usual is asked for, have the parameters of an nn.TransformerEncoder of
nn.TransformerEncoderLayer(..., activation="gelu", norm_first=True, batch_first=True).
"""
import json
import math
import pathlib
import sys

import numpy
import torch
import torch.nn.functional as F
from torch import nn

FOLDER = pathlib.Path(__file__).resolve().parent
CONFIG = json.loads(r'''@CONFIG@''')
ACTIVATIONS = {
    "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "relu": F.relu,
    "silu": F.silu,
    "swiglu": F.silu,
}


def read(path):
    """The tensors of a safetensors file of F32 and F64, and its metadata."""
    data = pathlib.Path(path).read_bytes()
    start = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:start])
    metadata = header.pop("__metadata__", {})
    tensors = {}
    for name, entry in header.items():
        begin, end = (start + offset for offset in entry["data_offsets"])
        values = numpy.frombuffer(data[begin:end], {"F32": "<f4", "F64": "<f8"}[entry["dtype"]])
        tensors[name] = torch.from_numpy(values.reshape(entry["shape"]).copy())
    return tensors, metadata


def write(path, tensors, metadata):
    header, parts, at = {"__metadata__": metadata}, [], 0
    for name, tensor in tensors.items():
        part = tensor.detach().cpu().contiguous().numpy().astype("<f4").tobytes()
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": [at, at + len(part)]}
        parts.append(part)
        at += len(part)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    pathlib.Path(path).write_bytes(len(text).to_bytes(8, "little") + text + b"".join(parts))


class RmsNorm(nn.Module):
    def __init__(self, d, eps):
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(d)), eps

    def forward(self, x):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + self.eps) * self.weight


def norm(c):
    if c["norm"] == "none":
        return nn.Identity()
    return (nn.LayerNorm if c["norm-kind"] == "layer" else RmsNorm)(c["d-model"], c["eps"])


def slopes(heads):
    """Of ALiBi; arXiv:2108.12409, section 3, and for other than powers of two its authors' code."""
    below = 2 ** int(math.log2(heads))
    steps = [2 * (h + 1) if h < below else 2 * (h - below) + 1 for h in range(heads)]
    return torch.tensor([2 ** (-4 * step / below) for step in steps])


def rotated(x, base=10000.0):
    """Rotary positions of x (B, H, T, D); pairs are channels i and i + D/2."""
    half = x.shape[-1] // 2
    angles = torch.arange(x.shape[-2])[:, None] * base ** (-torch.arange(half) / half)
    a, b = x[..., :half], x[..., half:]
    return torch.cat([a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos()], -1)


def waves(time, d):
    """Sinusoidal positions (T, d), as high as heed has them."""
    even = torch.arange(d) // 2 * 2
    angles = torch.arange(time)[:, None] * 10000.0 ** (-even / d)
    return 0.02 * math.sqrt(2) * torch.where(torch.arange(d) == even, angles.sin(), angles.cos())


class Attention(nn.Module):
    """With the parameters of nn.MultiheadAttention; heads of keys and values may be fewer."""

    def __init__(self, c):
        super().__init__()
        d, self.heads, self.c = c["d-model"], c["heads"], c
        self.kv_heads, self.width = c["kv-heads"] or self.heads, d // self.heads
        self.scale = {"sqrt": self.width**-0.5, "none": 1.0}.get(c["scale"]) or float(c["scale"])
        rows = (self.heads + 2 * self.kv_heads) * self.width
        self.in_proj_weight = nn.Parameter(torch.zeros(rows, d))
        self.in_proj_bias = nn.Parameter(torch.zeros(rows))
        self.out_proj = nn.Linear(d, d)

    def forward(self, x):
        joined = F.linear(x, self.in_proj_weight, self.in_proj_bias)  # (B, T, (H + 2 Hkv) D)
        parts = joined.unflatten(-1, (-1, self.width)).transpose(1, 2)  # (B, H + 2 Hkv, T, D)
        q, k, v = parts.split([self.heads, self.kv_heads, self.kv_heads], 1)
        if self.c["positions"] == "rotary":
            q, k = rotated(q), rotated(k)
        k, v = (y.repeat_interleave(self.heads // self.kv_heads, 1) for y in (k, v))
        scores = q @ k.transpose(-2, -1) * self.scale  # (B, H, T, T)
        places = torch.arange(x.shape[1])
        if self.c["positions"] == "alibi":
            scores = scores - slopes(self.heads)[:, None, None] * (places[:, None] - places).abs()
        if self.c["mask"] == "causal":
            scores = scores.masked_fill(places > places[:, None], -math.inf)
        return self.out_proj((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))


class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        d, width, self.c = c["d-model"], c["d-ff"] or 4 * c["d-model"], c
        self.norm1, self.self_attn = norm(c), Attention(c)
        if c["activation"] == "none":
            return
        self.norm2 = norm(c)
        self.linear1, self.linear2 = nn.Linear(d, width), nn.Linear(width, d)
        if c["activation"] == "swiglu":
            self.mlp = nn.ModuleDict({"gate": nn.Linear(d, width)})

    def feed_forward(self, x):
        f, up = ACTIVATIONS[self.c["activation"]], self.linear1(x)
        return self.linear2(f(self.mlp["gate"](x)) * up if self.c["activation"] == "swiglu" else f(up))

    def add(self, x, norm, part):
        return norm(x + part(x)) if self.c["norm"] == "post" else x + part(norm(x))

    def forward(self, x):
        x = self.add(x, self.norm1, self.self_attn)
        return x if self.c["activation"] == "none" else self.add(x, self.norm2, self.feed_forward)


class Model(nn.Module):
    def __init__(self, c=CONFIG):
        super().__init__()
        self.c = c
        self.token_embedding = nn.Embedding(c["vocabulary"], c["d-model"])
        if c["positions"] == "learned":
            self.position_embedding = nn.Embedding(c["context"], c["d-model"])
        self.layers = nn.ModuleList(Block(c) for _ in range(c["layers"]))
        self.norm = norm(c) if c["norm"] == "pre" else nn.Identity()
        if not c["tied"]:
            self.head = nn.Linear(c["d-model"], c["vocabulary"], bias=False)

    def forward(self, tokens):
        """Logits (B, T, V) of tokens (B, T), without dropout."""
        time = tokens.shape[1]
        x = self.token_embedding(tokens)
        if self.c["positions"] == "learned":
            x = x + self.position_embedding.weight[:time]
        if self.c["positions"] == "sinusoidal":
            x = x + waves(time, self.c["d-model"])
        for layer in self.layers:
            x = layer(x)
        x = self.norm(x)
        return F.linear(x, self.token_embedding.weight) if self.c["tied"] else self.head(x)


def load(path=FOLDER / "model.safetensors"):
    model = Model()
    model.load_state_dict(read(path)[0])
    return model


def save(model, path):
    """Also what the settings and the vocabulary are, so that the file can be imported."""
    write(path, model.state_dict(), read(FOLDER / "model.safetensors")[1])


def check():
    probe = read(FOLDER / "probe.safetensors")[0]
    with torch.no_grad():
        found = load()(probe["tokens"].long())
    difference = (found - probe["logits"]).abs().max().item()
    print(f"the logits differ from heed's by at most {difference:.1e}")
    return difference <= 1e-5 * max(1.0, probe["logits"].abs().max().item())


if __name__ == "__main__":
    sys.exit(0 if check() else 1)
)py";

}  // namespace

std::string pytorch_script(const std::string& config) {
  std::string script(kScript);
  return script.replace(script.find(kConfig), kConfig.size(), config);
}

}  // namespace heed::cli
