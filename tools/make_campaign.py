# SPDX-License-Identifier: Apache-2.0
"""Writes data/lab/campaign.json: which real jobs the lab measures.

    tools/make_campaign.py build/release/foretrain >data/lab/campaign.json

Models are named ones and drawn ones of every family. Each gets batches at which a step on one core
takes 50 to 250 ms by a rough estimate from what `foretrain graph` counts (checked against 20 models
on a 2.x GHz server core: half to one and a half times the truth). Everything that is drawn comes from
one seed, so the same program writes the same bytes. The test split is chosen by architecture, here,
before anything is measured.
"""
import concurrent.futures
import json
import random
import subprocess
import sys

SEED = 20261117
BATCHES = [2**i for i in range(13)]
STEP_S = (0.05, 0.25)  # estimates accepted
MOST_PARAMETERS = 8e6  # of the base setting: 32 MB over 1 Gb/s are 0.26 s
MOST_PARAMETERS_SLOW = 1.6e6  # over 100 Mb/s: 0.5 s
MOST_PARAMETERS_OTHER = 5e6
OTHER_TRAIN, OTHER_TEST = 24, 16  # architectures in each setting but the base
TEST_SHARE = 0.2
SECOND_BATCH = 3  # of the architectures to train on every third has two batches; of the test split all have
OPTIMIZERS = ["sgd", "momentum", "adam", "adamw"]
WHOLE_TRAIN, WHOLE_TEST = 14, 6
WHOLE_WORKERS = [1, 2, 3, 4]
WHOLE_STEPS = [16, 48, 144]  # of all workers together: the data sets are of three sizes
MOST_PARAMETERS_WHOLE = 3e6
WHOLE_STEP_S = 0.1  # the estimate of a step is near this

BASE = "ddp2-core-1g"
SETTINGS = {
    BASE: {"workers": 2, "cores": 1, "strategy": {"kind": "ddp"}, "network": "1gbps"},
    "ddp2-core-100m": {"workers": 2, "cores": 1, "strategy": {"kind": "ddp"}, "network": "100mbps"},
    "ddp2-half-1g": {"workers": 2, "cores": 0.5, "strategy": {"kind": "ddp"}, "network": "1gbps"},
    "p1w2-core-1g": {
        "workers": 2,
        "cores": 1,
        "strategy": {"kind": "ps", "servers": 1, "asynchronous": False},
        "network": "1gbps",
    },
    "p2w2-core-free": {
        "workers": 2,
        "cores": 1,
        "strategy": {"kind": "ps", "servers": 2, "asynchronous": False},
    },
    "p1w2a-core-1g": {
        "workers": 2,
        "cores": 1,
        "strategy": {"kind": "ps", "servers": 1, "asynchronous": True},
        "network": "1gbps",
    },
}
# Whole jobs: quotas of four workers sum to less than two cores.
WHOLE_SETTINGS = {
    f"ddp{n}-quota-1g": {"workers": n, "cores": 0.45, "strategy": {"kind": "ddp"}, "network": "1gbps"}
    for n in WHOLE_WORKERS
}

TINY = "image=64,classes=200"  # as Tiny ImageNet; the others are as CIFAR-10
NAMED = [
    *(f"resnet{n}-cifar" for n in (18, 20, 32, 44, 56, 110)),
    "densenet40-k12",
    *(f"{name}:{TINY}" for name in (
        "resnet18", "squeezenet1_0", "squeezenet1_1", "mobilenet_v2", "mobilenet_v3_small",
        "mobilenet_v3_large", "shufflenet_v2_x0_5", "shufflenet_v2_x1_0", "shufflenet_v2_x1_5",
        "shufflenet_v2_x2_0", "mnasnet0_5", "mnasnet1_0", "mnasnet1_3", "efficientnet_b0",
        "efficientnet_b1", "regnet_y_400mf", "regnet_y_800mf", "regnet_x_400mf", "regnet_x_800mf",
        "googlenet",
    )),
    *(f"{name}:image=32,classes=10" for name in (
        "mobilenet_v2", "mobilenet_v3_small", "shufflenet_v2_x1_0", "efficientnet_b0",
        "regnet_x_400mf", "mnasnet1_0",
    )),
    *(f"gpt:layers={l},hidden={h},heads=4,seq={s},vocab={v}" for l, h, s, v in (
        (2, 128, 64, 2000), (4, 128, 32, 5000), (4, 256, 64, 4000), (6, 192, 32, 8000),
    )),
    *(f"llama:layers={l},hidden={h},heads=4,kv_heads=2,ffn={2 * h},seq={s},vocab=4000"
      for l, h, s in ((2, 128, 64), (4, 256, 32))),
    *(f"lstm-lm:vocab={v}" for v in (2000, 6000)),
    "mlp",
]  # fmt: skip
DRAWN = {  # family: how many, extra parameters in turn
    "cnn": (70, ["", f",{TINY}"]),
    "lstm": (44, [",seq=16", ",seq=32", ",seq=64"]),
    "transformer": (28, [",seq=16", ",seq=32", ",seq=64"]),
    "mlp": (16, [""]),
}


def drawn(family, seed):
    extras = DRAWN[family][1]
    return f"random:family={family},seed={seed}{extras[seed % len(extras)]}"


def counts(program, model, batch):
    text = subprocess.run(
        [program, "graph", model, "--json", "--batch", str(batch)], capture_output=True, text=True
    )
    if text.returncode != 0:
        return None
    graph = json.loads(text.stdout)
    moved = sum(node["read_bytes"] + node["written_bytes"] for node in graph["nodes"])
    flops = graph["forward_flops"] + graph["backward_flops"]
    return flops, moved, len(graph["nodes"]), graph["parameters"]


def estimate(one, two, batch):
    """Seconds of a step at `batch`, from the counts at batches of one and two."""
    flops, moved = (one[i] + (two[i] - one[i]) * (batch - 1) for i in (0, 1))
    return flops / 110e9 + moved / 6e9 + one[2] * 25e-6 + one[3] * 24 / 15e9


def look(program, model):
    """The model's parameters and the batches that suit it with their steps; None where it does not run here."""
    one = counts(program, model, 1)
    if one is None or one[3] > MOST_PARAMETERS:
        return None
    two = counts(program, model, 2)
    steps = {b: estimate(one, two, b) for b in BATCHES if b >= 2}  # batch norm needs two
    fitting = {b: step for b, step in steps.items() if STEP_S[0] <= step <= STEP_S[1]}
    return (model, one[3], fitting) if fitting else None


def choose(program):
    """Every model with its parameters and its batches, in the order of the lists."""
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        found = [f for f in pool.map(lambda m: look(program, m), NAMED) if f]
        for family, (wanted, _) in DRAWN.items():
            suitable = []
            for start in range(1, 4 * wanted, wanted):
                seeds = range(start, start + wanted)
                models = [drawn(family, seed) for seed in seeds]
                suitable += [f for f in pool.map(lambda m: look(program, m), models) if f]
            found += suitable[:wanted]
    return found


def spread(models, count, draw):
    """`count` of the models, evenly over their kinds."""
    kinds = {}
    for entry in models:
        kinds.setdefault(entry[0].split(",")[0] if entry[0].startswith("random") else "named", []).append(entry)
    picked, queues = [], [draw.sample(group, len(group)) for _, group in sorted(kinds.items())]
    while len(picked) < count and any(queues):
        for queue in queues:
            if queue and len(picked) < count:
                picked.append(queue.pop())
    return [entry for entry in models if entry in picked]


def jobs(entries, settings, **whole):
    """Entries (model, optimizer, batches) with equal batches and optimizer make one job."""
    groups = {}
    for model, optimizer, batches in entries:
        groups.setdefault((tuple(batches), optimizer), []).append(model)
    return [
        {"models": models, "batches": list(batches), "optimizers": [optimizer], "settings": settings, **whole}
        for (batches, optimizer), models in sorted(groups.items())
    ]


def some(models, limit, test, counts, draw):
    """Models of at most `limit` parameters: so many (train, test) of each split."""
    small = [m for m in models if m[1] <= limit]
    parts = [[m for m in small if (m[0] in test) == wanted] for wanted in (False, True)]
    return [entry for part, count in zip(parts, counts) for entry in spread(part, count, draw)]


def whole_jobs(chosen, optimizers):
    """Jobs from start to end: every model with one to four workers and three sizes of the data set."""
    result = []
    for model, _, steps in chosen:
        batch = min(steps, key=lambda b: abs(steps[b] - WHOLE_STEP_S))
        for count in WHOLE_STEPS:
            result += jobs([(model, optimizers[model], [batch])], list(WHOLE_SETTINGS), samples=batch * count, epochs=1)
    return result


def campaign(program):
    draw = random.Random(SEED)
    models = choose(program)
    names = [model for model, _, _ in models]
    test = sorted(draw.sample(names, round(TEST_SHARE * len(names))))
    optimizers = {model: draw.choice(OPTIMIZERS) for model in names}

    def entry(index, model, steps):
        ends = sorted({min(steps), max(steps)})
        first = index % 2 if model not in test and index % SECOND_BATCH else None
        return model, optimizers[model], ends if first is None else ends[-first:][:1]

    def other(limit):
        chosen = some(models, limit, test, (OTHER_TRAIN, OTHER_TEST), draw)
        return [(model, optimizers[model], [min(steps)]) for model, _, steps in chosen]

    return {
        "format": "foretrain-campaign",
        "version": 1,
        "name": "lab",
        "about": f"written by tools/make_campaign.py, seed {SEED}",
        "seconds": 2.5,
        "steps": 10,
        "warm_up": 2,
        "repeats": 3,
        "test": test,
        "settings": SETTINGS | WHOLE_SETTINGS,
        "jobs": [
            *jobs([entry(i, model, steps) for i, (model, _, steps) in enumerate(models)], [BASE]),
            *jobs(other(MOST_PARAMETERS_SLOW), ["ddp2-core-100m"]),
            *jobs(other(MOST_PARAMETERS_OTHER), [s for s in SETTINGS if s not in (BASE, "ddp2-core-100m")]),
            *whole_jobs(some(models, MOST_PARAMETERS_WHOLE, test, (WHOLE_TRAIN, WHOLE_TEST), draw), optimizers),
        ],
    }


def text_of(value, indent=0):
    """JSON with short lists on one line and long ones wrapped."""
    flat = json.dumps(value)
    if len(flat) + indent <= 110 or not isinstance(value, dict | list):
        return flat
    pad = " " * (indent + 1)
    if isinstance(value, dict):
        lines = [f"{pad}{json.dumps(k)}: {text_of(v, indent + 1)}" for k, v in value.items()]
        return "{\n" + ",\n".join(lines) + "\n" + " " * indent + "}"
    return "[\n" + ",\n".join(pad + text_of(v, indent + 1) for v in value) + "\n" + " " * indent + "]"


if __name__ == "__main__":
    print(text_of(campaign(sys.argv[1])))
