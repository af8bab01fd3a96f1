# SPDX-License-Identifier: Apache-2.0
"""A worker of compare.py: the same network, graphs and step as step.cc, written in PyTorch with the
adjacency normalised once. Arguments: the number of threads, and how neighbours are summed: `bmm`
(dense, batched) or `csr` (one sparse matrix of all graphs)."""
import random
import sys
import time

import torch
from torch import nn

GRAPHS, NODES, FEATURES, WIDTH, DEPTH, OUTPUTS = 32, 100, 3, 64, 50, 12


class Network(nn.Module):
    def __init__(self, spread):
        super().__init__()
        self.spread = spread
        self.first = nn.Linear(FEATURES, WIDTH, bias=False)
        self.repeated = nn.Linear(WIDTH, WIDTH, bias=False)
        self.first_bias = nn.Parameter(torch.zeros(WIDTH))
        self.repeated_bias = nn.Parameter(torch.zeros(WIDTH))
        self.gru = nn.GRUCell(WIDTH, WIDTH)
        self.lstm = nn.LSTMCell(2 * WIDTH, WIDTH)
        self.dense = nn.Sequential(nn.Linear(2 * WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH), nn.ReLU(),
                                   nn.Linear(WIDTH, OUTPUTS), nn.LeakyReLU())

    def forward(self, features):
        leaky = nn.functional.leaky_relu
        padded = nn.functional.pad(features, (0, WIDTH - FEATURES))
        state = self.gru(padded, leaky(self.spread(self.first(features)) + self.first_bias))
        for _ in range(DEPTH - 1):
            message = leaky(self.spread(self.repeated(state)) + self.repeated_bias)
            state = self.gru(state, message)
        return self.dense(self.set2set(state.view(GRAPHS, NODES, WIDTH)))

    def set2set(self, nodes):
        query = nodes.new_zeros(GRAPHS, 2 * WIDTH)
        memory = (nodes.new_zeros(GRAPHS, WIDTH), nodes.new_zeros(GRAPHS, WIDTH))
        for _ in range(NODES):
            memory = self.lstm(query, memory)
            scores = torch.bmm(nodes, memory[0].unsqueeze(2))
            read = torch.bmm(torch.softmax(scores, 1).transpose(1, 2), nodes).squeeze(1)
            query = torch.cat([memory[0], read], 1)
        return query


def adjacency():
    draw = random.Random(1)
    matrix = torch.zeros(GRAPHS, NODES, NODES)
    for graph in matrix:
        edges = [(i, draw.randrange(i)) for i in range(1, NODES)]
        edges += [(draw.randrange(NODES), draw.randrange(NODES)) for _ in range(120)]
        for a, b in edges:
            graph[a, b] = graph[b, a] = 1
        graph.fill_diagonal_(1)
        scale = graph.sum(1).pow(-0.5)
        graph.mul_(scale[:, None]).mul_(scale[None, :])
    return matrix


class SparseProduct(torch.autograd.Function):
    """The matrix is symmetric, so that the gradient is the same product."""
    @staticmethod
    def forward(ctx, matrix, x):
        ctx.matrix = matrix
        return matrix @ x

    @staticmethod
    def backward(ctx, gradient):
        return None, ctx.matrix @ gradient


def spread_by(way):
    dense = adjacency()
    if way == "bmm":
        return lambda x: torch.bmm(dense, x.view(GRAPHS, NODES, WIDTH)).view(-1, WIDTH)
    sparse = torch.block_diag(*dense).to_sparse_csr()
    return lambda x: SparseProduct.apply(sparse, x)


def main():
    torch.set_num_threads(int(sys.argv[1]))
    torch.manual_seed(1)
    network = Network(spread_by(sys.argv[2]))
    features = torch.rand(GRAPHS * NODES, FEATURES)
    targets = torch.rand(GRAPHS, OUTPUTS)
    adam = torch.optim.Adam(network.parameters(), lr=0.003, weight_decay=1e-6)
    assert sum(p.numel() for p in network.parameters()) == 92_236
    for _ in sys.stdin:
        cpu, wall = time.process_time(), time.perf_counter()
        adam.zero_grad()
        nn.functional.mse_loss(network(features), targets).backward()
        adam.step()
        print(time.process_time() - cpu, time.perf_counter() - wall, flush=True)


main()
