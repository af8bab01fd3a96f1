# SPDX-License-Identifier: Apache-2.0
"""Trains hypernetworks whose decoders see the graph, a node alone or nothing, with several seeds.

    python -m foretrain_train.compare --set build/embedding/set -o build/embedding/compare.json

All have the same steps. What counts is the accuracy that generated weights have on the test's
images in architectures that no step trained. Runs that are done are kept and not repeated.
"""

import argparse
import json
from pathlib import Path

import torch

from .train import Data, Setting, accuracies, train

INPUTS = ["graph", "nodes", "none"]


def compare(data, seeds, steps, folder, say):
    rows = []
    for seed in range(seeds):
        for kind in INPUTS:
            setting = Setting(steps=steps, seed=100 + seed, input=kind, tasks="weights")
            path = folder / f"compare-{kind}-{setting.seed}-{steps}.pt"
            network, _ = train(data, setting, path, say)
            found = accuracies(network, data, data.held_out)
            rows.append({"input": kind, "seed": setting.seed, "steps": steps, "accuracies": found})
            say(f"{kind}, seed {setting.seed}: {sum(found) / len(found):.3f}")
    return rows


def main(arguments=None):
    parser = argparse.ArgumentParser(description="what the decoder's input is worth")
    parser.add_argument("--set", required=True, type=Path)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("-o", "--out", required=True, type=Path)
    given = parser.parse_args(arguments)
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    rows = compare(Data(given.set), given.seeds, given.steps, given.out.parent,
                   lambda text: print(text, flush=True))  # fmt: skip
    given.out.write_text(json.dumps(rows))


if __name__ == "__main__":
    main()
