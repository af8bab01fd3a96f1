# SPDX-License-Identifier: Apache-2.0
"""The fields of a request, for type checkers; docs/python.md says what they mean."""

from __future__ import annotations

from typing import Any, TypedDict


class Strategy(TypedDict, total=False):
    """How the work is divided among the workers."""

    kind: str
    tensor: int
    pipeline: int
    expert: int
    context: int
    micro_batch: int
    interleave: int
    recompute: str
    servers: int
    asynchronous: bool
    server_device: str | dict[str, Any]
    server_placement: list[int]


class Request(TypedDict, total=False):
    """What is asked besides the model: the keyword arguments of ``predict``."""

    device: str | dict[str, Any]
    workers: int
    workers_per_node: int
    placement: list[int]
    intra_node: str | dict[str, Any]
    network: str | dict[str, Any]
    cluster: str | dict[str, Any]
    batch: int
    global_batch: int
    precision: str
    framework: str
    host_speed: float
    input_rate: float
    power_limit_w: float
    context_bytes: float
    attention: str
    trainable: str
    optimizer: str
    strategy: str | Strategy
    samples: float
    epochs: float
    steps: float
    tokens: float
    dataset: str
    mode: str
    predictors: list[str]
    engine: str
    price_per_device_hour: float
    cloud: str
