# SPDX-License-Identifier: Apache-2.0
"""What cannot be captured is refused with a message that helps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import foretrain

X = torch.zeros(4, 8)


class Of(nn.Module):
    """A layer and then some function."""

    def __init__(self, function: Callable[[Tensor], Any]) -> None:
        super().__init__()
        self.layer = nn.Linear(8, 8)
        self.function = function

    def forward(self, x: Tensor) -> Any:
        return self.function(self.layer(x))


def refusal(module: Any, inputs: Any = X, **options: Any) -> foretrain.Error:
    with pytest.raises(foretrain.Error) as caught:
        foretrain.from_torch(module, inputs, **options)
    assert "\n" not in str(caught.value)
    return caught.value


def test_control_flow_that_depends_on_values_names_the_line() -> None:
    error = refusal(Of(lambda x: x * 2 if x.sum() > 0 else x))
    assert error.kind == "Unsupported"
    assert "depends on the values of tensors (test_capture_errors.py:" in str(error)
    assert "torch.where" in str(error)


def test_shapes_that_depend_on_values() -> None:
    error = refusal(Of(lambda x: x[x[:, 0] > 0]))
    assert error.kind == "Unsupported"
    assert "values of tensors" in str(error)


def test_outputs_that_are_no_tensors() -> None:
    error = refusal(Of(lambda x: x.shape[1]))
    assert error.kind == "BadInput"
    assert "returns no tensor of floating-point numbers" in str(error)
    assert "floating-point" in str(refusal(Of(lambda x: x.argmax(1))))


def test_inputs_that_do_not_fit() -> None:
    wrong_size = refusal(nn.Linear(8, 8), torch.zeros(4, 9))
    assert wrong_size.kind == "BadInput"
    assert "does not run with these example inputs" in str(wrong_size)
    assert "do not fit forward of Linear" in str(refusal(nn.Linear(8, 8), (X, X)))
    assert "hold no tensor" in str(refusal(nn.Linear(8, 8), (3,)))
    assert "the inputs are input" in str(refusal(nn.Linear(8, 8), X, dynamic={"x": {1: "seq"}}))


def test_what_is_no_module() -> None:
    assert "takes a torch.nn.Module, not function" in str(refusal(lambda x: x))
    with pytest.raises(foretrain.Error, match="needs example_inputs"):
        foretrain.predict(nn.Linear(8, 8), device="a100")
    with pytest.raises(foretrain.Error, match="not to a name or a path"):
        foretrain.predict("resnet50", X, device="a100")


def test_a_check_finds_work_that_a_graph_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    from foretrain import torch_check

    monkeypatch.setattr(torch_check, "pytorch_flops", lambda *_, **__: (1000, 3000))
    error = refusal(nn.Linear(8, 8), X, check=True)
    assert error.kind == "Unsupported"
    assert "PyTorch counts 1000" in str(error)


def test_a_module_is_left_as_it_was_found() -> None:
    module = Of(lambda x: x * 2 if x.sum() > 0 else x).eval()
    module.layer.train()
    refusal(module)
    assert not module.training
    assert module.layer.training
