# SPDX-License-Identifier: Apache-2.0
"""ATen operators that see or arrange the same elements anew."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from .aten_registry import aten
from .errors import Error
from .torch_emitter import Call, Emitter, Result, Value
from .torch_sizes import Shape, Size, product


def axis_of(axis: int, rank: int) -> int:
    """Counted from the front."""
    return axis + rank if axis < 0 else axis


def rank_of(x: Value) -> int:
    """As PyTorch counts: without the axis that a complex number is."""
    return x.rank if x.fake is None else x.fake.dim()


@aten("view", "_unsafe_view", "view_as", "squeeze", "unsqueeze", "_reshape_alias")
def view(e: Emitter, c: Call) -> Result:
    return e.reshape(c["self"], c.shape)


@aten("reshape", "reshape_as", "flatten", "ravel", "unflatten")
def reshape(e: Emitter, c: Call) -> Result:
    x = c["self"]
    if x.fake is not None and not e.is_viewable(x.fake, c.outputs[0].shape):
        x = e.add("contiguous", [x])
    return e.reshape(x, c.shape)


@aten("permute", "transpose", "t", "mT", "numpy_T", "swapaxes", "swapdims", "movedim", "adjoint")
def permute(e: Emitter, c: Call) -> Result:
    x = c["self"]
    rank = rank_of(x)
    return e.transpose(x, [*_order(c, rank), *range(rank, x.rank)])


def _order(c: Call, rank: int) -> list[int]:
    order = list(range(rank))
    if c.name == "permute":
        return [axis_of(axis, rank) for axis in c["dims"]]
    if c.name == "numpy_T":
        return order[::-1]
    if c.name == "movedim":
        return _moved(c, rank)
    if c.name == "t":
        return order[::-1]
    first, second = c.get("dim0", c.get("axis0", -2)), c.get("dim1", c.get("axis1", -1))
    order[first], order[second] = order[second], order[first]
    return order


def _moved(c: Call, rank: int) -> list[int]:
    def axes(value: int | Sequence[int]) -> list[int]:
        return [axis_of(a, rank) for a in ([value] if isinstance(value, int) else value)]

    source, target = axes(c["source"]), axes(c["destination"])
    rest = iter(axis for axis in range(rank) if axis not in source)
    places = dict(zip(target, source, strict=True))
    return [places[i] if i in places else next(rest) for i in range(rank)]


@aten("slice", "narrow")
def slice_(e: Emitter, c: Call) -> Result:
    x: Value = c["self"]
    if x.shape == c.shape:
        return x
    axis = axis_of(c.get("dim", 0), rank_of(x))
    size, start, step = x.shape[axis], c.get("start", 0), c.get("step", 1)
    if not isinstance(size, int) or not isinstance(start, int):
        raise Error("part of an axis whose size is a symbol")
    start = max(start + size, 0) if start < 0 else start
    length = c.shape[axis]
    if not isinstance(length, int):
        raise Error("part of an axis whose size is a symbol")
    return e.slice(x, axis, start, min(start + length * step, size), step)


@aten("select")
def select(e: Emitter, c: Call) -> Result:
    x = c["self"]
    axis, index = axis_of(c["dim"], rank_of(x)), c["index"]
    size = x.shape[axis]
    if not isinstance(size, int) or not isinstance(index, int):
        raise Error("one of an axis whose size is a symbol")
    index = axis_of(index, size)
    part = x if size == 1 else e.slice(x, axis, index, index + 1)
    return e.reshape(part, c.shape)


@aten(
    "split", "split_with_sizes", "chunk", "tensor_split", "unsafe_split", "unsafe_chunk", "hsplit"
)
def split(e: Emitter, c: Call) -> Result:
    x = c["self"]
    if len(c.shapes) == 1:
        return [x]
    axis = axis_of(c.get("dim", 0), rank_of(x))
    sizes = [shape[axis] for shape in c.shapes]
    return e.add_all("split", [x], c.shapes, c.types, axis=axis, sizes=sizes)


@aten("unbind")
def unbind(e: Emitter, c: Call) -> Result:
    x = c["self"]
    axis = axis_of(c.get("dim", 0), rank_of(x))
    one = (*x.shape[:axis], 1, *x.shape[axis + 1 :])
    count = len(c.shapes)
    if count == 1:
        return [e.reshape(x, c.shape)]
    parts = e.add_all("split", [x], [one] * count, c.types, axis=axis, sizes=[1] * count)
    return [e.reshape(part, c.shape) for part in parts]


@aten("expand", "expand_as", "broadcast_to")
def expand(e: Emitter, c: Call) -> Result:
    return e.expand(c["self"], c.shape)


@aten("broadcast_tensors", "meshgrid")
def broadcast_tensors(e: Emitter, c: Call) -> Result:
    results = []
    for i, (x, shape) in enumerate(zip(c.values(), c.shapes, strict=True)):
        if c.name == "meshgrid":
            x = e.reshape(x, _along(x, shape, i))
        results.append(e.expand(x, shape))
    return results


def _along(x: Value, shape: Shape, axis: int) -> Shape:
    """A vector as a tensor of this rank; for indexing="xy" the first two axes are exchanged."""
    sizes: list[Size] = [1] * len(shape)
    if product(x.shape) != shape[axis] and axis < 2:
        axis = 1 - axis
    sizes[axis] = product(x.shape)
    return tuple(sizes)


@aten("cat", "concat", "concatenate")
def cat(e: Emitter, c: Call) -> Result:
    tensors = [x for x in c.values() if x.shape != (0,)]
    axis = axis_of(c.get("dim", 0), rank_of(tensors[0]))
    if len(tensors) == 1:
        return e.add("contiguous", tensors)
    return e.add("concat", [e.cast(x, c.type) for x in tensors], c.shape, c.type, axis=axis)


@aten("stack")
def stack(e: Emitter, c: Call) -> Result:
    tensors = c.values()
    axis = axis_of(c.get("dim", 0), rank_of(tensors[0]) + 1)
    one = (*tensors[0].shape[:axis], 1, *tensors[0].shape[axis:])
    parts = [e.reshape(x, one) for x in tensors]
    if len(parts) == 1:
        return e.add("contiguous", parts)
    return e.add("concat", parts, c.shape, c.type, axis=axis)


@aten("pad", "constant_pad_nd", "reflection_pad1d", "reflection_pad2d", "reflection_pad3d")
@aten("replication_pad1d", "replication_pad2d", "replication_pad3d")
def pad(e: Emitter, c: Call) -> Result:
    x = c["self"]
    widths = c.get("pad", c.get("padding"))
    before, after = [0] * x.rank, [0] * x.rank
    for i in range(len(widths) // 2):  # the last axis comes first
        before[-1 - i], after[-1 - i] = widths[2 * i], widths[2 * i + 1]
    return e.add("pad", [x], c.shape, c.type, padding=[*before, *after])


@aten("roll", "flip", "fliplr", "flipud")
def roll(e: Emitter, c: Call) -> Result:
    return e.add("roll", [c["self"]])


@aten("repeat_interleave")
def repeat_interleave(e: Emitter, c: Call) -> Result:
    x, repeats = c["self"], c["repeats"]
    if not isinstance(repeats, int) or c.get("dim") is None:
        raise Error("repeated as often as a tensor says")
    axis = axis_of(c["dim"], x.rank) + 1
    lifted = e.reshape(x, (*x.shape[:axis], 1, *x.shape[axis:]))
    spread = e.expand(lifted, (*x.shape[:axis], repeats, *x.shape[axis:]))
    return e.reshape(e.add("contiguous", [spread]), c.shape)


@aten("repeat", "tile")
def repeat(e: Emitter, c: Call) -> Result:
    x = c["self"]
    lead: Shape = (1,) * (len(c.shape) - x.rank)
    if product((*lead, *x.shape)) == product(c.shape):
        return e.add("contiguous", [e.reshape(x, c.shape)])
    if _only_ones_grow((*lead, *x.shape), c.shape):
        return e.add("contiguous", [e.expand(x, c.shape)])
    raise Error("repeats an axis")


def _only_ones_grow(before: Shape, after: Shape) -> bool:
    return all(a in (1, b) for a, b in zip(before, after, strict=True))


@aten("upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d", "upsample_linear1d")
@aten("upsample_bilinear2d", "upsample_bicubic2d", "upsample_trilinear3d")
@aten("_upsample_nearest_exact1d", "_upsample_nearest_exact2d", "_upsample_bilinear2d_aa")
def upsample(e: Emitter, c: Call) -> Result:
    return e.add("upsample", c.values()[:1], c.shape, c.type, sizes=c.shape[2:])


@aten("index_select")
def index_select(e: Emitter, c: Call) -> Result:
    x, index = c["self"], c["index"]
    axis = axis_of(c["dim"], rank_of(x))
    return e.add("gather", [x, index], c.shape, c.type, axis=axis)


@aten("gather", "take_along_dim", "take")
def gather(e: Emitter, c: Call) -> Result:
    x, index = c.values()[:2]
    flat = e.reshape(x, (product(x.shape),))
    return e.add("gather", [flat, index], c.shape, c.type, axis=0)


@aten("index")
def index(e: Emitter, c: Call) -> Result:
    """x[:, i, j]: adjacent axes are looked up together, as one axis."""
    x = c["self"]
    places = [i for i, entry in enumerate(c["indices"]) if isinstance(entry, Value)]
    first, last = places[0], places[-1]
    indices = [c["indices"][i] for i in places]
    if places != list(range(first, last + 1)) or any(i.type == "bool" for i in indices):
        raise Error("indices that are not side by side, or masks")
    merged = (*x.shape[:first], product(x.shape[first : last + 1]), *x.shape[last + 1 :])
    tail = len(merged) - first - 1
    wanted = c.shape[first : len(c.shape) - tail]
    where = max(indices, key=lambda i: i.rank)
    where = e.expand(where, wanted) if where.shape != wanted else where
    return e.add("gather", [e.reshape(x, merged), where], c.shape, c.type, axis=first)


@aten("diagonal", "unfold", "as_strided")
def strange_view(e: Emitter, c: Call) -> Result:
    raise Error("a view that the graph has no operator for")


def is_view(op: torch._ops.OpOverload) -> bool:
    """Whether the result of an operator shares memory with its first argument."""
    schema = op._schema
    if not schema.returns or not schema.arguments:
        return False
    result, first = schema.returns[0].alias_info, schema.arguments[0].alias_info
    return result is not None and first is not None and not result.is_write
