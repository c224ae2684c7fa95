"""The first ten losses of small GPTs, which all start from the same weights."""
import torch
import torch.nn.functional as F

from layers import transformer, transformer_shapes
from optimizers import groups
from recipe import ids, parameters

VOCABULARY, CONTEXT, ROWS = 7, 6, 3


def losses(make, tied=False, **settings):
    p = parameters(transformer_shapes(VOCABULARY, CONTEXT, 2, 8, tied))
    optimizer = make(groups(p, settings.get("weight_decay", 0.0)), **settings)
    result = []
    for step in range(10):
        rows = ids((ROWS, CONTEXT + 1), VOCABULARY, step)
        targets = rows[:, 1:].clone()
        targets[:, step % CONTEXT] = -100  # no loss there
        logits = transformer(p, rows[:, :-1], heads=2)
        loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        result.append(loss.item())
    return result


def entries():
    return [
        {"name": "adamw", "losses": losses(torch.optim.AdamW, lr=0.01, weight_decay=0.1)},
        {"name": "adam_tied", "losses": losses(torch.optim.Adam, tied=True, lr=0.01)},
        {"name": "sgd", "losses": losses(torch.optim.SGD, lr=0.1, momentum=0.9)},
    ]
