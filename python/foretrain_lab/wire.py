# SPDX-License-Identifier: Apache-2.0
"""Tensors over sockets: a header, then the bytes of the tensor, without a copy in between."""

from __future__ import annotations

import ctypes
import socket
import struct

from torch import Tensor

PUSH, PULL, VALUE, BYE = 1, 2, 3, 4
_HEADER = struct.Struct("<IIQ")  # kind, variable or version, bytes that follow


def bytes_of(tensor: Tensor) -> memoryview:
    """A contiguous tensor's memory. It must outlive the view."""
    size = tensor.numel() * tensor.element_size()
    return memoryview((ctypes.c_char * size).from_address(tensor.data_ptr())).cast("B")


def send(connection: socket.socket, kind: int, number: int, tensor: Tensor | None = None) -> None:
    data = bytes_of(tensor) if tensor is not None else memoryview(b"")
    connection.sendall(_HEADER.pack(kind, number, len(data)))
    if len(data):
        connection.sendall(data)


def receive_header(connection: socket.socket) -> tuple[int, int, int]:
    header = bytearray(_HEADER.size)
    receive_into(connection, memoryview(header))
    kind, number, size = _HEADER.unpack(header)
    return kind, number, size


def receive_into(connection: socket.socket, target: memoryview) -> None:
    while len(target):
        count = connection.recv_into(target)
        if count == 0:
            raise ConnectionError("the other end closed the connection")
        target = target[count:]


def assign(sizes: list[int], servers: int) -> list[int]:
    """Which server holds each variable: the one with the fewest bytes so far, in their order."""
    held = [0] * servers
    places = []
    for size in sizes:
        place = held.index(min(held))
        held[place] += size
        places.append(place)
    return places
