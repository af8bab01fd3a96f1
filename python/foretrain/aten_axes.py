# SPDX-License-Identifier: Apache-2.0
"""ATen operators along axes: norms, reductions, pooling, losses."""

from __future__ import annotations

from .aten_registry import aten
from .aten_views import axis_of, rank_of
from .errors import Error
from .torch_emitter import Call, Emitter, Result, Value
from .torch_sizes import Shape, Size

NO_REDUCTION = 0  # of a loss: mean is 1, sum is 2


@aten("softmax", "_softmax", "log_softmax", "_log_softmax", "_safe_softmax", "special_softmax")
@aten("special_log_softmax")
def softmax(e: Emitter, c: Call) -> Result:
    x = e.cast(c["self"], c.type)
    op = "log_softmax" if "log" in c.name else "softmax"
    if op == "log_softmax" and set(c.users) == {"nll_loss"}:
        e.logits.add(x.id)  # cross entropy does both
        return x
    return e.add(op, [x], c.shape, c.type, axis=axis_of(c["dim"], x.rank))


def _present(*values: Value | None) -> list[Value]:
    return [value for value in values if value is not None]


@aten("batch_norm", "native_batch_norm", "_native_batch_norm_legit", "cudnn_batch_norm")
@aten("_native_batch_norm_legit_no_training", "_batch_norm_with_update", "_batch_norm_no_update")
@aten("_native_batch_norm_legit_functional", "_batch_norm_with_update_functional")
def batch_norm(e: Emitter, c: Call) -> Result:
    x = c["input"]
    statistics = _present(c.get("running_mean"), c.get("running_var"))
    trained = _present(c.get("weight"), c.get("bias"))
    training = c.get("training", "no_" not in c.name)
    attributes = {} if training or not statistics else {"frozen": 1}
    inputs = [x, *trained, *statistics]
    return [e.add("batch_norm", inputs, c.shape, c.type, **attributes)]


@aten("layer_norm", "native_layer_norm")
def layer_norm(e: Emitter, c: Call) -> Result:
    inputs = _present(c["input"], c.get("weight"), c.get("bias"))
    return [e.add("layer_norm", inputs, c.shape, c.type, axes=len(c["normalized_shape"]))]


@aten("rms_norm", "_fused_rms_norm")
def rms_norm(e: Emitter, c: Call) -> Result:
    inputs = _present(c["input"], c.get("weight"))
    return [e.add("rms_norm", inputs, c.shape, c.type, axes=len(c["normalized_shape"]))]


@aten("group_norm", "native_group_norm", "instance_norm")
def group_norm(e: Emitter, c: Call) -> Result:
    """Instance norm is a group norm with as many groups as channels."""
    x = c["input"]
    groups = c.get("num_groups", c.get("group", x.shape[1]))
    inputs = _present(x, c.get("weight"), c.get("bias"))
    return [e.add("group_norm", inputs, c.shape, c.type, groups=groups)]


def _reduced(c: Call) -> dict[str, int | list[int]]:
    rank = rank_of(c["self"])
    dim = c.get("dim")
    attributes: dict[str, int | list[int]] = {"keep_dims": int(bool(c.get("keepdim", False)))}
    if dim is not None and dim != []:
        axes = [dim] if isinstance(dim, int) else dim
        attributes["axes"] = [axis_of(axis, rank) for axis in axes]
    return attributes


@aten("mean", "sum")
def reduce(e: Emitter, c: Call) -> Result:
    x = c["self"] if c["self"].type in (c.type, "bool") else e.cast(c["self"], c.type)
    if x.rank == 0:
        return x
    return e.add(c.name, [x], c.shape, c.type, **_reduced(c))


@aten("argmax", "argmin", "any", "all")
def arg_max(e: Emitter, c: Call) -> Result:
    return e.add("arg_max", [c["self"]], c.shape, c.type, **_reduced(c))


@aten("max", "min", "amax", "amin", "median", "mode")
def maximum_along(e: Emitter, c: Call) -> Result:
    """The largest along one axis, with its place: what top-k finds for k = 1."""
    if "other" in c.arguments:
        return e.add("maximum" if c.name == "max" else "minimum", c.values(), c.shape, c.type)
    x, dim = c["self"], c.get("dim")
    axes = [dim] if isinstance(dim, int) else dim
    if not axes or len(axes) != 1:
        raise Error("the largest of several axes")
    axis = axis_of(axes[0], x.rank)
    one = (*x.shape[:axis], 1, *x.shape[axis + 1 :])
    found = e.add_all("top_k", [x], [one, one], [x.type, "i64"], axis=axis, sizes=1)
    return [e.reshape(value, c.shape) for value in found[: len(c.shapes)]]


@aten("topk")
def topk(e: Emitter, c: Call) -> Result:
    x = c["self"]
    axis = axis_of(c.get("dim", -1), x.rank)
    size = c.shape[axis]
    return e.add_all("top_k", [x], c.shapes, c.types, axis=axis, sizes=size)


@aten("cumsum", "cumprod", "logcumsumexp")
def cumsum(e: Emitter, c: Call) -> Result:
    return e.add("cum_sum", [c["self"]], c.shape, c.type)


def _windows(c: Call, spatial: int) -> dict[str, int | list[int]]:
    def each(key: str, otherwise: list[int]) -> list[int]:
        value = c.get(key)
        if value is None or value == []:
            return otherwise
        values = [value] if isinstance(value, int) else list(value)
        return values * spatial if len(values) == 1 else values

    kernel = each("kernel_size", [1] * spatial)
    return {
        "kernel": kernel,
        "stride": each("stride", kernel),
        "padding": each("padding", [0] * spatial),
        "dilation": each("dilation", [1] * spatial),
        "ceil_mode": int(bool(c.get("ceil_mode", False))),
    }


@aten("max_pool1d", "max_pool2d", "max_pool3d", "max_pool1d_with_indices")
@aten("max_pool2d_with_indices", "max_pool3d_with_indices")
def max_pool(e: Emitter, c: Call) -> Result:
    x = c["self"]
    shapes, types = [c.shape, c.shape], [c.type, "i64"]
    return e.add_all("max_pool", [x], shapes, types, **_windows(c, x.rank - 2))


@aten("avg_pool1d", "avg_pool2d", "avg_pool3d")
def avg_pool(e: Emitter, c: Call) -> Result:
    x = c["self"]
    return e.add("avg_pool", [x], c.shape, c.type, **_windows(c, x.rank - 2))


@aten("adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d")
@aten("_adaptive_avg_pool2d", "_adaptive_avg_pool3d")
def adaptive_avg_pool(e: Emitter, c: Call) -> Result:
    return e.add("adaptive_avg_pool", [c["self"]], c.shape, c.type, sizes=c.shape[2:])


@aten("adaptive_max_pool1d", "adaptive_max_pool2d", "adaptive_max_pool3d")
def adaptive_max_pool(e: Emitter, c: Call) -> Result:
    """Where the output divides the input, windows of their ratio."""
    x = c["self"]
    kernel = [_ratio(size, out) for size, out in zip(x.shape[2:], c.shape[2:], strict=True)]
    shapes, types = [c.shape, c.shape], [c.type, "i64"]
    return e.add_all("max_pool", [x], shapes, types, kernel=kernel, stride=kernel)


def _ratio(size: Size, out: Size) -> int:
    if not isinstance(size, int) or not isinstance(out, int) or size % out != 0:
        raise Error("windows of different sizes")
    return size // out


@aten("cross_entropy_loss")
def cross_entropy(e: Emitter, c: Call) -> Result:
    logits, target = c["self"], c["target"]
    if c.get("reduction", 1) == NO_REDUCTION:
        axis = 1 if logits.rank > 1 else 0
        likely = e.add("log_softmax", [logits], axis=axis)
        return e.opaque("nll_loss", [likely, target], c.shape, c.type)
    return e.add("cross_entropy", [logits, target], c.shape, c.type)


@aten("nll_loss", "nll_loss_nd", "nll_loss2d", "nll_loss_forward", "nll_loss2d_forward")
def nll_loss(e: Emitter, c: Call) -> Result:
    x, target = c["self"], c["target"]
    if x.id in e.logits and c.get("reduction", 1) != NO_REDUCTION:
        return [e.add("cross_entropy", [x, target], c.shape, c.type), None]
    if x.id in e.logits:
        x = e.add("log_softmax", [x], axis=1)
    return [e.opaque("nll_loss", [x, target], c.shape, c.type), None]


@aten("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy")
@aten("binary_cross_entropy_with_logits", "kl_div", "soft_margin_loss")
def pointwise_loss(e: Emitter, c: Call) -> Result:
    prediction, target = c["self"], c["target"]
    if c.get("reduction", 1) == NO_REDUCTION:
        return e.add("sub", [prediction, target], c.shape, c.type)
    if prediction.shape != target.shape:
        wanted = _larger(prediction.shape, target.shape)
        prediction, target = e.expand(prediction, wanted), e.expand(target, wanted)
    return e.add("pointwise_loss", [prediction, target], c.shape, c.type)


def _larger(a: Shape, b: Shape) -> Shape:
    """The shape that two shapes broadcast to."""
    rank = max(len(a), len(b))
    a, b = (1,) * (rank - len(a)) + a, (1,) * (rank - len(b)) + b
    return tuple(y if x == 1 else x for x, y in zip(a, b, strict=True))
