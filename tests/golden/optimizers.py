"""Where a matrix and a vector are after some steps of an optimizer; weight decay is for the matrix alone."""
import torch

from recipe import numbers, parameters, wave

SHAPES = [("matrix", (2, 3)), ("vector", (3,))]
KEPT = (1, 2, 3, 10, 20)

# name: (class, settings in PyTorch's words)
OPTIMIZERS = {
    "sgd": (torch.optim.SGD, dict(lr=0.1)),
    "sgd_decay": (torch.optim.SGD, dict(lr=0.1, weight_decay=0.3)),
    "sgd_momentum": (torch.optim.SGD, dict(lr=0.05, momentum=0.9, weight_decay=0.1)),
    "sgd_dampening": (torch.optim.SGD, dict(lr=0.05, momentum=0.8, dampening=0.4)),
    "sgd_nesterov": (torch.optim.SGD, dict(lr=0.05, momentum=0.9, nesterov=True, weight_decay=0.1)),
    "adam": (torch.optim.Adam, dict(lr=0.05)),
    "adam_l2": (torch.optim.Adam, dict(lr=0.1, betas=(0.8, 0.95), eps=1e-3, weight_decay=0.5)),
    "adamw": (torch.optim.AdamW, dict(lr=0.05, weight_decay=0.01)),
    "adamw_decay": (torch.optim.AdamW, dict(lr=0.1, betas=(0.8, 0.95), eps=1e-3, weight_decay=0.5)),
    "rmsprop": (torch.optim.RMSprop, dict(lr=0.05)),
    "rmsprop_momentum": (
        torch.optim.RMSprop, dict(lr=0.02, alpha=0.9, eps=1e-3, momentum=0.8, weight_decay=0.3)),
    "rmsprop_centered": (torch.optim.RMSprop, dict(lr=0.05, alpha=0.8, centered=True)),
    "rmsprop_centered_momentum": (
        torch.optim.RMSprop, dict(lr=0.02, alpha=0.95, centered=True, momentum=0.5, weight_decay=0.1)),
    "adamw_groups": (torch.optim.AdamW, dict(lr=0.05, weight_decay=0.1)),
    "sgd_groups": (torch.optim.SGD, dict(lr=0.05, momentum=0.9, weight_decay=0.1)),
}

# What parameters are treated apart: "vector" at half the rate and with a decay of its own.
GROUPS = {name: {"vector": dict(lr=0.025, weight_decay=0.4)} for name in OPTIMIZERS if name.endswith("_groups")}


def groups(p, weight_decay=0.0):
    """Decay for what has two or more axes."""
    return [{"params": [x], "weight_decay": weight_decay if x.ndim >= 2 else 0.0} for x in p.values()]


def entry(name, make, settings):
    p = parameters(SHAPES)
    apart = GROUPS.get(name, {})
    each = groups(p, settings.get("weight_decay", 0.0))
    optimizer = make([group | apart.get(key, {}) for key, group in zip(p, each)], **settings)
    kept = []
    for step in range(1, max(KEPT) + 1):
        for i, x in enumerate(p.values()):
            x.grad = wave(x.shape, step + 0.25 * i, -1.0, 2.0)
        optimizer.step()
        if step in KEPT:
            kept.append({"step": step, "values": [numbers(x) for x in p.values()]})
    return {"name": name, "steps": kept}


def entries():
    return [entry(name, *optimizer) for name, optimizer in OPTIMIZERS.items()]
