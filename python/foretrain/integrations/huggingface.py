# SPDX-License-Identifier: Apache-2.0
"""A callback for the Trainer of Hugging Face's transformers."""

from __future__ import annotations

from typing import Any

from ..errors import Error
from ..from_torch import from_torch
from ..steps import StepRecorder

try:
    from transformers import TrainerCallback
except ImportError as missing:
    raise Error(
        "this callback needs transformers: pip install transformers accelerate", "Unsupported"
    ) from missing

_OPTIMIZERS = {"adamw": "adamw", "sgd": "sgd"}  # how the Trainer's names begin


class Callback(TrainerCallback):
    """Measures the Trainer's steps and compares them with the prediction.

    >>> Trainer(..., callbacks=[Callback(device="t4", output="steps.jsonl")])

    Without ``model`` the module that is trained is captured as :func:`foretrain.from_torch` does,
    with the shapes of the first batch. Batch, accumulation, precision, optimizer, recomputation and
    number of processes are the Trainer's; arguments given here go before them. The others are
    those of :class:`foretrain.StepRecorder`. Where no prediction is possible the reason is told
    and training goes on.
    """

    def __init__(self, model: Any = None, **options: Any) -> None:
        self.recorder: StepRecorder | None = None
        self._model = model
        self._options = options
        self._inputs: dict[str, Any] | None = None
        self._tried = False

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self.recorder, self._tried = None, False
        if self._model is None:
            self._watch(kwargs["model"])

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if not self._tried:  # the first step, which does not count
            self._tried = True
            self._begin(args, kwargs["model"])
        if self.recorder is not None:
            self.recorder.tick()

    def on_evaluate(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._pause()

    def on_save(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._pause()

    def on_epoch_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._pause()

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if self.recorder is not None:
            self.recorder.close()

    def _pause(self) -> None:
        if self.recorder is not None:
            self.recorder.pause()

    def _watch(self, module: Any) -> None:
        """Keeps the shapes that the module is first called with."""

        def look(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
            hook.remove()
            self._inputs = {
                name: value.to("meta") if hasattr(value, "to") else value
                for name, value in kwargs.items()
                if value is not None
            }

        hook = module.register_forward_pre_hook(look, with_kwargs=True)

    def _begin(self, args: Any, module: Any) -> None:
        options = _request_of(args) | self._options
        try:
            model = self._model
            if model is None:
                model = from_torch(module, self._inputs)
            self.recorder = StepRecorder(model, **options)
        except Error as error:
            say = options.get("say", print)
            if say is not None and args.process_index == 0:
                say(f"foretrain: no prediction: {error}")


def _request_of(args: Any) -> dict[str, Any]:
    """What the Trainer's arguments say of the job."""
    micro, gpus = args.per_device_train_batch_size, max(1, args.n_gpu)  # of this process
    kinds = {"bf16": args.bf16, "fp16": args.fp16, "tf32": args.tf32}
    request: dict[str, Any] = {
        "batch": micro * args.gradient_accumulation_steps,
        "workers": args.world_size * gpus,
        "precision": next((kind for kind, used in kinds.items() if used), "fp32"),
    }
    strategy: dict[str, Any] = {"kind": _kind_of(args, gpus)}
    if args.gradient_accumulation_steps > 1:
        strategy["micro_batch"] = micro
    if args.gradient_checkpointing:
        strategy["recompute"] = "full"
    if strategy != {"kind": "ddp"}:
        request["strategy"] = strategy
    name = str(getattr(args.optim, "value", args.optim))
    for begin, optimizer in _OPTIMIZERS.items():
        if name.startswith(begin):
            request["optimizer"] = optimizer
    return request


def _kind_of(args: Any, gpus: int) -> str:
    """How the Trainer shares the work, in a request's words."""
    if getattr(args, "deepspeed", None):
        stage = args.hf_deepspeed_config.get_value("zero_optimization.stage", 0)
        return f"zero{stage}" if stage else "ddp"
    if getattr(args, "fsdp", None):
        return "fsdp"
    return "dataparallel" if gpus > 1 else "ddp"
