# SPDX-License-Identifier: Apache-2.0
"""A model's graph as the hypernetwork sees it; foretrain/embedding/graph_input.cc does the same.

A node is an operator of the forward pass or an input that one of them reads. Views are left out,
what they show belongs to who wrote it; so are losses. Counts are those of one sample.
"""

import math
from collections import deque
from dataclasses import dataclass, field

VIEWS = {"reshape", "transpose", "slice", "split", "expand", "identity", "detach"}
LOSSES = {"cross_entropy", "pointwise_loss"}

# The rows of the table of kinds, in order; the first is an input, the last what has no row.
KINDS = """input contiguous concat pad cast dequantize gather upsample roll linear matmul conv
attention recurrent embedding relu relu6 leaky_relu gelu silu mish sigmoid hard_sigmoid hard_swish
tanh softplus elu exp log sqrt rsqrt pow neg abs erf sin cos scale shift clip add sub mul div
maximum minimum where compare dropout softmax log_softmax batch_norm layer_norm rms_norm group_norm
sum mean arg_max top_k cum_sum max_pool avg_pool adaptive_avg_pool fill opaque""".split()

# Of a node; each enters as log(1 + x). What an operator has not is 0.
FEATURES = [
    "gemm_flops", "vector_flops", "output_elements", "parameters", "weight_rows", "weight_columns",
    "kernel_height", "kernel_width", "stride", "groups", "output_axis_1", "output_last_axis",
]  # fmt: skip

REACH = 10  # steps that a virtual edge spans at most
MOST_VIRTUAL = 64  # virtual edges that end at one node, the shortest first


@dataclass
class GraphInput:
    name: str
    kinds: list[int] = field(default_factory=list)
    features: list[list[float]] = field(default_factory=list)  # log(1 + x)
    edges: list[tuple[int, int, int]] = field(default_factory=list)  # from, to, steps
    operators: list[int] = field(default_factory=list)  # of each node its place in the file, or -1
    targets: dict[str, float] = field(default_factory=dict)


def first_of(value, place=0):
    """Attributes are a number, or a list with one for each axis."""
    if isinstance(value, list):
        return value[place] if place < len(value) else value[0]
    return value


def window(line, node, weight, place):
    if line["op"] == "conv" and weight and len(weight) > 2 + place:
        return weight[2 + place]
    return first_of(node.get("attributes", {}).get("kernel", 0), place)


def node_features(line, node, weight, parameters):
    attributes = node.get("attributes", {})
    shape = line["outputs"][0] if line["outputs"] else []
    rows, columns = weight[:2] if weight else (0, 0)
    values = [
        line["flops"], line["vector_flops"], math.prod(shape), parameters, rows, columns,
        window(line, node, weight, 0), window(line, node, weight, 1),
        first_of(attributes.get("stride", 0)), first_of(attributes.get("groups", 0)),
        shape[1] if len(shape) > 1 else 0, shape[-1] if shape else 0,
    ]  # fmt: skip
    return [math.log1p(value) for value in values]


def input_features(shape):
    values = [0.0] * len(FEATURES)
    values[FEATURES.index("output_elements")] = math.log1p(math.prod(shape))
    values[FEATURES.index("output_axis_1")] = math.log1p(shape[1] if len(shape) > 1 else 0)
    values[FEATURES.index("output_last_axis")] = math.log1p(shape[-1] if shape else 0)
    return values


class Wiring:
    """Who wrote what a tensor shows, and which tensors show parameters."""

    def __init__(self, file):
        self.tensors = file["tensors"]
        self.places = {t["name"]: i for i, t in enumerate(self.tensors) if "name" in t}
        self.writers: dict[int, list[int]] = {}
        roles = [t.get("role", "activation") for t in self.tensors]
        self.parameters = {i for i, role in enumerate(roles) if role == "parameter"}
        self.inputs = {i for i, role in enumerate(roles) if role == "input"}

    def place(self, tensor):
        return self.places[tensor] if isinstance(tensor, str) else tensor

    def view(self, inputs, outputs):
        writers = merged(self.writers.get(tensor, []) for tensor in inputs[:1])
        for tensor in outputs:
            self.writers[tensor] = writers
            if inputs and inputs[0] in self.parameters:
                self.parameters.add(tensor)


def merged(lists):
    seen: dict[int, None] = {}
    for one in lists:
        seen.update(dict.fromkeys(one))
    return list(seen)


def read_inputs(file, wiring):
    """The inputs that operators read, by way of views too; not those of a loss alone."""
    shown = {tensor: tensor for tensor in wiring.inputs}
    read = set()
    for node in file["nodes"]:
        inputs = [wiring.place(tensor) for tensor in node["inputs"]]
        if node["op"] in VIEWS:
            if inputs and inputs[0] in shown:
                for tensor in node["outputs"]:
                    shown[wiring.place(tensor)] = shown[inputs[0]]
        elif node["op"] not in LOSSES:
            read.update(shown[tensor] for tensor in inputs if tensor in shown)
    return sorted(read)


def one_sample(shape):
    return [size if isinstance(size, int) else 1 for size in shape]


def graph_input(file, summary):
    """`file`: a model in our format; `summary`: what `foretrain graph --json` says of it."""
    lines = [line for line in summary["nodes"] if line["phase"] == "forward"]
    if len(lines) != len(file["nodes"]):
        raise ValueError(f"{file['name']}: the summary has other nodes than the file")
    graph = GraphInput(file["name"])
    wiring = Wiring(file)
    before: list[list[int]] = []
    for tensor in read_inputs(file, wiring):
        wiring.writers[tensor] = [len(graph.kinds)]
        graph.kinds.append(0)
        graph.operators.append(-1)
        graph.features.append(input_features(one_sample(wiring.tensors[tensor]["shape"])))
        before.append([])
    for place, (node, line) in enumerate(zip(file["nodes"], lines, strict=True)):
        inputs = [wiring.place(tensor) for tensor in node["inputs"]]
        outputs = [wiring.place(tensor) for tensor in node["outputs"]]
        if node["op"] in VIEWS:
            wiring.view(inputs, outputs)
            continue
        if node["op"] in LOSSES:
            continue
        shapes = {t: line["inputs"][i] for i, t in enumerate(inputs) if t in wiring.parameters}
        weight = next((shape for shape in shapes.values() if len(shape) > 1), None)
        count = sum(math.prod(shape) for shape in shapes.values())
        for tensor in outputs:
            wiring.writers[tensor] = [len(graph.kinds)]
        before.append(merged(wiring.writers.get(tensor, []) for tensor in inputs))
        graph.kinds.append(KINDS.index(node["op"]) if node["op"] in KINDS else len(KINDS) - 1)
        graph.operators.append(place)
        graph.features.append(node_features(line, node, weight, count))
    graph.edges = edges_of(before)
    graph.targets = targets_of(graph, summary, before)
    return graph


def edges_of(before):
    """Of each node those that reach it within REACH steps: the neighbours, then virtual edges."""
    edges = []
    for node in range(len(before)):
        steps = {node: 0}
        queue = deque([node])
        virtual = 0
        while queue and virtual < MOST_VIRTUAL:
            near = queue.popleft()
            if steps[near] == REACH:
                break
            for far in before[near]:
                if far in steps:
                    continue
                if steps[near] > 0 and virtual == MOST_VIRTUAL:
                    break
                steps[far] = steps[near] + 1
                virtual += steps[far] > 1
                queue.append(far)
                edges.append((far, node, steps[far]))
    return edges


def levels_of(before):
    levels = []
    for sources in before:
        levels.append(1 + max((levels[source] for source in sources), default=-1))
    return levels


def targets_of(graph, summary, before):
    """What a graph's embedding is taught to tell, besides the weights."""
    targets = {
        "log_flops": math.log1p(summary["forward_flops"]),
        "log_parameters": math.log1p(summary["parameters"]),
        "log_activation_bytes": math.log1p(summary["activation_bytes"]),
        "log_depth": math.log1p(max(levels_of(before))),
    }
    for place, kind in enumerate(KINDS):
        targets["share." + kind] = graph.kinds.count(place) / len(graph.kinds)
    return targets
