# SPDX-License-Identifier: Apache-2.0
"""ATen operators that work element by element, casts and constants."""

from __future__ import annotations

from .aten_registry import HANDLERS, aten
from .torch_emitter import Call, Emitter, Result, Value

# Of one tensor. Some stand for their nearest relative, which costs the same.
UNARY = {
    "relu": "relu",
    "relu6": "relu6",
    "leaky_relu": "leaky_relu",
    "rrelu": "leaky_relu",
    "threshold": "relu",
    "gelu": "gelu",
    "silu": "silu",
    "mish": "mish",
    "sigmoid": "sigmoid",
    "log_sigmoid": "softplus",
    "hardsigmoid": "hard_sigmoid",
    "hardswish": "hard_swish",
    "tanh": "tanh",
    "softplus": "softplus",
    "elu": "elu",
    "selu": "elu",
    "celu": "elu",
    "exp": "exp",
    "exp2": "exp",
    "expm1": "exp",
    "log": "log",
    "log2": "log",
    "log10": "log",
    "log1p": "log",
    "logit": "log",
    "sqrt": "sqrt",
    "rsqrt": "rsqrt",
    "reciprocal": "pow",
    "square": "pow",
    "neg": "neg",
    "negative": "neg",
    "abs": "abs",
    "erf": "erf",
    "sin": "sin",
    "cos": "cos",
    "tan": "sin",
    "atan": "sin",
    "sign": "clip",
    "floor": "clip",
    "ceil": "clip",
    "round": "clip",
    "trunc": "clip",
    "clamp": "clip",
    "clamp_min": "clip",
    "clamp_max": "clip",
    "clip": "clip",
    "hardshrink": "clip",
    "softshrink": "clip",
    "nan_to_num": "clip",
    "tril": "scale",
    "triu": "scale",
}

# Of two tensors, or of a tensor and a number.
BINARY = {
    "add": ("add", "shift"),
    "sub": ("sub", "shift"),
    "subtract": ("sub", "shift"),
    "rsub": ("sub", "scale"),
    "mul": ("mul", "scale"),
    "multiply": ("mul", "scale"),
    "div": ("div", "scale"),
    "divide": ("div", "scale"),
    "true_divide": ("div", "scale"),
    "floor_divide": ("div", "scale"),
    "remainder": ("div", "scale"),
    "fmod": ("div", "scale"),
    "pow": ("mul", "pow"),
    "maximum": ("maximum", "clip"),
    "minimum": ("minimum", "clip"),
    "fmax": ("maximum", "clip"),
    "fmin": ("minimum", "clip"),
}

COMPARISONS = (
    *("eq", "ne", "lt", "le", "gt", "ge", "isnan", "isinf", "isfinite"),
    *("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"),
    *("logical_and", "logical_or", "logical_xor", "logical_not"),
    *("bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not", "__and__", "__or__", "__xor__"),
)

FILLS = (
    *("arange", "linspace", "zeros", "ones", "full", "empty", "eye", "scalar_tensor"),
    *("rand", "randn", "randint", "randperm", "normal", "tril_indices", "triu_indices"),
    *("zeros_like", "ones_like", "full_like", "empty_like"),
    *("rand_like", "randn_like", "randint_like"),
    *("new_zeros", "new_ones", "new_full", "new_empty", "empty_strided", "new_empty_strided"),
    *("fill", "zero", "uniform", "random", "exponential", "bernoulli"),  # of what is there
)


def _flags(c: Call, first: Value) -> dict[str, int]:
    return {"inplace": 1} if c.inplace and first.shape == c.shape else {}


@aten(*UNARY)
def unary(e: Emitter, c: Call) -> Result:
    x = c.values()[0]
    return e.add(UNARY[c.name], [x], c.shape, c.type, **_flags(c, x))


@aten(*BINARY)
def binary(e: Emitter, c: Call) -> Result:
    tensors = c.values()[:2]
    op = BINARY[c.name][0 if len(tensors) == 2 else 1]
    return e.add(op, tensors, c.shape, c.type, **_flags(c, tensors[0]))


@aten(*COMPARISONS)
def compare(e: Emitter, c: Call) -> Result:
    return e.add("compare", c.values()[:2], c.shape, c.type)


@aten("hardtanh")
def hardtanh(e: Emitter, c: Call) -> Result:
    six = (c.get("min_val", -1), c.get("max_val", 1)) == (0, 6)
    return e.add("relu6" if six else "clip", [c["self"]], c.shape, c.type, **_flags(c, c["self"]))


@aten("where")
def where(e: Emitter, c: Call) -> Result:
    return e.add("where", c.values(), c.shape, c.type)


@aten("masked_fill")
def masked_fill(e: Emitter, c: Call) -> Result:
    return e.add("where", [c["mask"], c["self"]], c.shape, c.type)


@aten("dropout", "native_dropout", "feature_dropout", "alpha_dropout")
def dropout(e: Emitter, c: Call) -> Result:
    x = c.values()[0]
    if c.get("train", True) is False or c.get("p", 0.5) == 0:
        return [x, None]
    shapes, types = [c.shape, c.shape], [c.type, "bool"]
    outputs = e.add_all("dropout", [x], shapes, types, **_flags(c, x))
    return outputs[0] if len(c.outputs) == 1 else outputs


@aten(*FILLS)
def fill(e: Emitter, c: Call) -> Result:
    return e.add_all("fill", [], [c.shape], [c.type])[0]


@aten("to", "_to_copy", "type_as", "float", "half", "to_dtype")
def cast(e: Emitter, c: Call) -> Result:
    return e.cast(c["self"], c.type)


@aten("clone")
def clone(e: Emitter, c: Call) -> Result:
    return e.add("contiguous", [c["self"]])


@aten("contiguous")
def contiguous(e: Emitter, c: Call) -> Result:
    x: Value = c["self"]
    if x.fake is not None and e.sizes.like(x.fake).is_contiguous():
        return x
    return e.add("contiguous", [x])


@aten("copy")
def copy(e: Emitter, c: Call) -> Result:
    source = e.expand(e.cast(c["src"], c.type), c.shape)
    return e.add("contiguous", [source])


@aten("detach")
def detach(e: Emitter, c: Call) -> Result:
    return e.detach(c.values()[0])


@aten("alias", "lift_fresh", "lift_fresh_copy", "lift", "requires_grad", "pin_memory")
def same(e: Emitter, c: Call) -> Result:
    return c.values()[0]


HANDLERS["view_as_complex"] = same  # a complex number is an axis of 2
HANDLERS["view_as_real"] = same
HANDLERS["resolve_conj"] = same
