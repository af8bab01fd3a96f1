# SPDX-License-Identifier: Apache-2.0
"""Data of a data set's shape: a made-up set in memory, read, shuffled and normalised by batch."""

from __future__ import annotations

import torch
from torch import Tensor

from .interpreter import FtgModule


class DataSet:
    """Samples of the shapes of a module's inputs. Floats are kept as bytes, as images are."""

    def __init__(self, module: FtgModule, samples: int, batch: int) -> None:
        self._batch, self._samples = batch, samples
        self._axes = [axis for _, axis in module.input_layout()]
        self._stored = []
        for example, axis in zip(module.inputs(), self._axes, strict=True):
            if axis is None:
                self._stored.append(example)
                continue
            shape = list(example.shape)
            shape[axis] = samples
            if example.is_floating_point():
                self._stored.append(torch.randint(256, shape, dtype=torch.uint8))
            else:
                limit = max(int(example.max()), 1)
                self._stored.append(torch.randint(limit, shape, dtype=example.dtype))

    def epoch(self) -> list[Tensor]:
        """The samples of each full batch, in a new order."""
        order = torch.randperm(self._samples)
        return [part for part in order.split(self._batch) if len(part) == self._batch]

    def batch(self, samples: Tensor) -> list[Tensor]:
        result = []
        for stored, axis in zip(self._stored, self._axes, strict=True):
            part = stored if axis is None else stored.index_select(axis, samples)
            if part.dtype == torch.uint8:
                part = part.float().div_(255).sub_(0.5).div_(0.25)
            result.append(part)
        return result
