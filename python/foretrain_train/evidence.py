# SPDX-License-Identifier: Apache-2.0
"""What the embedding is worth, as numbers for docs/embedding.md (tools/write_embedding.py).

    python -m foretrain_train.evidence --set build/embedding/set --folder build/embedding \\
        -o build/embedding/evidence.json

Accuracies of generated weights on architectures that no step trained; how often the nearest of the
zoo's models is of the same family, with the trained encoder, one that learned the self-supervised
targets alone, one that learned nothing, and sizes alone; a map of the zoo.
"""

import argparse
import json
import subprocess
import time
from pathlib import Path

import torch

from .embedding_file import embeddings
from .graph_set import load_model, read_set, write_set
from .train import Data, Setting, accuracies, load, make_network

SIZES = ["log_flops", "log_parameters", "log_activation_bytes"]
BULK = [f"random:family=cnn,image=8,seed={seed}" for seed in range(400)]


def zoo_graphs(program, path):
    """The zoo's graphs with their families; read once, then kept in `path`."""
    listed = subprocess.run([program, "models", "--json"], capture_output=True, check=True)
    models = [m for m in json.loads(listed.stdout) if m["name"] != "random"]
    if not path.exists():
        write_set(path, [], [load_model(program, model["name"])[1] for model in models])
    families = {model["name"]: model["family"] for model in models}
    graphs = read_set(path)[1]
    return graphs, [families[graph.name] for graph in graphs]


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


def in_spreads(rows, like):
    return ((rows - like.mean(0)) / like.std(0).clamp_min(1e-3)).double()


def encoder_rows(encoder, graphs, trained):
    return in_spreads(embeddings(encoder, graphs), embeddings(encoder, trained))


def size_rows(graphs, names):
    rows = torch.tensor([[graph.targets[name] for name in names] for graph in graphs])
    return in_spreads(rows, rows)


def plane(rows):
    """The two directions of most variance, signs fixed."""
    centred = rows - rows.mean(0)
    _, spread, directions = torch.linalg.svd(centred, full_matrices=False)
    directions = directions[:2] * directions[:2].sum(1, keepdim=True).sign()
    shares = (spread.square() / spread.square().sum())[:2]
    return (centred @ directions.T).tolist(), shares.tolist()


def speed(program):
    """Seconds of one cold call, and models per second of one call with many, on one thread."""
    def run(*models):
        began = time.perf_counter()
        subprocess.run([program, "embed", *models, "--json"], capture_output=True, check=True)
        return time.perf_counter() - began

    cold = {model: min(run(model) for _ in range(5)) for model in ("resnet50", "gpt2", "resnet152")}
    alone = min(run(BULK[0]) for _ in range(5))
    many = min(run(*BULK) for _ in range(5))
    return {"cold_s": cold, "bulk_per_s": (len(BULK) - 1) / (many - alone)}


def main(arguments=None):
    parser = argparse.ArgumentParser(description="what the embedding is worth")
    parser.add_argument("--set", required=True, type=Path)
    parser.add_argument("--folder", required=True, type=Path, help="of the checkpoints")
    parser.add_argument("--program", default="build/release/foretrain")
    parser.add_argument("-o", "--out", required=True, type=Path)
    given = parser.parse_args(arguments)
    torch.set_num_threads(1)
    data = Data(given.set)
    graphs, families = zoo_graphs(given.program, given.folder / "zoo")
    trained = data.trained[:300] + data.others[::4]
    main_network, setting, state = load(data, given.folder / "main.pt")
    told_network, _, told_state = load(data, given.folder / "targets.pt")
    untrained = make_network(data, Setting(seed=setting.seed))
    rows = {
        "hypernetwork": encoder_rows(main_network.encoder, graphs, trained),
        "self-supervised alone": encoder_rows(told_network.encoder, graphs, trained),
        "not trained": encoder_rows(untrained.encoder, graphs, trained),
        "FLOPs alone": size_rows(graphs, SIZES[:1]),
        "FLOPs, parameters, activations": size_rows(graphs, SIZES),
    }
    points, shares = plane(rows["hypernetwork"])
    evidence = {
        "classifiers": len(data.trained), "others": len(data.others),
        "held_out": accuracies(main_network, data, data.held_out),
        "steps": state["step"], "schedule": setting.steps, "cpu_s": state["seconds"],
        "targets_steps": told_state["step"],
        "compare": json.loads((given.folder / "compare.json").read_text()),
        "retrieval": {name: retrieval(one, families) for name, one in rows.items()},
        "map": [[graph.name, family, *point]
                for graph, family, point in zip(graphs, families, points, strict=True)],
        "map_shares": shares,
        "speed": speed(given.program),
    }  # fmt: skip
    given.out.write_text(json.dumps(evidence))


if __name__ == "__main__":
    main()
