"""Learning rates of twelve steps, as PyTorch's schedulers set them."""
import torch
from torch.optim import lr_scheduler

LR, FLOOR, END = 2.0, 0.25, 8

# name: the scheduler of an optimizer; they know no floor but the cosine's, and the line's as a share of lr
SCHEDULES = {
    "constant": lambda o: lr_scheduler.ConstantLR(o, factor=1.0),
    "linear": lambda o: lr_scheduler.LinearLR(o, 1.0, FLOOR / LR, total_iters=END),
    "cosine": lambda o: lr_scheduler.CosineAnnealingLR(o, T_max=END, eta_min=FLOOR),
    "step": lambda o: lr_scheduler.StepLR(o, step_size=3, gamma=0.5),
    "wsd": lambda o: lr_scheduler.SequentialLR(
        o,
        [lr_scheduler.ConstantLR(o, factor=1.0), lr_scheduler.LinearLR(o, 1.0, FLOOR / LR, total_iters=3)],
        milestones=[END - 3]),
    # section 5.3 of the paper, with d_model = 16 and warmup_steps = 4
    "noam": lambda o: lr_scheduler.LambdaLR(
        o, lambda i: 16**-0.5 * min((i + 1) ** -0.5, (i + 1) * 4**-1.5) / LR),
}


def entry(name, make):
    steps = END if name == "cosine" else 12  # PyTorch's rises again
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=LR)
    scheduler = make(optimizer)
    rates = []
    for _ in range(steps):
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    return {"name": name, "rates": [float(f"{rate:.15g}") for rate in rates]}


def entries():
    return [entry(name, make) for name, make in SCHEDULES.items()]
