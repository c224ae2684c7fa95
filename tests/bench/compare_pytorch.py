#!/usr/bin/python3
"""Times heed and PyTorch side by side: the same models from the same weights on the same batches and cores.

  tests/bench/compare_pytorch.py                              training steps of three models, on one core and on all
  tests/bench/compare_pytorch.py --attention --train-copy     attention on 4,096 positions; `heed train copy`, whole

Rounds alternate, heed, PyTorch, heed, ..., and the least time of all rounds counts on either side. PyTorch is given as
many cores as heed, OPENBLAS_NUM_THREADS says how many, the variables that choose OpenBLAS's kernel are unset, and it
may choose among torch threads 1 to n, queries, keys and values in one product or in three, a mask that is added by
that product or filled in, and AdamW tensor by tensor or in lists: all are tried first, and the best three go through
every round. Both losses, of the first step and of the last, have to agree within 1e-4.

Needs PyTorch for this Python (Debian: python3-torch, libopenblas0-pthread); exits with 77 where there is none.
"""
import argparse
import importlib.util
import itertools
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
MODELS = {
    "tiny": dict(V=16, T=16, B=16, L=1, H=2, d=32, steps=400),
    "nanogpt-cpu": dict(V=65, T=64, B=12, L=4, H=4, d=128, steps=40),
    "nanogpt-256": dict(V=65, T=256, B=16, L=4, H=4, d=128, steps=8),
}
TOLERANCE = 1e-4
KEPT = 3  # variants of PyTorch that go through every round
WARM_UP = 5  # steps, as heed has
OF_A_STEP = dict(fused=(False, True), additive=(False, True), foreach=(False, True))


class Cores:
    """Some cores of this machine, and what runs on them."""

    def __init__(self, program, cores):
        self.program, self.cores = program, cores
        dropped = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "OMP_NUM_THREADS", "HEED_THREADS", "HEED_CACHE", "HEED_ISA")
        self.environment = {key: value for key, value in os.environ.items() if key not in dropped}
        self.environment["OPENBLAS_NUM_THREADS"] = str(len(cores))
        self.worker = subprocess.Popen([sys.executable, HERE / "pytorch_worker.py"], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, text=True, **self.pinned())

    def pinned(self):
        return dict(env=self.environment, preexec_fn=lambda: os.sched_setaffinity(0, self.cores))

    def heed(self, *words):
        """The last line of what `heed words --json` prints, and its seconds from start to end."""
        command = [self.program, *map(str, words), "--json"]
        start = time.perf_counter()
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **self.pinned())
        seconds = time.perf_counter() - start
        if done.returncode != 0:
            sys.exit(f"{' '.join(map(str, command))}: {done.stderr}")
        return {**json.loads(done.stdout.splitlines()[-1]), "process_seconds": seconds}

    def torch(self, request):
        self.worker.stdin.write(json.dumps(request) + "\n")
        self.worker.stdin.flush()
        answer = self.worker.stdout.readline()
        if not answer:
            sys.exit("PyTorch's side has ended")
        return json.loads(answer)

    def variants(self, **choices):
        choices = {"threads": range(1, len(self.cores) + 1), **choices}
        return [dict(zip(choices, values)) for values in itertools.product(*choices.values())]

    def close(self):
        self.worker.stdin.close()
        self.worker.wait()


def in_rounds(rounds, heed, torch, variants, key):
    """The best of heed's and of PyTorch's answers by `key`, and the variant that gave PyTorch's."""
    tried = sorted(variants, key=lambda variant: torch(variant, True)[key])[:KEPT]
    ours, theirs = [], []
    for _ in range(rounds):
        ours.append(heed())
        theirs += [{**torch(variant, False), "variant": variant} for variant in tried]
    return min(ours, key=lambda a: a[key]), min(theirs, key=lambda a: a[key])


def described(variant):
    words = [f"{variant['threads']} torch thread" + "s" * (variant["threads"] > 1)]
    words += [word for key, word in (("fused", "one qkv product"), ("additive", "added mask"), ("foreach", "foreach"))
              if variant.get(key)]
    return ", ".join(words)


def compare_step(cores, name, folder, rounds, steps):
    model = MODELS[name]
    steps = steps or model["steps"]
    weights, threads = folder / f"{name}.safetensors", len(cores.cores)
    step = ["bench", "step", "--model", name, "--threads", threads]

    def torch(variant, short):
        count = max(2, steps // 8) if short else steps
        return cores.torch(dict(do="step", model=model, weights=str(weights), variant=variant, warm_up=WARM_UP,
                                steps=count))

    checked = min(steps, 10)
    ours = cores.heed(*step, "--steps", checked, "--save-weights", weights)
    theirs = cores.torch(dict(do="step", model=model, weights=str(weights), warm_up=WARM_UP, steps=checked,
                              variant=dict(threads=1, fused=False, additive=False, foreach=False)))
    losses = [(ours[key], theirs[key]) for key in ("first_loss", "last_loss")]
    heed = lambda: cores.heed(*step, "--steps", steps, "--weights", weights)
    ours, theirs = in_rounds(rounds, heed, torch, cores.variants(**OF_A_STEP), "min_ms")
    report(name, threads, ours, theirs, "min_ms", "ms")
    agree = all(abs(a - b) <= TOLERANCE for a, b in losses)
    print(f"  losses, heed and PyTorch: step 1 {losses[0][0]:.6f} {losses[0][1]:.6f}, "
          f"step {WARM_UP + checked} {losses[1][0]:.6f} {losses[1][1]:.6f}" + ("" if agree else "  DIFFER"))
    print(f"  heed: {ours['gflops']:.0f} GFLOP/s, {100 * ours['share_of_peak']:.0f} % of the peak, "
          f"{ours['allocations']} allocations", flush=True)
    return agree


def compare_attention(cores, length, rounds):
    threads = len(cores.cores)
    steps = max(2, 3 * 4096**2 // length**2)
    heed = lambda: cores.heed("bench", "attention", "--lengths", length, "--threads", threads, "--seconds", 1)
    torch = lambda variant, short: cores.torch(
        dict(do="attention", length=length, variant=variant, steps=2 if short else steps))
    ours, theirs = in_rounds(rounds, heed, torch, cores.variants(additive=(False, True)), "min_ms")
    report(f"attention T{length}", threads, ours, theirs, "min_ms", "ms")
    print(f"  memory beyond q, k, v and gradients: heed {ours['extra_mb']:.1f} MB, PyTorch {theirs['extra_mb']:.1f} MB",
          flush=True)


def compare_training(cores, words, folder, rounds, steps):
    """`heed train WORDS` as a whole beside the same loop in PyTorch."""
    threads = len(cores.cores)
    train = ["train", *words, "--eval-every", 0, "--threads", threads, "--out", folder / f"runs-{threads}"]
    start = pathlib.Path(cores.heed(*train, "--steps", 0)["run"])
    lines = (start / "config.toml").read_text().splitlines()
    pairs = (line.split(" = ", 1) for line in lines if " = " in line)
    recipe = {key: json.loads(value) for key, value in pairs if value[0].isdigit() or value[0] == '"'}
    recipe["steps"] = steps
    weights = str(start / "checkpoints" / "last.safetensors")

    def heed():
        result = cores.heed(*train, "--steps", steps)
        return {**result, "seconds": result["process_seconds"], "loop": result["seconds"]}

    def torch(variant, short):
        few = steps // 8 if short else steps
        return cores.torch(dict(do="train", weights=weights, variant=variant, recipe=recipe, steps=few))

    ours, theirs = in_rounds(rounds, heed, torch, cores.variants(**OF_A_STEP), "seconds")
    report(f"train {words[0]}, {steps} steps", threads, ours, theirs, "seconds", "s")
    print(f"  heed is the whole process, PyTorch the loop without its start; last losses on unseen rows: "
          f"heed {ours['loss']:.4f}, PyTorch {theirs['loss']:.4f}", flush=True)


def report(what, threads, ours, theirs, key, unit):
    line = (f"{what}, {threads} core{'s' * (threads > 1)}: PyTorch {theirs[key]:.3f} {unit}, "
            f"heed {ours[key]:.3f} {unit}, ratio {theirs[key] / ours[key]:.2f}")
    if "cpu_over_wall" in ours:
        shares = theirs["cpu_over_wall"], ours["cpu_over_wall"]
        line += f"; CPU over wall: PyTorch {shares[0]:.2f}, heed {shares[1]:.2f}"
        if min(shares) < 0.9:
            line += " (something else had the cores: do not trust these times)"
    print(f"{line}\n  PyTorch's best: {described(theirs['variant'])}", flush=True)


def numbers(text):
    return [int(n) for n in text.split(",")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=HERE.parents[1] / "build/release/bin/heed", type=pathlib.Path,
                        help="heed [%(default)s]")
    parser.add_argument("--model", action="append", choices=MODELS, help="only this one; may be given again")
    parser.add_argument("--cores", type=numbers, help="how many to compare on, as in 1,2 [1, and all there are]")
    parser.add_argument("--rounds", type=int, default=5, help="of heed and PyTorch in turn [%(default)s]")
    parser.add_argument("--steps", type=int, help="of a model in a round [400, 40, 8]; of --train-copy [1000]")
    parser.add_argument("--attention", action="store_true", help="attention alone, instead of the models")
    parser.add_argument("--length", type=int, default=4096, help="of --attention [%(default)s]")
    parser.add_argument("--train-copy", action="store_true", help="`heed train copy` as a whole, instead of the models")
    parser.add_argument("--train-text", metavar="FILE", type=pathlib.Path,
                        help="`heed train text FILE` as a whole, 2,000 steps, instead of the models")
    arguments = parser.parse_args()
    if importlib.util.find_spec("torch") is None:
        print("no PyTorch for this Python")
        sys.exit(77)
    if not arguments.program.is_file():
        parser.error(f"{arguments.program} is not there; ./heed builds it, or say --program")
    usable = sorted(os.sched_getaffinity(0))
    counts = arguments.cores or sorted({1, len(usable)})
    if not all(1 <= n <= len(usable) for n in counts):
        parser.error(f"--cores: there are {len(usable)}")
    models = arguments.model or ([] if arguments.attention or arguments.train_copy or arguments.train_text else list(MODELS))

    agree = True
    with tempfile.TemporaryDirectory() as folder:
        for count in counts:
            cores = Cores(arguments.program.resolve(), usable[:count])
            about = cores.torch(dict(do="about"))
            print(f"PyTorch {about['torch']}, {about['blas']}, cores {', '.join(map(str, cores.cores))}", flush=True)
            for name in models:
                agree &= compare_step(cores, name, pathlib.Path(folder), arguments.rounds, arguments.steps)
            if arguments.attention:
                compare_attention(cores, arguments.length, arguments.rounds)
            if arguments.train_copy:
                shape = ["--layers", 2, "--heads", 2, "--d-model", 32, "--batch", 32]
                compare_training(cores, ["copy", *shape], pathlib.Path(folder), arguments.rounds, arguments.steps or 1000)
            if arguments.train_text:
                compare_training(cores, ["text", arguments.train_text.resolve()], pathlib.Path(folder), arguments.rounds,
                                 arguments.steps or 2000)
            cores.close()
    sys.exit(0 if agree else 1)


if __name__ == "__main__":
    main()
