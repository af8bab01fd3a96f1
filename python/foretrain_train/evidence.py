# SPDX-License-Identifier: Apache-2.0
"""What the embedding is worth, as numbers for docs/embedding.md (tools/write_embedding.py).

    python -m foretrain_train.evidence --set build/embedding/set --folder build/embedding \\
        -o build/embedding/evidence.json

Accuracies of generated weights on architectures that no step trained; how often the nearest of the
zoo's models is of the same family, with the trained encoder, others that are given, one that
learned nothing, and sizes alone; a map of the zoo. The program embeds the zoo's models.
"""

import argparse
import base64
import json
import re
import resource
import subprocess
from pathlib import Path

import numpy as np
import torch

from .embedding_file import file_of, text_of
from .train import Data, Setting, accuracies, load, make_network

SIZES = ["forward_flops", "parameters", "activation_bytes"]
BULK = [f"random:family=cnn,image=8,seed={seed}" for seed in range(400)]


def ask(program, *arguments):
    return subprocess.run([program, *arguments], capture_output=True, check=True, text=True).stdout


def zoo_models(program):
    """Names and families, without the random ones."""
    models = [m for m in json.loads(ask(program, "models", "--json")) if m["name"] != "random"]
    return [m["name"] for m in models], [m["family"] for m in models]


def zoo_sizes(program, names, path):
    """The logarithms of each model's sizes; asked once, then kept in `path`."""
    if not path.exists():
        rows = []
        for name in names:
            text = ask(program, "graph", name, "--json")[:1000]
            found = [re.search(rf'"{size}":([0-9.e+]+)', text) for size in SIZES]
            rows.append([float(one.group(1)) for one in found])
        path.write_text(json.dumps(rows))
    return torch.tensor(json.loads(path.read_text()), dtype=torch.float64).log1p()


def zoo_rows(program, names, file):
    """The embeddings of these models in spreads of the file's graphs."""
    lines = ask(program, "embed", *names, "--json", "--embedding", str(file)).splitlines()
    rows = torch.tensor([json.loads(line)["embedding"] for line in lines], dtype=torch.float64)
    return rows / spread_of(json.loads(Path(file).read_text()))


def spread_of(file):
    data = next(p["data"] for p in file["parameters"] if p["name"] == "embedding.spread")
    return torch.from_numpy(np.frombuffer(base64.b64decode(data), "<f4").astype(np.float64))


def retrieval(rows, families):
    """Of models whose family has others: the share whose nearest is of their family, and the mean
    average precision of their whole ranking."""
    apart = torch.cdist(rows, rows)
    apart.fill_diagonal_(torch.inf)
    same = torch.tensor([[a == b for a in families] for b in families])
    same.fill_diagonal_(False)
    first, precision = [], []
    for i in range(len(rows)):
        if not same[i].any():
            continue
        order = apart[i].argsort()[:-1]
        hits = same[i][order].double()
        first.append(hits[0].item())
        shares = hits.cumsum(0) / torch.arange(1, len(hits) + 1)
        precision.append(((shares * hits).sum() / hits.sum()).item())
    return {"models": len(first), "nearest": sum(first) / len(first),
            "average_precision": sum(precision) / len(precision)}  # fmt: skip


def standardised(rows):
    return (rows - rows.mean(0)) / rows.std(0)


def plane(rows):
    """The two directions of most variance, signs fixed."""
    centred = rows - rows.mean(0)
    _, spread, directions = torch.linalg.svd(centred, full_matrices=False)
    directions = directions[:2] * directions[:2].sum(1, keepdim=True).sign()
    shares = (spread.square() / spread.square().sum())[:2]
    return (centred @ directions.T).tolist(), shares.tolist()


def speed(program):
    """CPU seconds of one cold call, and models per CPU second of one call with many."""

    def run(*models):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        ask(program, "embed", *models, "--json")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    cold = {model: min(run(model) for _ in range(5)) for model in ("resnet50", "gpt2", "resnet152")}
    alone = min(run(BULK[0]) for _ in range(5))
    many = min(run(*BULK) for _ in range(5))
    return {"cold_s": cold, "bulk_per_s": (len(BULK) - 1) / (many - alone)}


def main(arguments=None):
    parser = argparse.ArgumentParser(description="what the embedding is worth")
    parser.add_argument("--set", required=True, type=Path)
    parser.add_argument("--folder", required=True, type=Path, help="of the checkpoints")
    parser.add_argument("--program", default="build/release/foretrain")
    parser.add_argument("--shipped", default="data/embeddings/digits.json")
    parser.add_argument("-o", "--out", required=True, type=Path)
    given = parser.parse_args(arguments)
    torch.set_num_threads(1)
    data = Data(given.set)
    network, setting, state = load(data, given.folder / "main.pt")
    names, families = zoo_models(given.program)
    rows = {"hypernetwork": zoo_rows(given.program, names, given.shipped)}
    encoders = {"not trained": make_network(data, Setting(seed=setting.seed)).encoder}
    told_steps = 0
    if (given.folder / "targets.pt").exists():
        told, _, told_state = load(data, given.folder / "targets.pt")
        encoders = {"self-supervised alone": told.encoder, **encoders}
        told_steps = told_state["step"]
    for name, encoder in encoders.items():
        path = given.folder / (name.replace(" ", "-") + ".json")
        path.write_text(text_of(file_of(encoder, data.trained[:300] + data.others)))
        rows[name] = zoo_rows(given.program, names, path)
    sizes = standardised(zoo_sizes(given.program, names, given.folder / "sizes.json"))
    rows |= {"FLOPs alone": sizes[:, :1], "FLOPs, parameters, activations": sizes}
    points, shares = plane(rows["hypernetwork"])
    compare = given.folder / "compare.json"
    evidence = {
        "classifiers": len(data.trained), "others": len(data.others),
        "held_out": accuracies(network, data, data.held_out),
        "steps": state["step"], "schedule": setting.steps, "cpu_s": state["seconds"],
        "targets_steps": told_steps,
        "compare": json.loads(compare.read_text()) if compare.exists() else [],
        "retrieval": {name: retrieval(one, families) for name, one in rows.items()},
        "map": [[name, family, *point]
                for name, family, point in zip(names, families, points, strict=True)],
        "map_shares": shares,
        "speed": speed(given.program),
    }  # fmt: skip
    given.out.write_text(json.dumps(evidence))


if __name__ == "__main__":
    main()
