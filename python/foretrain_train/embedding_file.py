# SPDX-License-Identifier: Apache-2.0
"""Writes the trained encoder as the program reads it, and what PyTorch answers with it.

    python -m foretrain_train.embedding_file --checkpoint build/embedding/main.pt \\
        --set build/embedding/set -o data/embeddings/digits.json \\
        --reference tests/embedding/reference.json

The reference holds PyTorch's embeddings of some models; a test compares the program's with them.
"""

import argparse
import base64
import json
import zlib
from pathlib import Path

import torch

from .graph_input import FEATURES, KINDS, MOST_VIRTUAL, REACH
from .graph_set import load_model
from .hypernetwork import MESSAGE, WIDTH, make_batch
from .train import Data, load

COMMAND = "make embedding"
REFERENCE = [
    "random:family=cnn,image=8,classes=10,seed=3", "random:family=cnn,image=64,seed=11",
    "random:family=mlp,seed=2", "random:family=lstm,seed=5", "random:family=transformer,seed=4",
    "resnet18", "vgg16", "densenet121", "mobilenet_v2", "inception_v3", "bert-base", "gpt2",
]  # fmt: skip


def encoded(tensor):
    return base64.b64encode(tensor.detach().contiguous().numpy().astype("<f4").tobytes()).decode()


def dense(name, layer):
    """PyTorch keeps weights as outputs x inputs; ours lie as inputs x outputs."""
    return {name + ".weights": layer.weight.t(), name + ".bias": layer.bias.reshape(1, -1)}


def encoder_parameters(encoder):
    """By name, in the order of foretrain/learn/gated_graph.cc."""
    gru = encoder.gru
    made = {
        "features.mean": encoder.mean.float().reshape(1, -1),
        "features.deviation": encoder.deviation.float().reshape(1, -1),
        "kinds": encoder.kinds.weight,
        **dense("sizes", encoder.sizes),
    }
    for name, network in (("near", encoder.near), ("far", encoder.far)):
        made |= dense(name + ".first", network[0]) | dense(name + ".second", network[2])
    for name, weight, bias in (
        ("gru.input", gru.weight_ih, gru.bias_ih),
        ("gru.state", gru.weight_hh, gru.bias_hh),
    ):
        made |= {name + ".weights": weight.t(), name + ".bias": bias.reshape(1, -1)}
    made |= {"norm.gain": encoder.norm.weight.reshape(1, -1)}
    made |= {"norm.bias": encoder.norm.bias.reshape(1, -1)}
    return made | dense("totals", encoder.totals)


@torch.no_grad()
def embeddings(encoder, graphs):
    rows = []
    for first in range(0, len(graphs), 50):
        batch = make_batch(graphs[first : first + 50])
        rows.append(encoder.embed(batch, encoder(batch)))
    return torch.cat(rows)


def file_of(encoder, graphs):
    """The file as an object. `graphs`: those that distances are measured against."""
    rows = embeddings(encoder, graphs)
    matrices = encoder_parameters(encoder)
    matrices["embedding.centre"] = rows.mean(0, keepdim=True)
    matrices["embedding.spread"] = rows.std(0, keepdim=True).clamp_min(1e-3)
    file = {
        "format": "foretrain-embedding", "version": 1, "dataset": "digits", "command": COMMAND,
        "kinds": KINDS, "features": FEATURES, "reach": REACH, "most_virtual": MOST_VIRTUAL,
        "width": WIDTH, "message": MESSAGE,
        "parameters": [
            {"name": name, "rows": matrix.shape[0], "columns": matrix.shape[1],
             "data": encoded(matrix)} for name, matrix in matrices.items()
        ],
    }  # fmt: skip
    summed = json.dumps(file, sort_keys=True, separators=(",", ":"))
    file["checksum"] = zlib.crc32(summed.encode())
    return file


def text_of(file):
    """One line for each field and parameter."""
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in file.items()
             if key != "parameters"]  # fmt: skip
    rows = ",\n".join("  " + json.dumps(row) for row in file["parameters"])
    return "{\n" + ",\n".join([*lines, f'"parameters": [\n{rows}\n]']) + "\n}\n"


def reference_of(encoder, checksum, program):
    models = []
    for model in REFERENCE:
        graph = load_model(program, model)[1]
        numbers = embeddings(encoder, [graph])[0].tolist()
        models.append({"model": model, "nodes": len(graph.kinds), "edges": len(graph.edges),
                       "embedding": numbers})  # fmt: skip
    return {"checksum": checksum, "models": models}


def main(arguments=None):
    parser = argparse.ArgumentParser(description="write the shipped embedding")
    parser.add_argument("--checkpoint", required=True, type=Path)
    parser.add_argument("--set", required=True, type=Path)
    parser.add_argument("--program", default="build/release/foretrain")
    parser.add_argument("-o", "--out", required=True, type=Path)
    parser.add_argument("--reference", type=Path)
    given = parser.parse_args(arguments)
    torch.set_num_threads(1)
    data = Data(given.set)
    network, _, _ = load(data, given.checkpoint)
    file = file_of(network.encoder, data.trained + data.others)
    given.out.write_text(text_of(file))
    print(f"{given.out}: {given.out.stat().st_size / 1e3:.0f} kB")
    if given.reference:
        reference = reference_of(network.encoder, file["checksum"], given.program)
        given.reference.parent.mkdir(parents=True, exist_ok=True)
        given.reference.write_text(json.dumps(reference, indent=1) + "\n")


if __name__ == "__main__":
    main()
