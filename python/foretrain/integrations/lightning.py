# SPDX-License-Identifier: Apache-2.0
"""A callback for the Trainer of Lightning."""

from __future__ import annotations

from typing import Any

from ..errors import Error
from ..from_torch import from_torch
from ..steps import StepRecorder

try:
    from lightning.pytorch.callbacks import Callback as _Base
except ImportError:
    try:
        from pytorch_lightning.callbacks import Callback as _Base
    except ImportError as missing:
        raise Error(
            "this callback needs Lightning: pip install lightning", "Unsupported"
        ) from missing

_PRECISIONS = {"16": "fp16", "bf16": "bf16", "32": "fp32", "64": "fp64"}  # before "-mixed", "-true"


class Callback(_Base):
    """Measures the Trainer's steps and compares them with the prediction.

    >>> Trainer(callbacks=[Callback("resnet18", device="t4", output="steps.jsonl")])

    Without ``model`` the module is captured as :func:`foretrain.from_torch` does, with its
    ``example_input_array``. Batch, accumulation, precision and number of processes are the
    Trainer's; arguments given here go before them. The others are those of
    :class:`foretrain.StepRecorder`, ``optimizer`` among them. Where no prediction is possible the
    reason is told and training goes on.
    """

    def __init__(self, model: Any = None, **options: Any) -> None:
        super().__init__()
        self.recorder: StepRecorder | None = None
        self._model = model
        self._options = options
        self._steps = 0  # of the optimizer, at the last tick

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        options = _request_of(trainer) | self._options
        self._steps = trainer.global_step
        try:
            model = self._model
            if model is None:
                model = _capture(pl_module)
            self.recorder = StepRecorder(model, **options)
        except Error as error:
            self.recorder = None
            say = options.get("say", print)
            if say is not None and trainer.is_global_zero:
                say(f"foretrain: no prediction: {error}")

    def on_train_batch_end(self, trainer: Any, pl_module: Any, *args: Any, **kwargs: Any) -> None:
        if self.recorder is not None and trainer.global_step > self._steps:  # accumulated
            self._steps = trainer.global_step
            self.recorder.tick()

    def on_train_epoch_start(self, trainer: Any, pl_module: Any) -> None:
        self._pause()

    def on_validation_end(self, trainer: Any, pl_module: Any) -> None:
        self._pause()

    def on_save_checkpoint(self, trainer: Any, pl_module: Any, checkpoint: Any) -> None:
        self._pause()

    def on_train_end(self, trainer: Any, pl_module: Any) -> None:
        if self.recorder is not None:
            self.recorder.close()

    def _pause(self) -> None:
        if self.recorder is not None:
            self.recorder.pause()


def _capture(module: Any) -> Any:
    inputs = getattr(module, "example_input_array", None)
    if inputs is None:
        raise Error("give the callback a model, or the module an example_input_array")
    return from_torch(module, inputs)


def _request_of(trainer: Any) -> dict[str, Any]:
    """What the Trainer knows of the job."""
    request: dict[str, Any] = {"workers": trainer.world_size}
    strategy: dict[str, Any] = {"kind": _kind_of(trainer.strategy)}
    batch = getattr(trainer.train_dataloader, "batch_size", None)
    if isinstance(batch, int):
        request["batch"] = batch * trainer.accumulate_grad_batches
        if trainer.accumulate_grad_batches > 1:
            strategy["micro_batch"] = batch
    if strategy != {"kind": "ddp"}:
        request["strategy"] = strategy
    precision = _PRECISIONS.get(str(trainer.precision).split("-")[0])
    if precision is not None:
        request["precision"] = precision
    return request


def _kind_of(strategy: Any) -> str:
    """How the Trainer shares the work, in a request's words."""
    name = type(strategy).__name__
    if name == "DeepSpeedStrategy":
        stage = strategy.config.get("zero_optimization", {}).get("stage", 0)
        return f"zero{stage}" if stage else "ddp"
    return "fsdp" if name == "FSDPStrategy" else "ddp"
