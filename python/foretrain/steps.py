# SPDX-License-Identifier: Apache-2.0
"""Steps of a training loop, measured and held against the prediction."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import pathlib
import statistics
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from . import humanise
from .errors import Error
from .graphs import Graph, as_file, as_graph
from .prediction import predict
from .report import Report

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self, Unpack

    from .request import Request

_Batch = TypeVar("_Batch")
_MOST_STEPS = 100_000  # that are kept, the latest
_FIRST_WORD = 20  # steps after which the first comparison is told


class StepRecorder:
    """Measures the steps of a training loop and compares them with the prediction.

    >>> with foretrain.StepRecorder("resnet50", device="t4", batch=32) as recorder:
    ...     for images, labels in recorder.steps(loader):
    ...         train(images, labels)

    ``model``, ``example_inputs`` and the keyword arguments are those of :func:`foretrain.predict`;
    the prediction is made at once, so what is wrong with the request is an :class:`Error` before
    training begins. ``workers`` is the number of processes of ``torch.distributed``, where that is
    in use and the request does not say it.

    The first ``warm_up`` steps do not count. Comparisons are told by ``say`` (None: not at all)
    after 20 steps and at the end, by the first process only. With ``output`` the end appends a line
    to that file: ``{"request": …, "step_time_s": …, "steps": …, "started": …}``, which
    ``foretrain fit calibration``, ``evaluate`` and ``store import`` read.

    GPUs work on while the loop is ahead of them; after some steps the loop waits for them, so the
    median is right. ``synchronize`` waits for the GPU at the end of every step instead.
    """

    def __init__(
        self,
        model: Any,
        example_inputs: Any = None,
        *,
        output: str | os.PathLike[str] | None = None,
        warm_up: int = 3,
        synchronize: bool = False,
        say: Callable[[str], object] | None = print,
        **request: Unpack[Request],
    ) -> None:
        fields: dict[str, Any] = {key: value for key, value in request.items() if value is not None}
        if not {"workers", "placement", "cluster"} & fields.keys() and _processes() > 1:
            fields["workers"] = _processes()
        graph = as_graph(model, example_inputs)
        self.report: Report = predict(model if graph is None else graph, **fields)
        self._model = model if graph is None else graph
        self._fields = fields
        self._output = None if output is None else pathlib.Path(output)
        self._synchronize = synchronize
        self._say = say
        self._uncounted = warm_up
        self._mark: float | None = None
        self._times: deque[float] = deque(maxlen=_MOST_STEPS)
        self._closed = False
        self._started = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())

    def steps(self, batches: Iterable[_Batch]) -> Iterator[_Batch]:
        """The batches; the loop's body, and waiting for the next batch, is a step."""
        self.pause()
        for batch in batches:
            if self._mark is None:
                self._mark = self._now()
            yield batch
            self.tick()

    @contextlib.contextmanager
    def step(self) -> Iterator[None]:
        """One step, for loops that have other work between steps."""
        self._mark = self._now()
        yield
        self.tick()
        self.pause()

    def tick(self) -> None:
        """A step has ended; it began with the one before, unless there was a pause."""
        now = self._now()
        if self._mark is not None:
            if self._uncounted > 0:
                self._uncounted -= 1
            else:
                self._times.append(now - self._mark)
                if len(self._times) == _FIRST_WORD:
                    self._tell()
                    now = self._now()
        self._mark = now

    def pause(self) -> None:
        """What comes next (an evaluation, a checkpoint) is no step."""
        self._mark = None

    @property
    def step_times_s(self) -> list[float]:
        """Of the steps that count, in seconds; the latest 100,000."""
        return list(self._times)

    @property
    def step_time_s(self) -> float | None:
        """The median; None before the first step that counts."""
        return statistics.median(self._times) if self._times else None

    @property
    def request(self) -> dict[str, Any]:
        """What was predicted, as a request; a graph is named by its file once that is written."""
        if isinstance(self._model, Graph):
            fields = dict(self._fields)
            if self._model.fixed_batch is not None and "global_batch" not in fields:
                fields["batch"] = self._model.fixed_batch
            name = self._model.name or "model"
            return {"model": name if self._output is None else str(self._graph_file())} | fields
        model = self._model if isinstance(self._model, str) else as_file(self._model)
        return {"model": model} | self._fields

    def close(self) -> None:
        """Tells the last comparison and writes the line of ``output``."""
        if self._closed:
            return
        self._closed = True
        self._tell()
        if self._output is not None and self._times and _rank() == 0:
            self._write(self._output)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __str__(self) -> str:
        measured, predicted = self.step_time_s, self.report.step_time_s
        expected = f"predicted {humanise.seconds(predicted.value)}"
        if predicted.low is not None and predicted.high is not None:
            low, high = humanise.seconds(predicted.low), humanise.seconds(predicted.high)
            expected += f" ({low} to {high})"
        if measured is None:
            return f"no step was counted yet; {expected}"
        words = f"step {humanise.seconds(measured)}, the median of {len(self._times)}; {expected}"
        off = predicted.value / measured - 1
        return f"{words}, {humanise.percent(abs(off))} {'more' if off > 0 else 'less'}"

    def _tell(self) -> None:
        if self._say is not None and _rank() == 0:
            self._say(f"foretrain: {self}")

    def _now(self) -> float:
        if self._synchronize:
            torch = sys.modules.get("torch")
            if torch is not None and torch.cuda.is_initialized():
                torch.cuda.synchronize()
        return time.perf_counter()

    def _graph_file(self) -> pathlib.Path:
        """Beside the output; its name tells graphs apart."""
        assert self._output is not None and isinstance(self._model, Graph)
        mark = hashlib.sha256(self._model.ftg().encode()).hexdigest()[:12]
        return self._output.absolute().with_name(f"{self._output.stem}-{mark}.ftg.json")

    def _write(self, output: pathlib.Path) -> None:
        line = {
            "request": self.request,
            "step_time_s": self.step_time_s,
            "steps": len(self._times),
            "started": self._started,
        }
        try:
            output.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(self._model, Graph):
                self._model.save(self._graph_file())
            with output.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line, default=os.fspath) + "\n")
        except OSError as error:
            raise Error(f"cannot write '{output}': {error.strerror}", "Io") from error


def _distributed() -> Any:
    """``torch.distributed`` where it is in use; torch is not imported for that."""
    torch = sys.modules.get("torch")
    distributed = getattr(torch, "distributed", None)
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        return None
    return distributed


def _processes() -> int:
    distributed = _distributed()
    return 1 if distributed is None else int(distributed.get_world_size())


def _rank() -> int:
    distributed = _distributed()
    return 0 if distributed is None else int(distributed.get_rank())
