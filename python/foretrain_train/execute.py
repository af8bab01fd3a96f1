# SPDX-License-Identifier: Apache-2.0
"""Runs a classifier from its graph file with given parameters: the graph is the network."""

import torch
from torch.nn import functional as F  # noqa: N812

POINTWISE = {
    "relu": F.relu, "relu6": F.relu6, "leaky_relu": F.leaky_relu, "silu": F.silu, "gelu": F.gelu,
    "hard_swish": F.hardswish, "elu": F.elu, "tanh": torch.tanh, "sigmoid": torch.sigmoid,
    "dropout": lambda x: x, "identity": lambda x: x, "contiguous": lambda x: x,
}  # fmt: skip


def number(attributes, key, otherwise):
    value = attributes.get(key, otherwise)
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def convolve(values, attributes):
    x, weight, *bias = values
    return F.conv2d(
        x, weight, bias[0] if bias else None,
        stride=number(attributes, "stride", 1), padding=number(attributes, "padding", 0),
        dilation=number(attributes, "dilation", 1), groups=number(attributes, "groups", 1),
    )  # fmt: skip


def normalise(values, attributes):
    """With the batch's own statistics, in training and in use: there are no others."""
    del attributes
    return F.batch_norm(values[0], None, None, values[1], values[2], training=True)


def pool(function):
    def run(values, attributes):
        return function(
            values[0], number(attributes, "kernel", 1), number(attributes, "stride", 1),
            number(attributes, "padding", 0), ceil_mode=bool(attributes.get("ceil_mode", 0)),
        )  # fmt: skip

    return run


def mean(values, attributes):
    axes = attributes.get("axes")
    axes = tuple(axes) if isinstance(axes, list) else (axes,)
    return values[0].mean(axes, keepdim=bool(attributes.get("keep_dims", 0)))


def reshape(values, attributes):
    wanted = attributes["shape"]
    wanted = wanted if isinstance(wanted, list) else [wanted]
    x = values[0]
    sizes = [x.shape[i] if size == 0 else size for i, size in enumerate(wanted)]
    return x.reshape([x.shape[0] if size == "batch" else size for size in sizes])


OPERATORS = {
    "conv": convolve,
    "linear": lambda values, _: F.linear(*values),
    "batch_norm": normalise,
    "max_pool": pool(F.max_pool2d),
    "avg_pool": pool(F.avg_pool2d),
    "adaptive_avg_pool": lambda values, a: F.adaptive_avg_pool2d(values[0], a["sizes"]),
    "mean": mean,
    "reshape": reshape,
    "concat": lambda values, a: torch.cat(values, number(a, "axis", 0)),
    "add": lambda values, _: values[0] + values[1],
    "mul": lambda values, _: values[0] * values[1],
}


class Program:
    """A graph file, prepared to run. Refuses operators that it does not know."""

    def __init__(self, file):
        places = {t["name"]: i for i, t in enumerate(file["tensors"]) if "name" in t}

        def place(tensor):
            return places[tensor] if isinstance(tensor, str) else tensor

        self.shapes = [tensor["shape"] for tensor in file["tensors"]]
        self.image = next(i for i, t in enumerate(file["tensors"]) if t.get("role") == "input")
        self.output = place(file["outputs"][0])
        self.nodes = []  # place in the file, operator, inputs, output, attributes
        for index, node in enumerate(file["nodes"]):
            if node["op"] == "cross_entropy":
                continue
            if node["op"] not in OPERATORS and node["op"] not in POINTWISE:
                raise ValueError(f"{file['name']}: cannot run the operator '{node['op']}'")
            inputs = [place(tensor) for tensor in node["inputs"]]
            attributes = node.get("attributes", {})
            output = place(node["outputs"][0])
            self.nodes.append((index, node["op"], inputs, output, attributes))

    def run(self, parameters, images):
        """The logits. `parameters`: by place of the tensor."""
        values = {**parameters, self.image: images}
        for _, op, inputs, output, attributes in self.nodes:
            given = [values[place] for place in inputs if place in values]
            if op in POINTWISE:
                values[output] = POINTWISE[op](given[0])
            else:
                values[output] = OPERATORS[op](given, attributes)
        return values[self.output]
