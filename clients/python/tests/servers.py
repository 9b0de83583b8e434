"""Servers for tests that need a network: each connection is a thread that runs a function of the test."""

from __future__ import annotations

import contextlib
import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

AT = "2026-01-15T09:30:00.000Z"

Serve: TypeAlias = "Callable[[socket.socket], None]"


def http(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    lines = [f"HTTP/1.1 {status}", "Content-Type: application/json", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + body


def decided(authorized: bool) -> bytes:
    return json.dumps({"authorized": authorized, "checked_at": AT}).encode()


def requests(connection: socket.socket) -> Iterator[tuple[str, bytes]]:
    """The first lines and the bodies of requests, until the client ends the connection."""
    kept = b""
    while True:
        while b"\r\n\r\n" not in kept:
            data = connection.recv(65536)
            if not data:
                return
            kept += data
        head, _, kept = kept.partition(b"\r\n\r\n")
        lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
        length = int(lengths[0].split(b":")[1]) if lengths else 0
        while len(kept) < length:
            kept += connection.recv(65536)
        body, kept = kept[:length], kept[length:]
        yield head.split(b"\r\n")[0].decode(), body


@contextlib.contextmanager
def served(serve: Serve, tls: ssl.SSLContext | None = None) -> Iterator[str]:
    """The URL of a server that ends with the block."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=200)

    def one(connection: socket.socket) -> None:
        with contextlib.suppress(OSError, StopIteration):
            serve(connection if tls is None else tls.wrap_socket(connection, server_side=True))
        connection.close()

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = listener.accept()
                threading.Thread(target=one, args=[connection], daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield f"http{'' if tls is None else 's'}://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def answers(connection: socket.socket) -> None:
    """Says yes to subjects that end in an even digit, in checks and in bulk checks."""
    for _, body in requests(connection):
        asked: dict[str, Any] = json.loads(body)
        results = [
            {"authorized": int(each["subject"][-1]) % 2 == 0, "checked_at": AT} for each in asked.get("checks", [asked])
        ]
        answer = {"results": results, "checked_at": AT} if "checks" in asked else results[0]
        connection.sendall(http(json.dumps(answer).encode()))
