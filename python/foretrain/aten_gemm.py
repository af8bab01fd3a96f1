# SPDX-License-Identifier: Apache-2.0
"""ATen's GEMMs (mm, bmm, addmm, matmul), convolutions, attention, recurrent layers, look-ups."""

from __future__ import annotations

from .aten_registry import aten
from .aten_views import axis_of
from .errors import Error
from .torch_emitter import Call, Emitter, Result, Value
from .torch_sizes import Shape, product


@aten("linear")
def linear(e: Emitter, c: Call) -> Result:
    return e.add("linear", c.values(), c.shape, c.type)


def _matmul(e: Emitter, a: Value, b: Value, shape: Shape) -> Value:
    return e.add("matmul", [a, b], shape)


@aten("mm", "bmm")
def mm(e: Emitter, c: Call) -> Result:
    a, b = c.values()[:2]
    return _matmul(e, a, b, c.shape)


@aten("matmul", "mv", "dot", "outer", "ger", "__matmul__")
def matmul(e: Emitter, c: Call) -> Result:
    """Vectors are matrices of one row or column; many rows before one matrix are one matrix."""
    a, b = c.values()[:2]
    if c.name in ("outer", "ger"):
        a, b = e.reshape(a, (*a.shape, 1)), e.reshape(b, (1, *b.shape))
    if a.rank == 1:
        a = e.reshape(a, (1, *a.shape))
    if b.rank == 1:
        b = e.reshape(b, (*b.shape, 1))
    if a.rank > 2 and b.rank == 2:
        rows = e.matrix(a)
        result = _matmul(e, rows, b, (rows.shape[0], b.shape[1]))
    else:
        lead = _broadcast(a.shape[:-2], b.shape[:-2])
        result = _matmul(e, a, b, (*lead, a.shape[-2], b.shape[-1]))
    return e.reshape(result, c.shape)


def _broadcast(a: Shape, b: Shape) -> Shape:
    rank = max(len(a), len(b))
    a, b = (1,) * (rank - len(a)) + a, (1,) * (rank - len(b)) + b
    return tuple(y if x == 1 else x for x, y in zip(a, b, strict=True))


@aten("addmm")
def addmm(e: Emitter, c: Call) -> Result:
    """bias + x w: a linear layer whose weight is stored the other way round."""
    bias, x, weight = c["self"], c["mat1"], c["mat2"]
    if bias.shape == (weight.shape[1],):
        return e.add("linear", [x, e.transpose(weight, [1, 0]), bias], c.shape, c.type)
    return e.add("add", [_matmul(e, x, weight, c.shape), bias], c.shape, c.type)


@aten("baddbmm", "addbmm")
def baddbmm(e: Emitter, c: Call) -> Result:
    if c.name == "addbmm":
        raise Error("sums over the batch")
    gemms = _matmul(e, c["batch1"], c["batch2"], c.shape)
    return e.add("add", [gemms, c["self"]], c.shape, c.type)


def _convolve(e: Emitter, c: Call, x: Value, transposed: bool) -> Value:
    weight, bias = c["weight"], c.get("bias")
    spatial = weight.rank - 2
    if x.rank != weight.rank:
        raise Error("a convolution without a batch")

    def each(key: str, otherwise: int) -> list[int]:
        value = c.get(key, otherwise)
        values = [value] if isinstance(value, int) else list(value)
        return values * spatial if len(values) == 1 else values

    kernel = [int(size) for size in weight.shape[2:]]
    attributes = {"stride": each("stride", 1), "dilation": each("dilation", 1)}
    padding = c.get("padding", 0)
    if padding == "same":
        reach = [d * (k - 1) for k, d in zip(kernel, attributes["dilation"], strict=True)]
        attributes["padding"] = [*(r // 2 for r in reach), *(r - r // 2 for r in reach)]
    elif padding != "valid":
        attributes["padding"] = each("padding", 0)
    if transposed:
        attributes["transposed"] = [1]
        attributes["output_padding"] = each("output_padding", 0)
    attributes["groups"] = [c.get("groups", 1)]
    inputs = [x, weight] if bias is None else [x, weight, bias]
    return e.add("conv", inputs, c.shape, c.type, **attributes)


@aten("conv1d", "conv2d", "conv3d")
def conv(e: Emitter, c: Call) -> Result:
    return _convolve(e, c, c["input"], transposed=False)


@aten("conv_transpose1d", "conv_transpose2d", "conv_transpose3d")
def conv_transpose(e: Emitter, c: Call) -> Result:
    return _convolve(e, c, c["input"], transposed=True)


@aten("convolution", "_convolution")
def convolution(e: Emitter, c: Call) -> Result:
    return _convolve(e, c, c["input"], transposed=bool(c["transposed"]))


@aten("scaled_dot_product_attention", "_scaled_dot_product_flash_attention")
@aten("_scaled_dot_product_efficient_attention", "_scaled_dot_product_flash_attention_for_cpu")
@aten("_scaled_dot_product_cudnn_attention", "_scaled_dot_product_attention_math")
def attention(e: Emitter, c: Call) -> Result:
    q, k, v = (_four_axes(e, c[key]) for key in ("query", "key", "value"))
    inputs, attributes = [q, k, v], {}
    mask = c.get("attn_mask", c.get("attn_bias"))
    if mask is not None:
        inputs.append(
            mask if mask.rank != 3 else e.reshape(mask, (mask.shape[0], 1, *mask.shape[1:]))
        )
    if c.get("is_causal", False):
        attributes["causal"] = 1
    if c.get("dropout_p", 0.0) > 0:
        attributes["dropout"] = 1
    result = e.add("attention", inputs, (*q.shape[:3], v.shape[3]), c.type, **attributes)
    return [e.reshape(result, c.shape)]


def _four_axes(e: Emitter, x: Value) -> Value:
    """[batch, heads, length, size]; without heads there is one, more leading axes are merged."""
    if x.rank == 3:
        return e.reshape(x, (x.shape[0], 1, *x.shape[1:]))
    if x.rank > 4:
        return e.reshape(x, (product(x.shape[:-3]), *x.shape[-3:]))
    return x


@aten("embedding")
def embedding(e: Emitter, c: Call) -> Result:
    return e.add("embedding", [c["indices"], c["weight"]], c.shape, c["weight"].type)


@aten("embedding_bag", "_embedding_bag")
def embedding_bag(e: Emitter, c: Call) -> Result:
    indices, weight = c["indices"], c["weight"]
    rows = e.add("embedding", [indices, weight], (*indices.shape, weight.shape[1]), weight.type)
    return [e.opaque("embedding_bag_sum", [rows, c["offsets"]], c.shape, c.type), None, None, None]


_GATES = {"lstm": 4, "gru": 3, "rnn_tanh": 1, "rnn_relu": 1}


@aten(*_GATES)
def recurrent(e: Emitter, c: Call) -> Result:
    """The whole recurrence is one node; the last state of the last layer is the output's end."""
    x, weights = c["input"], list(c["params"])
    batch_first, layers = bool(c["batch_first"]), c["num_layers"]
    directions = 2 if c["bidirectional"] else 1
    hidden = int(weights[1].shape[1])
    has_cell = c.name == "lstm"
    if x.rank != 3 or (has_cell and len(weights) % (layers * directions) != 0):
        raise Error("sequences of different lengths")
    batch = x.shape[0 if batch_first else 1]
    states = (2 if has_cell else 1) * layers * directions
    output, state = e.add_all(
        "recurrent",
        [x, *weights],
        [c.shape, (states, batch, hidden)],
        [c.type, c.type],
        gates=_GATES[c.name],
        hidden=hidden,
        layers=layers,
        directions=directions,
        batch_first=int(batch_first),
        dropout=int(c["dropout"] > 0 and layers > 1 and bool(c["train"])),
    )
    last = _last_state(e, output, hidden, directions, 1 if batch_first else 0)
    if layers > 1:
        lower = e.slice(state, 0, 0, (layers - 1) * directions)
        last = e.add("concat", [lower, last], c.shapes[1], c.type, axis=0)
    if not has_cell:
        return [output, last]
    return [output, last, e.slice(state, 0, layers * directions, states)]


def _last_state(e: Emitter, output: Value, hidden: int, directions: int, time: int) -> Value:
    """[directions, batch, hidden]: the last step forwards, the first step backwards."""
    steps = output.shape[time]
    if not isinstance(steps, int):
        raise Error("a recurrence over an axis whose size is a symbol")
    batch = output.shape[axis_of(1 - time, 3)]
    parts = []
    for direction in range(directions):
        at = steps - 1 if direction == 0 else 0
        part = output if steps == 1 else e.slice(output, time, at, at + 1)
        if directions == 2:
            part = e.slice(part, 2, direction * hidden, (direction + 1) * hidden)
        parts.append(e.reshape(part, (1, batch, hidden)))
    if directions == 1:
        return parts[0]
    return e.add("concat", parts, (directions, batch, hidden), axis=0)
