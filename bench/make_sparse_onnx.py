# SPDX-License-Identifier: Apache-2.0
"""Writes an ONNX file of many gigabytes that takes almost no disk space: the weights are holes.

    make_sparse_onnx.py FILE [GIBIBYTES]

A chain of linear layers of 16384 x 16384 values (1 GiB each), encoded by hand as onnx.proto
says, to measure that reading a model does not read its weights.
"""
import sys

WIDTH = 16384
LAYER_BYTES = 4 * WIDTH * WIDTH


def varint(value):
    out = bytearray()
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field, value):
    return varint(field << 3) + varint(value)


def head(field, size):
    """The beginning of a field of `size` bytes."""
    return varint(field << 3 | 2) + varint(size)


def data(field, content):
    return head(field, len(content)) + content


def text(field, content):
    return data(field, content.encode())


def value_info(name):
    shape = data(1, text(2, "batch")) + data(1, number(1, WIDTH))
    return text(1, name) + data(2, data(1, number(1, 1) + data(2, shape)))


def node(layer):
    return data(1, text(1, f"x{layer}") + text(1, f"layer{layer}.weight") + text(2, f"x{layer + 1}") +
                text(3, f"/layer{layer}/MatMul") + text(4, "MatMul"))


def main():
    path = sys.argv[1]
    layers = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    nodes = b"".join(node(layer) for layer in range(layers))
    ends = data(11, value_info("x0")) + data(12, value_info(f"x{layers}"))
    weights = []  # what lies before the values of each
    size = len(nodes) + len(ends)
    for layer in range(layers):
        before = (number(1, WIDTH) * 2 + number(2, 1) + text(8, f"layer{layer}.weight") +
                  head(9, LAYER_BYTES))
        weights.append(head(5, len(before) + LAYER_BYTES) + before)
        size += len(weights[-1]) + LAYER_BYTES
    with open(path, "wb") as file:
        file.write(number(1, 8) + data(8, number(2, 17)) + head(7, size) + nodes)
        for weight in weights:
            file.write(weight)
            file.seek(LAYER_BYTES, 1)
        file.write(ends)


if __name__ == "__main__":
    main()
