#!/usr/bin/env python3
"""Numbers by PyTorch, in double precision, for ops, layers, optimizers, schedules and a training.

golden.py            writes ops.json, layers.json and so on beside this script
golden.py --check    compares the files with what PyTorch says now; exits 77 where there is no PyTorch
"""
import importlib
import json
import pathlib
import sys

try:
    import torch
except ImportError:
    print("no PyTorch for this Python")
    sys.exit(77)

sys.dont_write_bytecode = True


def same(a, b):
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, float) and isinstance(b, (int, float)):
        return abs(a - b) <= 1e-12 * max(1, abs(a), abs(b))
    return a == b


torch.set_num_threads(1)
wrong = []
for part in ("ops", "layers", "optimizers", "schedules", "training"):
    entries = importlib.import_module(part).entries()
    file = pathlib.Path(__file__).with_name(part + ".json")
    if "--check" in sys.argv:
        stored = json.loads(file.read_text())
        wrong += [f"{part}: {e['name']}" for e, s in zip(entries, stored) if not same(e, s)]
        if len(entries) != len(stored):
            wrong.append(f"{part}: {len(entries)} entries, not {len(stored)}")
    else:
        lines = ",\n".join(json.dumps(e, separators=(",", ":")) for e in entries)
        file.write_text(f"[\n{lines}\n]\n")
if wrong:
    sys.exit(f"not what PyTorch {torch.__version__} says: {wrong}; run golden.py")
