# SPDX-License-Identifier: Apache-2.0
"""Training with parameter servers over plain sockets.

A step of a worker: pull all variables, compute, push each gradient as soon as it is there, so that
pushes hide behind the backward pass. A synchronous server answers a pull when every worker's
gradients of the step before have been added up and applied; an asynchronous one applies each
gradient when it comes and answers at once.
"""

from __future__ import annotations

import queue
import socket
import threading
import time
from typing import Any

import torch
from torch import Tensor, nn

from . import threads, wire

PATIENCE_S = 120.0


class Server:
    """Holds the variables that ``wire.assign`` gives to it and serves until all workers left."""

    def __init__(self, module: nn.Module, index: int, job: dict[str, Any], make_optimizer: Any):
        parameters = [p for p in module.parameters() if p.requires_grad]
        places = wire.assign([p.numel() * p.element_size() for p in parameters], job["servers"])
        self._variables = {i: p for i, p in enumerate(parameters) if places[i] == index}
        self._optimizers = {i: make_optimizer([p]) for i, p in self._variables.items()}
        self._sums = {i: torch.zeros_like(p) for i, p in self._variables.items()}
        self._arrived = dict.fromkeys(self._variables, 0)
        self._workers, self._asynchronous = job["workers"], job["asynchronous"]
        self._changed = threading.Condition()
        self._updates = 0
        self._failure: Exception | None = None

    def serve(self, address: tuple[str, int]) -> None:
        listener = socket.create_server(address, backlog=self._workers)
        listener.settimeout(PATIENCE_S)
        running = []
        with listener:
            for _ in range(self._workers):
                connection, _ = listener.accept()
                connection.settimeout(PATIENCE_S)
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                wanted: queue.SimpleQueue[int | None] = queue.SimpleQueue()
                running.append(threads.start("ft_serve_rx", self._read, connection, wanted))
                running.append(threads.start("ft_serve_tx", self._write, connection, wanted))
        for thread in running:
            thread.join()
        if self._failure is not None:
            raise self._failure

    def _read(self, connection: socket.socket, wanted: queue.SimpleQueue[int | None]) -> None:
        buffers = {i: torch.empty_like(p) for i, p in self._variables.items()}
        try:
            while True:
                kind, number, _ = wire.receive_header(connection)
                if kind == wire.BYE:
                    break
                if kind == wire.PULL:
                    wanted.put(number)
                    continue
                wire.receive_into(connection, wire.bytes_of(buffers[number]))
                self._apply(number, buffers[number])
        except (OSError, KeyError) as error:
            self._fail(error)
        wanted.put(None)

    def _apply(self, number: int, gradient: Tensor) -> None:
        with self._changed:
            if self._asynchronous:
                self._step(number, gradient)
                return
            total = self._sums[number]
            total.add_(gradient)
            self._arrived[number] += 1
            if self._arrived[number] == self._workers:
                self._step(number, total.div_(self._workers))
                total.zero_()
                self._arrived[number] = 0

    def _step(self, number: int, gradient: Tensor) -> None:
        self._variables[number].grad = gradient
        self._optimizers[number].step()
        self._updates += 1
        self._changed.notify_all()

    def _write(self, connection: socket.socket, wanted: queue.SimpleQueue[int | None]) -> None:
        try:
            while (version := wanted.get()) is not None:
                needed = 0 if self._asynchronous else version * len(self._variables)
                with self._changed:
                    ready = self._changed.wait_for(
                        lambda least=needed: self._updates >= least or self._failure, PATIENCE_S
                    )
                if not ready or self._failure:
                    raise TimeoutError("a worker did not send its gradients")
                for number, variable in self._variables.items():
                    wire.send(connection, wire.VALUE, number, variable.data)
        except OSError as error:
            self._fail(error)
        connection.close()

    def _fail(self, error: Exception) -> None:
        with self._changed:
            self._failure = self._failure or error
            self._changed.notify_all()


class Client:
    """A worker's connections to all servers."""

    def __init__(self, module: nn.Module, addresses: list[tuple[str, int]]) -> None:
        self._parameters = [p for p in module.parameters() if p.requires_grad]
        sizes = [p.numel() * p.element_size() for p in self._parameters]
        self._places = wire.assign(sizes, len(addresses))
        self._connections = [_connect(address) for address in addresses]
        self._outgoing: queue.SimpleQueue[tuple[int, int, int, Tensor | None] | None] = (
            queue.SimpleQueue()
        )
        self._missing = 0
        self._arrived = threading.Condition()
        self._failure: Exception | None = None
        self._version = 0
        self._threads = [threads.start("ft_net_tx", self._write)]
        for connection in self._connections:
            self._threads.append(threads.start("ft_net_rx", self._read, connection))
        self._hooks = [
            parameter.register_post_accumulate_grad_hook(
                lambda p, number=number: self._push(number, p)
            )
            for number, parameter in enumerate(self._parameters)
        ]

    def pull(self) -> None:
        """Returns when every variable is here."""
        self._missing = len(self._parameters)
        for place in range(len(self._connections)):
            self._outgoing.put((place, wire.PULL, self._version, None))
        self._version += 1
        with self._arrived:
            done = self._arrived.wait_for(lambda: self._missing == 0 or self._failure, PATIENCE_S)
        if self._failure or not done:
            raise ConnectionError(f"a server does not answer: {self._failure}")

    def close(self) -> None:
        for place in range(len(self._connections)):
            self._outgoing.put((place, wire.BYE, 0, None))
        self._outgoing.put(None)
        for thread in self._threads:
            thread.join(PATIENCE_S)
        for connection in self._connections:
            connection.close()
        for hook in self._hooks:
            hook.remove()

    def _push(self, number: int, parameter: Tensor) -> None:
        gradient = parameter.grad
        assert gradient is not None
        self._outgoing.put((self._places[number], wire.PUSH, number, gradient.contiguous()))

    def _write(self) -> None:
        try:
            while (message := self._outgoing.get()) is not None:
                place, kind, number, tensor = message
                wire.send(self._connections[place], kind, number, tensor)
        except OSError as error:
            self._fail(error)

    def _read(self, connection: socket.socket) -> None:
        try:
            while True:
                _, number, _ = wire.receive_header(connection)
                target = self._parameters[number].data
                wire.receive_into(connection, wire.bytes_of(target))
                with self._arrived:
                    self._missing -= 1
                    if self._missing == 0:
                        self._arrived.notify_all()
        except ConnectionError:
            pass  # after the farewell the server closes
        except OSError as error:
            self._fail(error)

    def _fail(self, error: Exception) -> None:
        with self._arrived:
            self._failure = self._failure or error
            self._arrived.notify_all()


def _connect(address: tuple[str, int]) -> socket.socket:
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            connection = socket.create_connection(address, timeout=PATIENCE_S)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return connection
        except ConnectionRefusedError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)
