"""Outputs of layers, with the gradients of every input and parameter: PyTorch's own modules on heed's parameters."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.stateless import functional_call

from recipe import derivative, ids, numbers, parameters, wave

OPTIONS = dict(dropout=0.0, batch_first=True, dtype=torch.float64)


def part(p, name):
    """The parameters whose path starts with `name`."""
    return {key[len(name) + 1:]: value for key, value in p.items() if key.startswith(name + ".")}


def linear(p, x):
    return F.linear(x, p["weight"].T, p.get("bias"))


def norm(p, x):
    return F.layer_norm(x, x.shape[-1:], p["weight"], p["bias"], 1e-5)


def attention_parameters(p):
    """In PyTorch's layout; its keys have a bias, which softmax does not see."""
    return {
        "in_proj_weight": torch.cat([p["w_q.weight"].T, p["w_k.weight"].T, p["w_v.weight"].T]),
        "in_proj_bias": torch.cat([p["w_q.bias"], torch.zeros_like(p["w_q.bias"]), p["w_v.bias"]]),
        "out_proj.weight": p["w_o.weight"].T,
        "out_proj.bias": p["w_o.bias"],
    }


def attention(p, x, memory, heads, **masks):
    module = nn.MultiheadAttention(x.shape[-1], heads, **OPTIONS)
    return functional_call(module, attention_parameters(p), (x, memory, memory), masks)[0]


def block(p, x, heads, activation=F.gelu, **masks):
    module = nn.TransformerEncoderLayer(
        x.shape[-1], heads, p["mlp.up.bias"].numel(), activation=activation, norm_first=True, **OPTIONS)
    state = {f"self_attn.{name}": value for name, value in attention_parameters(part(p, "attention")).items()}
    for theirs, ours in (("linear1", "mlp.up"), ("linear2", "mlp.down")):
        state |= {f"{theirs}.weight": p[ours + ".weight"].T, f"{theirs}.bias": p[ours + ".bias"]}
    for name in ("norm1", "norm2"):
        state |= {f"{name}.{key}": value for key, value in part(p, name).items()}
    return functional_call(module, state, (x,), masks)


def future(time):
    return torch.ones(time, time, dtype=torch.bool).triu(1)


def transformer(p, tokens, heads, causal=True, hidden=None):
    time = tokens.shape[1]
    x = p["token_embedding.weight"][tokens] + p["position_embedding.weight"][:time]
    for i in range(sum(name.endswith("norm1.weight") for name in p)):
        x = block(part(p, f"blocks.{i}"), x, heads, src_mask=future(time) if causal else None,
                  src_key_padding_mask=hidden)
    x = norm(part(p, "final_norm"), x)
    return F.linear(x, p["head.weight"].T if "head.weight" in p else p["token_embedding.weight"])


def linear_shapes(name, size_in, size_out, bias=True):
    return [(f"{name}weight", (size_in, size_out))] + [(f"{name}bias", (size_out,))] * bias


def attention_shapes(c, name=""):
    return [shape for w in "qkvo" for shape in linear_shapes(f"{name}w_{w}.", c, c, bias=w != "k")]


def norm_shapes(name, c):
    return [(f"{name}weight", (c,)), (f"{name}bias", (c,))]


def mlp_shapes(c, width, name=""):
    return linear_shapes(f"{name}up.", c, width) + linear_shapes(f"{name}down.", width, c)


def block_shapes(c, width, name=""):
    return (norm_shapes(f"{name}norm1.", c) + attention_shapes(c, f"{name}attention.")
            + norm_shapes(f"{name}norm2.", c) + mlp_shapes(c, width, f"{name}mlp."))


def transformer_shapes(vocabulary, context, layers, c, tied=False):
    shapes = [("token_embedding.weight", (vocabulary, c)), ("position_embedding.weight", (context, c))]
    for i in range(layers):
        shapes += block_shapes(c, 4 * c, f"blocks.{i}.")
    return shapes + norm_shapes("final_norm.", c) + [("head.weight", (c, vocabulary))] * (not tied)


def mlp(activation):
    return lambda p, x: linear(part(p, "down"), activation(linear(part(p, "up"), x)))


HIDDEN = torch.tensor([[False, False, True, False], [False, True, False, True]])  # (B, Tk)
HIDDEN_CELLS = torch.tensor([[True, False, False, False], [False, True, False, True]])  # (Tq, Tk)

# name: (call of parameters and inputs, their names and shapes, shapes of the inputs)
LAYERS = {
    "linear": (linear, linear_shapes("", 3, 5), [(2, 1, 3)]),
    "linear_of_a_vector": (linear, linear_shapes("", 1, 7), [(1,)]),
    "linear_without_bias": (linear, linear_shapes("", 4, 1, bias=False), [(5, 4)]),
    "embedding": (lambda p: F.embedding(ids((2, 4), 3), p["weight"]), [("weight", (3, 2))], []),
    "position_embedding": (lambda p: p["weight"][:2], [("weight", (3, 2))], []),
    "layer_norm": (norm, norm_shapes("", 5), [(2, 3, 5)]),
    "layer_norm_of_one": (norm, norm_shapes("", 1), [(3, 1)]),
    "mlp": (mlp(F.gelu), mlp_shapes(2, 5), [(3, 2)]),
    "mlp_gelu_tanh": (mlp(lambda x: F.gelu(x, approximate="tanh")), mlp_shapes(2, 3), [(1, 3, 2)]),
    "mlp_relu": (mlp(F.relu), mlp_shapes(1, 4), [(5, 1)]),
    "mlp_silu": (mlp(F.silu), mlp_shapes(3, 2), [(2, 3)]),
    "attention": (lambda p, x: attention(p, x, x, 2), attention_shapes(4), [(2, 3, 4)]),
    "attention_with_one_head": (lambda p, x: attention(p, x, x, 1), attention_shapes(3), [(1, 2, 3)]),
    "attention_of_one_token": (lambda p, x: attention(p, x, x, 2), attention_shapes(2), [(3, 1, 2)]),
    "attention_causal": (
        lambda p, x: attention(p, x, x, 3, attn_mask=future(5)), attention_shapes(6), [(1, 5, 6)]),
    "attention_padded": (
        lambda p, x: attention(p, x, x, 2, key_padding_mask=HIDDEN), attention_shapes(4), [(2, 4, 4)]),
    "attention_causal_padded": (
        lambda p, x: attention(p, x, x, 2, attn_mask=future(4), key_padding_mask=HIDDEN),
        attention_shapes(4), [(2, 4, 4)]),
    "cross_attention": (
        lambda p, x, m: attention(p, x, m, 2), attention_shapes(4), [(2, 3, 4), (2, 5, 4)]),
    "cross_attention_padded": (
        lambda p, x, m: attention(p, x, m, 2, key_padding_mask=HIDDEN), attention_shapes(2), [(2, 3, 2), (2, 4, 2)]),
    "cross_attention_hidden": (
        lambda p, x, m: attention(p, x, m, 2, attn_mask=HIDDEN_CELLS), attention_shapes(4), [(1, 2, 4), (1, 4, 4)]),
    "block": (lambda p, x: block(p, x, 2), block_shapes(4, 16), [(2, 3, 4)]),
    "block_causal_padded": (
        lambda p, x: block(p, x, 2, activation=F.relu, src_mask=future(4), src_key_padding_mask=HIDDEN),
        block_shapes(4, 5), [(2, 4, 4)]),
    "transformer": (lambda p: transformer(p, ids((2, 3), 5), 2), transformer_shapes(5, 4, 2, 4), []),
    "transformer_tied": (
        lambda p: transformer(p, ids((1, 5), 7, 1), 1), transformer_shapes(7, 5, 1, 3, tied=True), []),
    "transformer_padded": (
        lambda p: transformer(p, ids((2, 4), 3, 2), 2, causal=False, hidden=HIDDEN), transformer_shapes(3, 4, 1, 4), []),
}


def entry(name, call, shapes, inputs):
    p = parameters(shapes)
    xs = [wave(shape, 1 + 2 * i).requires_grad_() for i, shape in enumerate(inputs)]
    y = call(p, *xs)
    gradients = derivative(y, wave(y.shape, 0.5), xs + list(p.values()))
    return {
        "name": name,
        "inputs": [list(shape) for shape in inputs],
        "parameters": [{"name": name, "shape": list(shape)} for name, shape in shapes],
        "output": numbers(y),
        "gradients": [numbers(g) for g in gradients],
    }


def entries():
    return [entry(name, *layer) for name, layer in LAYERS.items()]
