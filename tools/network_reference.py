# SPDX-License-Identifier: Apache-2.0
"""network_reference.py OUT: what PyTorch answers for small networks over graphs, one JSON file per network.

Each holds the network in the format of foretrain/learn/network_file.h, two graphs with targets, PyTorch's
outputs, the gradients of the mean of squares, and the parameters after three steps of Adam. Needs torch;
tests compare foretrain/learn and foretrain/train with the files that are kept in tests/networks.
"""
import base64
import json
import os
import random
import sys
import zlib

import torch
from torch import nn

WIDTH, DEPTH, STEPS, FEATURES, OUTPUTS = 8, 6, 5, 3, 4
CASES = [("gcn", "set2set"), ("gin", "mean"), ("gat", "max"), ("mpnn", "attention")]
RATE, DECAY, UPDATES = 0.003, 1e-6, 3


def encoded(tensor):
    return base64.b64encode(tensor.detach().contiguous().numpy().astype("<f4").tobytes()).decode()


def dense(tensors, name, inputs, outputs):
    layer = nn.Linear(inputs, outputs)
    tensors[name + ".weights"] = layer.weight.detach().t().contiguous()
    tensors[name + ".bias"] = layer.bias.detach().reshape(1, -1)


def cell(tensors, name, module):
    """PyTorch keeps weights as gates x inputs; ours lie as inputs x gates."""
    tensors[name + ".input_weights"] = module.weight_ih.detach().t().contiguous()
    tensors[name + ".state_weights"] = module.weight_hh.detach().t().contiguous()
    tensors[name + ".input_bias"] = module.bias_ih.detach().reshape(1, -1)
    tensors[name + ".state_bias"] = module.bias_hh.detach().reshape(1, -1)


def make_parameters(convolution, readout):
    tensors = {}
    for name, inputs in (("first", FEATURES), ("repeated", WIDTH)):
        dense(tensors, name, inputs, WIDTH)
        if convolution == "gin":
            dense(tensors, name + ".second", WIDTH, WIDTH)
        if convolution == "gat":
            tensors[name + ".left"] = torch.randn(WIDTH, 1) * 0.3
            tensors[name + ".right"] = torch.randn(WIDTH, 1) * 0.3
    cell(tensors, "gru", nn.GRUCell(WIDTH, WIDTH))
    if readout == "set2set":
        cell(tensors, "set2set", nn.LSTMCell(2 * WIDTH, WIDTH))
    if readout == "attention":
        dense(tensors, "attention", WIDTH, WIDTH)
        tensors["attention.scores"] = torch.randn(WIDTH, 1) * 0.3
    dense(tensors, "dense1", 2 * WIDTH if readout == "set2set" else WIDTH, WIDTH)
    dense(tensors, "dense2", WIDTH, WIDTH)
    dense(tensors, "dense3", WIDTH, OUTPUTS)
    return {name: nn.Parameter(tensor.clone()) for name, tensor in tensors.items()}


def make_graph(draw, nodes):
    edges = [(i, draw.randrange(i)) for i in range(1, nodes)]
    edges += [(draw.randrange(nodes), draw.randrange(nodes)) for _ in range(nodes // 2)]
    return {"nodes": torch.rand(nodes, FEATURES), "edges": edges, "targets": torch.rand(OUTPUTS)}


def adjacency(graph, convolution):
    count = len(graph["nodes"])
    matrix = torch.zeros(count, count)
    for a, b in graph["edges"]:
        if a != b:
            matrix[a, b] = matrix[b, a] = 1
    if convolution == "mpnn":
        return matrix
    matrix += torch.eye(count)
    if convolution == "gcn":
        scale = matrix.sum(1).pow(-0.5)
        matrix = scale[:, None] * matrix * scale[None, :]
    return matrix


def linear(p, name, x):
    return x @ p[name + ".weights"] + p[name + ".bias"]


def convolve(p, name, convolution, matrix, x):
    leaky = nn.functional.leaky_relu
    if convolution == "gcn":
        return leaky(matrix @ (x @ p[name + ".weights"]) + p[name + ".bias"])
    if convolution == "gin":
        return leaky(linear(p, name + ".second", leaky(linear(p, name, matrix @ x))))
    if convolution == "gat":
        z = x @ p[name + ".weights"]
        scores = leaky(z @ p[name + ".left"] + (z @ p[name + ".right"]).t(), 0.2)
        shares = torch.softmax(scores.masked_fill(matrix == 0, float("-inf")), 1)
        return leaky(shares @ z + p[name + ".bias"])
    return matrix @ leaky(linear(p, name, x))


def step_cell(function, p, name, x, state):
    return function(x, state, p[name + ".input_weights"].t(), p[name + ".state_weights"].t(),
                    p[name + ".input_bias"].reshape(-1), p[name + ".state_bias"].reshape(-1))


def read_out(p, readout, x):
    if readout == "mean":
        return x.mean(0, keepdim=True)
    if readout == "max":
        return x.max(0, keepdim=True).values
    if readout == "attention":
        scores = torch.tanh(linear(p, "attention", x)) @ p["attention.scores"]
        return torch.softmax(scores, 0).t() @ x
    query, state = torch.zeros(1, 2 * WIDTH), (torch.zeros(1, WIDTH), torch.zeros(1, WIDTH))
    for _ in range(STEPS):
        state = step_cell(torch.lstm_cell, p, "set2set", query, state)
        read = torch.softmax(x @ state[0].t(), 0).t() @ x
        query = torch.cat([state[0], read], 1)
    return query


def answer(p, convolution, readout, graph):
    matrix = adjacency(graph, convolution)
    state = graph["nodes"]
    for i in range(DEPTH):
        message = convolve(p, "first" if i == 0 else "repeated", convolution, matrix, state)
        before = nn.functional.pad(state, (0, WIDTH - state.shape[1]))
        state = step_cell(torch.gru_cell, p, "gru", before, message)
    x = torch.relu(linear(p, "dense1", read_out(p, readout, state)))
    x = torch.relu(linear(p, "dense2", x))
    return linear(p, "dense3", x).reshape(-1)


def loss_of(p, convolution, readout, graphs):
    outputs = torch.stack([answer(p, convolution, readout, graph) for graph in graphs])
    targets = torch.stack([graph["targets"] for graph in graphs])
    return outputs, nn.functional.mse_loss(outputs, targets)


def network_json(p, convolution, readout):
    shape = {"convolution": convolution, "readout": readout, "gru": True, "features": FEATURES, "whole_features": 0,
             "width": WIDTH, "depth": DEPTH, "readout_steps": STEPS, "outputs": OUTPUTS, "leaky_outputs": False}
    network = {"shape": shape,
               "parameters": [{"name": name, "rows": tensor.shape[0], "columns": tensor.shape[1], "data": encoded(tensor)}
                              for name, tensor in p.items()]}
    bytes_of = json.dumps(network, sort_keys=True, separators=(",", ":")).encode()
    return {**network, "checksum": zlib.crc32(bytes_of)}


def reference(convolution, readout, draw):
    p = make_parameters(convolution, readout)
    graphs = [make_graph(draw, nodes) for nodes in (9, 14)]
    network = network_json(p, convolution, readout)
    adam = torch.optim.Adam(p.values(), lr=RATE, weight_decay=DECAY)
    first = None
    for _ in range(UPDATES):
        adam.zero_grad()
        outputs, loss = loss_of(p, convolution, readout, graphs)
        loss.backward()
        if first is None:
            first = (encoded(outputs), [encoded(tensor.grad) for tensor in p.values()])
        adam.step()
    return {"network": network,
            "graphs": [{"nodes": encoded(graph["nodes"]), "edges": graph["edges"], "targets": encoded(graph["targets"])}
                       for graph in graphs],
            "outputs": first[0], "gradients": first[1], "updates": UPDATES,
            "updated": [encoded(tensor) for tensor in p.values()]}


def main():
    torch.manual_seed(7)
    draw = random.Random(7)
    for convolution, readout in CASES:
        path = os.path.join(sys.argv[1], f"{convolution}_{readout}.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(reference(convolution, readout, draw), file, separators=(",", ":"))
            file.write("\n")


main()
