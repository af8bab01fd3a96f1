# SPDX-License-Identifier: Apache-2.0
"""What is known by name: devices, networks, models, clouds."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, overload

from . import _core, humanise
from .errors import Error
from .record import Record
from .tables import html_table, text_table


class Device(Record):
    """A device with its datasheet; every value's origin is in ``sources``."""

    name: str
    aliases: list[str]
    vendor: str
    architecture: str
    fp32_flops_per_s: float
    tensor_fp16_flops_per_s: float | None
    memory_bytes: float
    memory_bytes_per_s: float
    sources: Record


class Network(Record):
    """A link between nodes or between the devices of a node."""

    name: str
    aliases: list[str]
    joins: str
    bytes_per_s: float
    latency_s: float


class Model(Record):
    """A built-in model; ``parameters`` lists what may follow its name."""

    name: str
    family: str
    about: str
    parameters: str


class Cloud(Record):
    """A cloud's instance type with its price."""

    provider: str
    name: str
    region: str
    device: str
    devices: int
    price_per_hour_usd: float


class Catalog(Sequence[Record]):
    """Entries of a catalog: a sequence, found by name too."""

    def __init__(self, entries: list[Record], columns: tuple[str, ...]) -> None:
        self._entries = entries
        self._columns = columns

    @overload
    def __getitem__(self, index: int | str) -> Record: ...
    @overload
    def __getitem__(self, index: slice) -> Catalog: ...
    def __getitem__(self, index: int | str | slice) -> Record | Catalog:
        if isinstance(index, slice):
            return Catalog(self._entries[index], self._columns)
        if isinstance(index, int):
            return self._entries[index]
        for entry in self._entries:
            if entry.name == index or index in entry.to_dict().get("aliases", ()):
                return entry
        raise Error(f"there is no '{index}' among {len(self)} entries", "NotFound")

    def __len__(self) -> int:
        return len(self._entries)

    def names(self) -> list[str]:
        """The names in the order of the catalog."""
        return [entry.name for entry in self._entries]

    def to_dict(self) -> list[dict[str, Any]]:
        """The entries as JSON objects."""
        return [entry.to_dict() for entry in self._entries]

    def _cells(self) -> list[list[str]]:
        return [[_cell(name, getattr(e, name)) for name in self._columns] for e in self._entries]

    def __repr__(self) -> str:
        return text_table(self._cells(), self._columns)

    def _repr_html_(self) -> str:
        return html_table(self._cells(), self._columns)


def _cell(name: str, value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, float | int) and not isinstance(value, bool):
        if name.endswith("flops_per_s"):
            return humanise.large(value, "FLOP/s")
        if name.endswith("bytes_per_s"):
            return humanise.large(value, "B/s")
        if name.endswith("bytes"):
            return humanise.size(value)
        if name.endswith("_s"):
            return humanise.seconds(value)
        return f"{value:g}"
    return str(value)


def _catalog(text: str, kind: type[Record], pattern: str, columns: tuple[str, ...]) -> Catalog:
    words = pattern.lower().split()
    entries = [
        kind(entry)
        for entry in json.loads(text)
        if all(word in json.dumps(_searched(entry)).lower() for word in words)
    ]
    return Catalog(entries, columns)


_SEARCHED = (
    *("name", "aliases", "vendor", "architecture", "joins", "family", "about"),
    *("provider", "region", "device"),
)


def _searched(entry: dict[str, Any]) -> list[Any]:
    """What a filter looks at."""
    return [entry[key] for key in _SEARCHED if key in entry]


def devices(filter: str = "") -> Catalog:
    """The devices that are known by name; ``filter`` keeps those that contain all its words."""
    columns = ("name", "architecture", "memory_bytes", "memory_bytes_per_s", "fp32_flops_per_s")
    return _catalog(_core.devices_json(), Device, filter, columns)


def networks(filter: str = "") -> Catalog:
    """The links between nodes and between the devices of a node."""
    columns = ("name", "joins", "bytes_per_s", "latency_s")
    return _catalog(_core.networks_json(), Network, filter, columns)


def models(filter: str = "") -> Catalog:
    """The built-in models."""
    return _catalog(_core.models_json(), Model, filter, ("name", "family", "about", "parameters"))


def clouds(filter: str = "") -> Catalog:
    """The instance types of clouds with their prices."""
    columns = ("provider", "name", "region", "device", "devices", "price_per_hour_usd")
    return _catalog(_core.clouds_json(), Cloud, filter, columns)
