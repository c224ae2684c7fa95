"""Inputs that both languages compute, so that the files hold results only (in C++: golden.h)."""
import math

import torch


def wave(shape, phase, low=-2.0, high=2.0):
    """Numbers between low and high, without any order or tie."""
    middle, height = (low + high) / 2, (high - low) / 2
    values = [middle + height * math.sin(2.399963 * i + phase) for i in range(math.prod(shape))]
    rounded = [round(v * 1e6) / 1e6 for v in values]
    return torch.tensor(rounded, dtype=torch.float64).reshape(tuple(shape))


def ids(shape, bound, phase=0):
    """Whole numbers from 0 to bound - 1."""
    values = [(7 * i * i + 3 * i + phase * phase + 5 * phase) % 101 % bound for i in range(math.prod(shape))]
    return torch.tensor(values, dtype=torch.int64).reshape(shape)


def numbers(x):
    """The elements to 15 digits; some zeros of PyTorch have no storage."""
    plain = torch.zeros(x.shape, dtype=torch.float64).add_(x.detach())
    return [float(f"{v:.15g}") for v in plain.flatten().tolist()]


def derivative(y, seed, xs, **options):
    grads = torch.autograd.grad(y, xs, seed, allow_unused=True, **options)
    return [torch.zeros_like(x) if g is None else g for g, x in zip(grads, xs)]


def parameters(shapes):
    """A tensor for each name and shape, in heed's layout and order."""
    return {name: wave(shape, 20 + i, -0.8, 0.8).requires_grad_() for i, (name, shape) in enumerate(shapes)}
