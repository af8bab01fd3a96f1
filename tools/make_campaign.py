# SPDX-License-Identifier: Apache-2.0
"""Writes data/lab/campaign.json: which real jobs the lab measures.

    tools/make_campaign.py build/release/foretrain >data/lab/campaign.json

Models are named ones and drawn ones of every family. Each gets batches at which a step on one core
takes 50 to 400 ms by a rough estimate from what `foretrain graph` counts (checked against 20 models
on a 2.x GHz server core: half to one and a half times the truth). Everything that is drawn comes from
one seed, so the same program writes the same bytes. The test split is chosen by architecture, here,
before anything is measured.
"""
import concurrent.futures
import json
import random
import subprocess
import sys

SEED = 20261116
BATCHES = [2**i for i in range(13)]
STEP_S = (0.06, 0.34)  # estimates accepted
MOST_PARAMETERS = 12e6  # of the base setting: 48 MB over 1 Gb/s are 0.4 s
MOST_PARAMETERS_SLOW = 1.6e6  # over 100 Mb/s: 0.5 s
MOST_PARAMETERS_OTHER = 5e6
OTHER_CONFIGURATIONS = 84  # in each setting but the base
TEST_SHARE = 0.2
WHOLE_STEPS = 50  # of each epoch
WHOLE_EPOCHS = 3

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
    "cnn": (56, ["", f",{TINY}"]),
    "transformer": (34, [",seq=16", ",seq=32", ",seq=64"]),
    "lstm": (32, [",seq=16", ",seq=32", ",seq=64"]),
    "mlp": (22, [""]),
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
    """The model's parameters and the batches that suit it; None where it does not run here."""
    one = counts(program, model, 1)
    if one is None or one[3] > MOST_PARAMETERS:
        return None
    two = counts(program, model, 2)
    fitting = [b for b in BATCHES if STEP_S[0] <= estimate(one, two, b) <= STEP_S[1]]
    fitting = [b for b in fitting if b >= 2]  # batch norm needs two
    return (model, one[3], fitting) if fitting else None


def choose(program):
    """Every model with its parameters and one or two batches, in the order of the lists."""
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        found = [f for f in pool.map(lambda m: look(program, m), NAMED) if f]
        for family, (wanted, _) in DRAWN.items():
            suitable = []
            for start in range(1, 4 * wanted, wanted):
                seeds = range(start, start + wanted)
                models = [drawn(family, seed) for seed in seeds]
                suitable += [f for f in pool.map(lambda m: look(program, m), models) if f]
            found += suitable[:wanted]
    return [(model, size, sorted({batches[0], batches[-1]})) for model, size, batches in found]


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
    """Entries with equal batches make one job."""
    groups = {}
    for model, batches in entries:
        groups.setdefault(tuple(batches), []).append(model)
    return [
        {"models": models, "batches": list(batches), "settings": settings, **whole}
        for batches, models in sorted(groups.items())
    ]


def whole_jobs(models, draw):
    """Sixty jobs from start to end: most in the base setting."""
    result = []
    plan = {BASE: 36, "ddp2-half-1g": 8, "p1w2-core-1g": 8, "p1w2a-core-1g": 8}
    for setting, count in plan.items():
        limit = MOST_PARAMETERS if setting == BASE else MOST_PARAMETERS_OTHER
        chosen = spread([m for m in models if m[1] <= limit], count, draw)
        for model, _, batches in chosen:
            samples = batches[0] * SETTINGS[setting]["workers"] * WHOLE_STEPS
            result += jobs([(model, batches[:1])], [setting], samples=samples, epochs=WHOLE_EPOCHS)
    merged = {}
    for job in result:
        key = (tuple(job["batches"]), tuple(job["settings"]))
        merged.setdefault(key, {**job, "models": []})["models"] += job["models"]
    return list(merged.values())


def campaign(program):
    draw = random.Random(SEED)
    models = choose(program)
    names = [model for model, _, _ in models]
    test = sorted(draw.sample(names, round(TEST_SHARE * len(names))))
    slow = spread([m for m in models if m[1] <= MOST_PARAMETERS_SLOW], OTHER_CONFIGURATIONS, draw)
    other = spread([m for m in models if m[1] <= MOST_PARAMETERS_OTHER], OTHER_CONFIGURATIONS, draw)
    first = lambda entries: [(model, batches[:1]) for model, _, batches in entries]  # noqa: E731
    return {
        "format": "foretrain-campaign",
        "version": 1,
        "name": "lab",
        "about": f"written by tools/make_campaign.py, seed {SEED}",
        "seconds": 4,
        "steps": 10,
        "warm_up": 3,
        "repeats": 2,
        "test_repeats": 3,
        "test": test,
        "settings": SETTINGS,
        "jobs": [
            *jobs([(model, batches) for model, _, batches in models], [BASE]),
            *jobs(first(slow), ["ddp2-core-100m"]),
            *jobs(first(other), [s for s in SETTINGS if s not in (BASE, "ddp2-core-100m")]),
            *whole_jobs(models, draw),
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
