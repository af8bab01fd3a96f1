# SPDX-License-Identifier: Apache-2.0
"""The graph hypernetwork: states of a graph's nodes, weights made from them, the embedding.

After GHN-2 (Knyazev et al., NeurIPS 2021): a gated graph network sweeps once forward and once
backward in topological order, with virtual edges to nodes further away. Sizes are numbers here,
not rows of a table, so that sizes never seen have a meaning. foretrain/learn/gated_graph.cc
evaluates the encoder.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812

from .graph_input import FEATURES, KINDS

WIDTH = 32  # of a node's state
MESSAGE = 16  # hidden width of the networks that make messages
TILE = 16  # channels of the weights that are generated; wider layers repeat them
DENSE_TILE = 64  # inputs of a linear layer's tile
DECODER = 64


@dataclass
class Sweep:
    """Levels of a sweep: nodes that are updated together, and the edges that end at them."""

    order: torch.Tensor  # nodes, level by level
    place: torch.Tensor  # of each node in `order`
    sizes: list[int]  # of the levels
    sources: list[torch.Tensor]  # nodes
    places: list[torch.Tensor]  # within the level
    weights: list[torch.Tensor]  # of an edge: MESSAGE times as a neighbour, then as a virtual one
    sums: torch.Tensor  # of the weights that reach each node of `order`, near and far


@dataclass
class Batch:
    kinds: torch.Tensor
    features: torch.Tensor
    graph_of: torch.Tensor
    graphs: int
    sweeps: tuple[Sweep, Sweep]
    starts: list[int]


def levels_of(count, edges):
    """Of each node the longest way to it, forward and backward. Edges lead to later nodes."""
    ahead, back = [0] * count, [0] * count
    direct = [(a, b) for a, b, steps in edges if steps == 1]
    for a, b in sorted(direct, key=lambda edge: edge[1]):
        ahead[b] = max(ahead[b], ahead[a] + 1)
    for a, b in sorted(direct, key=lambda edge: -edge[0]):
        back[a] = max(back[a], back[b] + 1)
    return np.array(ahead), np.array(back)


def arrays_of(graph):
    """A graph as arrays, made once and kept with it."""
    if not hasattr(graph, "arrays"):
        edges = np.array(graph.edges, dtype=np.int64).reshape(-1, 3)
        levels = levels_of(len(graph.kinds), graph.edges)
        graph.arrays = (np.array(graph.kinds), np.array(graph.features), edges, *levels)
    return graph.arrays


def make_sweep(level, source, target, steps):
    """Nodes by their level, with the edges that end at them."""
    count, levels = len(level), int(level.max()) + 1
    order = np.argsort(level, kind="stable")
    starts = np.searchsorted(level[order], np.arange(levels + 1))
    place = np.empty(count, dtype=np.int64)
    place[order] = np.arange(count)
    by_level = np.argsort(level[target], kind="stable")
    source, target, steps = source[by_level], target[by_level], steps[by_level]
    cuts = np.searchsorted(level[target], np.arange(levels + 1)).tolist()
    weights = np.stack([steps == 1, (steps > 1) / steps], 1).astype(np.float32)
    sums = np.zeros((count, 2), dtype=np.float32)
    np.add.at(sums, place[target], weights)

    def split(array):
        whole = torch.from_numpy(array)
        return [whole[a:b] for a, b in zip(cuts, cuts[1:], strict=False)]

    return Sweep(
        torch.from_numpy(order), torch.from_numpy(place), np.diff(starts).tolist(),
        split(source), split(place[target] - starts[level[target]]),
        split(np.repeat(weights, MESSAGE, axis=1)), torch.from_numpy(sums),
    )  # fmt: skip


def make_batch(graphs):
    parts = [arrays_of(graph) for graph in graphs]
    sizes = [len(part[0]) for part in parts]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    kinds, features, _, ahead, back = (np.concatenate(column) for column in zip(*parts, strict=True))
    shift = [part[2] + [start, start, 0] for part, start in zip(parts, starts, strict=False)]
    first, last, steps = np.concatenate(shift).T
    return Batch(
        torch.from_numpy(kinds), torch.from_numpy(features),
        torch.from_numpy(np.repeat(np.arange(len(graphs)), sizes)), len(graphs),
        (make_sweep(ahead, first, last, steps), make_sweep(back, last, first, steps)),
        starts.tolist(),
    )  # fmt: skip


def message_network():
    return nn.Sequential(nn.Linear(WIDTH, MESSAGE), nn.ReLU(), nn.Linear(MESSAGE, WIDTH))


class Encoder(nn.Module):
    """`input`: what the nodes' states are made from: "graph"; "nodes", a node's own kind and
    sizes without any message; "none", the same state for every node."""

    def __init__(self, input="graph"):
        super().__init__()
        self.input = input
        self.kinds = nn.Embedding(len(KINDS), WIDTH)
        self.sizes = nn.Linear(len(FEATURES), WIDTH)
        self.near = message_network()
        self.far = message_network()
        self.gru = nn.GRUCell(WIDTH, WIDTH)
        self.norm = nn.LayerNorm(WIDTH)
        self.totals = nn.Linear(WIDTH + len(FEATURES), WIDTH)
        self.constant = nn.Parameter(torch.randn(WIDTH))
        self.register_buffer("mean", torch.zeros(len(FEATURES), dtype=torch.float64))
        self.register_buffer("deviation", torch.ones(len(FEATURES), dtype=torch.float64))

    def sweep(self, states, sweep):
        """The second layers of the messages' networks are linear: they are applied to the sums of
        what the first ones gave, once for each receiver."""
        first = torch.cat([self.near[0].weight, self.far[0].weight])
        first_bias = torch.cat([self.near[0].bias, self.far[0].bias])
        second = torch.cat([self.near[2].weight, self.far[2].weight], 1)
        second_bias = torch.stack([self.near[2].bias, self.far[2].bias])
        constants = (sweep.sums @ second_bias).split(sweep.sizes)
        before = states.index_select(0, sweep.order).split(sweep.sizes)
        nodes = sweep.order.split(sweep.sizes)
        hidden = states.new_zeros(len(states), 2 * MESSAGE)
        updates = []
        for i, received in enumerate(constants):
            if len(sweep.sources[i]):
                sent = hidden.index_select(0, sweep.sources[i]) * sweep.weights[i]
                total = states.new_zeros(len(nodes[i]), 2 * MESSAGE)
                total = total.index_add(0, sweep.places[i], sent)
                received = torch.addmm(received, total, second.t())
            updated = self.gru(received, before[i])
            updates.append(updated)
            made = F.relu(torch.addmm(first_bias, updated, first.t()))
            hidden = hidden.index_copy(0, nodes[i], made)
        return torch.cat(updates).index_select(0, sweep.place)

    def standardised(self, batch):
        return ((batch.features - self.mean) / self.deviation).float()

    def forward(self, batch):
        """The nodes' states."""
        if self.input == "none":
            return self.norm(self.constant).expand(len(batch.kinds), WIDTH)
        states = self.kinds(batch.kinds) + self.sizes(self.standardised(batch))
        if self.input == "graph":
            for sweep in batch.sweeps:
                states = self.sweep(states, sweep)
        return self.norm(states)

    def embed(self, batch, states):
        """The mean of a graph's states, and the logarithm of the sum of their exponentials after
        a linear layer that sees the sizes too: what adds up over nodes, on a logarithmic scale."""
        ones = states.new_ones(len(states))
        counts = states.new_zeros(batch.graphs).index_add(0, batch.graph_of, ones).unsqueeze(1)
        sums = states.new_zeros(batch.graphs, WIDTH).index_add(0, batch.graph_of, states)
        logs = self.totals(torch.cat([states, self.standardised(batch)], 1))
        rows = batch.graph_of.unsqueeze(1).expand_as(logs)
        most = logs.new_full((batch.graphs, WIDTH), -torch.inf)
        most = most.scatter_reduce(0, rows, logs, "amax").detach()
        shifted = torch.exp(logs - most[batch.graph_of])
        total = logs.new_zeros(batch.graphs, WIDTH).index_add(0, batch.graph_of, shifted)
        return torch.cat([sums / counts, most + torch.log(total)], 1)


def tiled(tile, size):
    """The first axes of `tile`, repeated until they have `size`."""
    for axis, wanted in enumerate(size):
        times = -(-wanted // tile.shape[axis])
        if times > 1:
            tile = tile.repeat([times if i == axis else 1 for i in range(tile.dim())])
        tile = tile.narrow(axis, 0, wanted)
    return tile


@dataclass
class Wanted:
    """The parameters of one operator: where its state is, and what it has."""

    node: int  # row of the states
    op: str
    tensors: list[int]  # weight, bias
    shapes: list[list[int]]


class Decoder(nn.Module):
    """Weights of convolutions, linear layers and norms from the states of their nodes."""

    def __init__(self):
        super().__init__()
        self.hidden = nn.Sequential(nn.Linear(WIDTH, DECODER), nn.ReLU())
        self.window = nn.Linear(DECODER, TILE * TILE * 9)
        self.point = nn.Linear(DECODER, TILE * TILE)
        self.dense = nn.Linear(DECODER, TILE * DENSE_TILE)
        self.vectors = nn.Linear(DECODER, 2 * TILE)  # gain or scale, bias
        # At first all nodes have nearly the same tile, so that they learn from each other.
        for layer in (self.window, self.point, self.dense):
            nn.init.normal_(layer.bias, std=0.2)

    def tiles(self, wanted, hidden):
        """Of each operator its tile, None for norms; those of one form are made at once."""
        forms = {
            "window": (self.window, (TILE, TILE, 3, 3)),
            "point": (self.point, (TILE, TILE, 1, 1)),
            "dense": (self.dense, (TILE, DENSE_TILE)),
        }
        found = [None] * len(wanted)
        for form, (layer, shape) in forms.items():
            places = [i for i, one in enumerate(wanted) if form_of(one) == form]
            if places:
                made = layer(hidden[places]).view(-1, *shape)
                for place, tile in zip(places, made.unbind(0), strict=True):
                    found[place] = tile
        return found

    def forward(self, wanted, states):
        """Parameters by their tensor, of each of `wanted`."""
        hidden = self.hidden(states[[one.node for one in wanted]])
        vectors = self.vectors(hidden)
        gains = (2 * torch.sigmoid(vectors[:, :TILE])).unbind(0)
        biases = torch.tanh(vectors[:, TILE:]).unbind(0)
        made = []
        for one, tile, gain, bias in zip(
            wanted, self.tiles(wanted, hidden), gains, biases, strict=True
        ):
            weight = tiled(gain, one.shapes[0]) if tile is None else scaled(tile, one.shapes[0])
            if tile is not None:
                weight = weight * gain[0]
            values = [weight, *(tiled(bias, shape) for shape in one.shapes[1:])]
            made.append(dict(zip(one.tensors, values, strict=True)))
        return made


def form_of(wanted):
    if wanted.op == "batch_norm":
        return "norm"
    shape = wanted.shapes[0]
    return "dense" if len(shape) == 2 else "point" if shape[2] == 1 else "window"


def scaled(tile, shape):
    """A weight of this shape, whose variance keeps that of what passes through (He et al.)."""
    if len(shape) == 4 and shape[2] > 3:
        tile = F.interpolate(tile, shape[2:], mode="bilinear", align_corners=True)
    weight = tiled(tile, shape[:2])
    fan_in = weight[0].numel()
    return weight * (2 / fan_in / (weight.pow(2).mean() + 1e-8)).sqrt()


class Hypernetwork(nn.Module):
    def __init__(self, targets, input="graph"):
        super().__init__()
        self.encoder = Encoder(input)
        self.decoder = Decoder()
        self.tell = nn.Sequential(nn.Linear(2 * WIDTH, 64), nn.ReLU(), nn.Linear(64, targets))

    def generate(self, programs, graphs, batch, states):
        """Of each program its parameters by their tensors. The graphs are the batch's first."""
        wanted, owners = [], []
        for index, (program, graph) in enumerate(zip(programs, graphs, strict=True)):
            place_of = {place: i for i, place in enumerate(graph.operators) if place >= 0}
            for place, op, inputs, _, _ in program.nodes:
                if op in ("conv", "linear", "batch_norm"):
                    shapes = [program.shapes[tensor] for tensor in inputs[1:3]]
                    node = batch.starts[index] + place_of[place]
                    wanted.append(Wanted(node, op, inputs[1:3], shapes))
                    owners.append(index)
        made = [{} for _ in programs]
        for owner, values in zip(owners, self.decoder(wanted, states), strict=True):
            made[owner].update(values)
        return made
