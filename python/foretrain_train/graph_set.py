# SPDX-License-Identifier: Apache-2.0
"""Random architectures of the program's zoo, as the hypernetwork's training wants them.

    python -m foretrain_train.graph_set --program build/release/foretrain -o build/embedding/set

Classifiers of 8 x 8 images that are small enough to be run are the hypernetwork's; larger ones and
those of other families teach the embedding sizes and operators. Nothing of the zoo's published
models is among them.
"""

import argparse
import gzip
import json
import subprocess
from dataclasses import asdict
from pathlib import Path

from .graph_input import GraphInput, graph_input

RUN_FLOPS = 0.8e6  # of one image; larger classifiers are not run
RUN_NODES = 50
TRAINED = 1700  # architectures whose weights are generated in training
HELD_OUT = 200  # and those that are kept for the test
OTHERS = {
    "random:family=cnn,image=32,seed={}": 80,
    "random:family=cnn,image=128,seed={}": 80,
    "random:family=cnn,image=224,classes=1000,seed={}": 80,
    "random:family=mlp,seed={}": 40,
    "random:family=lstm,seed={}": 40,
    "random:family=transformer,seed={}": 80,
}
RUN = "random:family=cnn,image=8,classes=10,seed={}"
OTHER_SEEDS = 1_000_000  # so that no other architecture is one of those that are run


def ask(program, *arguments):
    done = subprocess.run([program, "graph", *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{program} graph {' '.join(arguments)}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def load_model(program, model):
    """A model as (file, graph)."""
    file = ask(program, model, "--ftg", "-")
    graph = graph_input(file, ask(program, model, "--json"))
    graph.name = model
    return file, graph


def small(summary):
    nodes = sum(line["phase"] == "forward" for line in summary["nodes"])
    return summary["forward_flops"] <= RUN_FLOPS and nodes <= RUN_NODES


def draw_run(program, wanted, say):
    """The first `wanted` architectures that are small enough to run."""
    found, seed = [], 0
    while len(found) < wanted:
        model = RUN.format(seed)
        seed += 1
        summary = ask(program, model, "--json")
        if not small(summary):
            continue
        file = ask(program, model, "--ftg", "-")
        graph = graph_input(file, summary)
        graph.name = model
        found.append((file, graph))
        say("classifiers to run", len(found), wanted)
    return found


def draw_others(program, scale, say):
    graphs = []
    counts = {model: max(1, round(count * scale)) for model, count in OTHERS.items()}
    for model, count in counts.items():
        for seed in range(count):
            graphs.append(load_model(program, model.format(OTHER_SEEDS + seed))[1])
            say("other graphs", len(graphs), sum(counts.values()))
    return graphs


def write_set(path, run, others):
    with gzip.open(path, "wt", compresslevel=3) as out:
        for file, graph in run:
            out.write(json.dumps({"file": file, "graph": asdict(graph)}) + "\n")
        for graph in others:
            out.write(json.dumps({"file": None, "graph": asdict(graph)}) + "\n")


def read_set(path):
    run, others = [], []
    with gzip.open(path, "rt") as lines:
        for line in lines:
            record = json.loads(line)
            graph = GraphInput(**record["graph"])
            if record["file"] is None:
                others.append(graph)
            else:
                run.append((record["file"], graph))
    return run, others


def main(arguments=None):
    parser = argparse.ArgumentParser(description="draw the architectures")
    parser.add_argument("--program", default="build/release/foretrain")
    parser.add_argument("--scale", type=float, default=1, help="of the counts; for trials")
    parser.add_argument("-o", "--out", required=True, type=Path)
    given = parser.parse_args(arguments)
    if given.out.exists():
        return

    def say(what, done, wanted):
        if done % 100 == 0 or done == wanted:
            print(f"{what}: {done} of {wanted}", flush=True)

    given.out.parent.mkdir(parents=True, exist_ok=True)
    run = draw_run(given.program, round((TRAINED + HELD_OUT) * given.scale), say)
    others = draw_others(given.program, given.scale, say)
    part = given.out.with_suffix(".part")
    write_set(part, run, others)
    part.rename(given.out)
    print(f"{len(run)} classifiers to run, {len(others)} other graphs: {given.out}")


if __name__ == "__main__":
    main()
