# SPDX-License-Identifier: Apache-2.0
"""The lab's parameter servers: a server and its workers over real sockets of this machine."""

from __future__ import annotations

import pathlib
import socket
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))

from foretrain_lab.servers import Client, Server

SECONDS = 30.0  # until a test gives up


class Variables(nn.Module):
    """Vectors of the given lengths, all of one value."""

    def __init__(self, value: float, lengths: tuple[int, ...] = (3, 2)) -> None:
        super().__init__()
        for place, length in enumerate(lengths):
            self.register_parameter(f"v{place}", nn.Parameter(torch.full((length,), value)))

    def push(self, gradient: float) -> None:
        """Gives every element this gradient, which sends it off."""
        for parameter in self.parameters():
            parameter.grad = None
        sum(gradient * parameter.sum() for parameter in self.parameters()).backward()

    def values(self) -> list[float]:
        """Of each vector, whose elements must agree."""
        for parameter in self.parameters():
            assert torch.all(parameter == parameter[0])
        return [float(parameter.detach()[0]) for parameter in self.parameters()]


class Thread(threading.Thread):
    """Runs something, and tells how it ended."""

    def __init__(self, work: Callable[[], Any]) -> None:
        super().__init__(daemon=True)
        self.error: Exception | None = None
        self._work = work
        self.start()

    def run(self) -> None:
        try:
            self._work()
        except Exception as error:
            self.error = error

    def is_done(self, seconds: float = SECONDS) -> bool:
        self.join(seconds)
        return not self.is_alive()


def free_address() -> tuple[str, int]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return "127.0.0.1", probe.getsockname()[1]


def start_server(
    module: nn.Module, workers: int, asynchronous: bool, index: int = 0, servers: int = 1
) -> tuple[tuple[str, int], Thread]:
    """A server that subtracts gradients: gradient descent with a rate of 1."""
    job = {"servers": servers, "workers": workers, "asynchronous": asynchronous}
    server = Server(module, index, job, lambda p: torch.optim.SGD(p, lr=1.0))
    address = free_address()
    return address, Thread(lambda: server.serve(address))


def connect(address: tuple[str, int]) -> socket.socket:
    """As soon as somebody listens."""
    deadline = time.monotonic() + SECONDS
    while True:
        try:
            return socket.create_connection(address)
        except ConnectionRefusedError:
            assert time.monotonic() < deadline
            time.sleep(0.02)


def two_workers(asynchronous: bool) -> tuple[Thread, list[Variables], list[Client]]:
    """They begin at 0 and pull the server's 10."""
    address, serving = start_server(Variables(10.0), 2, asynchronous)
    modules = [Variables(0.0), Variables(0.0)]
    clients = [Client(module, [address]) for module in modules]
    for client in clients:
        client.pull()
    assert [module.values() for module in modules] == [[10.0, 10.0]] * 2
    return serving, modules, clients


def test_a_synchronous_server_answers_when_all_have_pushed() -> None:
    serving, modules, clients = two_workers(asynchronous=False)
    modules[0].push(1.0)
    first = Thread(clients[0].pull)
    assert not first.is_done(0.3)
    modules[1].push(3.0)
    clients[1].pull()
    assert first.is_done()
    # The mean of 1 and 3 is taken off 10.
    assert [module.values() for module in modules] == [[8.0, 8.0]] * 2
    for client in clients:
        client.close()
    assert serving.is_done()
    assert serving.error is None


def test_an_asynchronous_server_answers_at_once() -> None:
    serving, modules, clients = two_workers(asynchronous=True)
    modules[0].push(1.0)
    clients[0].pull()
    assert modules[0].values() == [9.0, 9.0]
    modules[1].push(3.0)
    clients[1].pull()
    assert modules[1].values() == [6.0, 6.0]
    assert modules[0].values() == [9.0, 9.0]
    for client in clients:
        client.close()
    assert serving.is_done()
    assert serving.error is None


def test_each_server_holds_its_share_of_the_bytes() -> None:
    # 8 to the first, 2, 3 and 4 to the second (9), 1 to the first: what a server holds is its own.
    lengths = (8, 2, 3, 4, 1)
    started = [
        start_server(Variables(value, lengths), 1, False, index, servers=2)
        for index, value in enumerate((100.0, 200.0))
    ]
    module = Variables(0.0, lengths)
    client = Client(module, [address for address, _ in started])
    client.pull()
    assert module.values() == [100.0, 200.0, 200.0, 200.0, 100.0]
    module.push(1.0)
    client.pull()
    assert module.values() == [99.0, 199.0, 199.0, 199.0, 99.0]
    client.close()
    assert all(serving.is_done() and serving.error is None for _, serving in started)


def test_a_worker_that_vanishes_is_an_error() -> None:
    address, serving = start_server(Variables(10.0), 1, False)
    connect(address).close()
    assert serving.is_done()
    assert isinstance(serving.error, ConnectionError)
