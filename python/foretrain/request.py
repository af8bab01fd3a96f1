# SPDX-License-Identifier: Apache-2.0
"""The fields of a request, for type checkers; docs/request.md says what they mean.

tools/write_request.py writes this file from the program's table of fields; do not edit it.
"""

from __future__ import annotations

from typing import Any, Literal, TypedDict


class Strategy(TypedDict, total=False):
    """How the work is divided among the workers."""

    kind: Literal[
        "ddp", "allreduce", "dataparallel", "ps", "horovod", "fsdp", "zero1", "zero2", "zero3"
    ]
    micro_batch: int
    shard_group: int
    gradient_precision: Literal["fp32", "bf16", "fp16"]
    reduce_every_pass: bool
    bucket_bytes: float
    servers: int
    asynchronous: bool
    cycle_s: float
    server_device: str | dict[str, Any]
    server_placement: list[int]
    tensor: int
    pipeline: int
    expert: int
    context: int
    sequence_parallel: bool
    expert_imbalance: float
    schedule: Literal["1f1b", "gpipe"]
    interleave: int
    recompute: Literal["none", "selective", "full"]
    offload: Literal["none", "optimizer", "activations"]


class Request(TypedDict, total=False):
    """What is asked besides the model: the keyword arguments of ``predict``."""

    device: str | dict[str, Any]
    workers: int
    workers_per_node: int
    placement: list[int]
    intra_node: str | dict[str, Any]
    network: str | dict[str, Any]
    cluster: str | dict[str, Any]
    batch: int | Literal["max"]
    global_batch: int
    precision: Literal["fp32", "tf32", "fp16", "bf16", "fp8", "fp64", "fp32-ieee"]
    weights: Literal["fp32", "bf16", "fp16", "int8", "nf4"]
    memory_format: Literal["contiguous", "channels_last"]
    framework: str
    optimizer: Literal[
        "sgd", "momentum", "adam", "adamw", "lamb", "adagrad", "rmsprop", "lars", "adam-8bit",
        "adamw-8bit", "lion", "adafactor", "paged-adamw", "paged-adamw-8bit", "none"
    ]
    fused_optimizer: bool
    mean_length: float
    length_deviation: float
    strategy: str | Strategy
    mode: Literal["train", "inference"]
    trainable: str
    attention: Literal["math", "flash"]
    autotune: bool
    dataset: str
    samples: float
    epochs: float
    steps: float
    tokens: float
    evaluate_s: float
    checkpoint_s: float
    checkpoint_every: float
    mtbf_s: float
    restart_s: float
    host: str
    host_speed: float
    input_rate: float
    copy_rate: float
    loaders: int
    input_copy: Literal["pageable", "pinned"]
    power_limit_w: float
    context_bytes: float
    price_per_device_hour: float
    cloud: str
    predictors: list[str]
    engine: Literal["auto", "operators", "inspector", "embedding", "scaling"]
