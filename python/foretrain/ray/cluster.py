# SPDX-License-Identifier: Apache-2.0
"""A Ray cluster by its address, or a Ray of this machine."""

from __future__ import annotations

import contextlib
import importlib
import logging
import os
from collections.abc import Iterator
from typing import Any

from ..errors import Error

LOCAL = "local"
_INSTALL = "install it by `pip install 'ray[train,client]'`"


def module(name: str) -> Any:
    """A module of Ray's. Raises Error where it is not installed, with what to do."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        what = "Ray is not installed" if name == "ray" else f"{name} cannot be imported ({error})"
        raise Error(f"{what}; {_INSTALL}", "NotFound") from error


@contextlib.contextmanager
def connected(address: str, *, cpus: int | None = None) -> Iterator[Any]:
    """Ray, connected: ``local`` starts one on this machine, which ends with the block.

    An address is ``ray://host:10001`` (Ray's client, from anywhere) or ``host:6379`` and ``auto``
    (from a machine of the cluster).
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # Ray's own advice
    ray = module("ray")
    quiet: dict[str, Any] = {"logging_level": logging.ERROR, "log_to_driver": False}
    try:
        if address == LOCAL:
            ray.init(address=LOCAL, num_cpus=cpus, include_dashboard=False, **quiet)
        elif address.startswith("ray://"):
            module("grpc")  # without it Ray's own message is a long one
            ray.init(address=address, **quiet)
        else:
            ray.init(address=address, **quiet)
    except (ConnectionError, RuntimeError, OSError, ValueError) as error:
        words = " ".join(str(error).split())[:300]
        raise Error(
            f"cannot connect to Ray at '{address}': {words}; an address is ray://host:10001, or on "
            "a machine of the cluster host:6379, or 'local'",
            "Io",
        ) from error
    try:
        yield ray
    finally:
        ray.shutdown()


def cpus_of(ray: Any) -> float:
    """CPUs of all living nodes, as Ray counts them."""
    return float(ray.cluster_resources().get("CPU", 0))


def nodes_of(ray: Any) -> list[dict[str, Any]]:
    """Living nodes that have CPUs."""
    return [n for n in ray.nodes() if n["Alive"] and n["Resources"].get("CPU", 0) > 0]
