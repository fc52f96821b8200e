"""A socket between a client and PostgreSQL that breaks at a commit whose answer never arrives."""

from __future__ import annotations

import contextlib
import socket
import threading
from pathlib import Path

COMMIT = b"COMMIT\0"


class CuttingProxy:
    """Listens in `folder` as a server would, hands all on to `server`, and cuts at one COMMIT.

    `at`: the number of the commit, over all connections. `is_done`: the server gets it and answers,
    and only the client does not learn of it; otherwise the server never gets it.
    """

    def __init__(self, folder: Path, server: Path, *, at: int, is_done: bool) -> None:
        self.cuts = 0
        self._server, self._at, self._is_done = server, at, is_done
        self._commits = 0
        self._lock = threading.Lock()
        folder.mkdir(exist_ok=True)
        self._path = folder / server.name
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self._path))
        self._listener.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._path.unlink(missing_ok=True)

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            pair = _Pair(client, socket.socket(socket.AF_UNIX))
            try:
                pair.server.connect(str(self._server))
            except OSError:
                pair.close()
                continue
            threading.Thread(target=self._forward, args=(pair,), daemon=True).start()
            threading.Thread(target=_backward, args=(pair,), daemon=True).start()

    def _forward(self, pair: _Pair) -> None:
        while sent := _received(pair.client):
            if COMMIT in sent and self._is_the_one():
                self._cut(pair, sent)
                return
            with contextlib.suppress(OSError):
                pair.server.sendall(sent)
        pair.close()

    def _is_the_one(self) -> bool:
        with self._lock:
            self._commits += 1
            return self._commits == self._at

    def _cut(self, pair: _Pair, sent: bytes) -> None:
        pair.is_deaf.set()
        if self._is_done:
            pair.server.sendall(sent)
            pair.is_answered.wait(60)
        self.cuts += 1
        pair.close()


class _Pair:
    """A client and its server; deaf: what the server says is no longer handed on."""

    def __init__(self, client: socket.socket, server: socket.socket) -> None:
        self.client, self.server = client, server
        self.is_deaf, self.is_answered = threading.Event(), threading.Event()

    def close(self) -> None:
        """Wake whoever reads from either end, then let go of both."""
        for end in (self.client, self.server):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()


def _backward(pair: _Pair) -> None:
    while said := _received(pair.server):
        if pair.is_deaf.is_set():
            pair.is_answered.set()
        else:
            try:
                pair.client.sendall(said)
            except OSError:
                break
    pair.is_answered.set()
    pair.close()


def _received(end: socket.socket) -> bytes:
    try:
        return end.recv(1 << 16)
    except OSError:
        return b""
