"""Clients whose service is a function of a test, without a network."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from grantd import AsyncGrantd, Grantd
from grantd._core import Response, Send
from grantd._errors import connection_error
from grantd._http import Head

URL = "https://grantd.test"
KEY = "gk1_test"


@dataclass(frozen=True)
class Asked:
    method: str
    path: str
    query: Mapping[str, str]
    # With names in lower case.
    headers: Mapping[str, str]
    content: bytes


@dataclass(frozen=True)
class Given:
    status: int
    content: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


Handler: TypeAlias = Callable[[Asked], Given]


def json_of(status: int, value: object, **headers: str) -> Given:
    return Given(status, json.dumps(value).encode(), {"content-type": "application/json", **headers})


def _response(handler: Handler, send: Send) -> Response:
    asked = Asked(send.method, urlsplit(send.url).path, send.query, send.headers, send.body or b"")
    try:
        given = handler(asked)
    except OSError as error:
        raise connection_error(error) from error
    return Response(given.status, given.headers, given.content)


class _Whole:
    """A response that is there at once."""

    def __init__(self, response: Response) -> None:
        self.head = Head(response.status, response.headers)
        self._body: bytes | None = response.body

    def chunk(self, deadline: float) -> bytes | None:
        body, self._body = self._body, None
        return body or None

    def close(self) -> None:
        pass


class _AsyncWhole:
    """A response that is there at once, in an event loop."""

    def __init__(self, response: Response) -> None:
        self._whole = _Whole(response)
        self.head = self._whole.head

    async def chunk(self, deadline: float) -> bytes | None:
        return self._whole.chunk(deadline)

    async def aclose(self) -> None:
        pass


class _Handled:
    def __init__(self, handler: Handler) -> None:
        self._handler = handler

    def exchange(self, send: Send) -> Response:
        return _response(self._handler, send)

    def stream(self, send: Send) -> _Whole:
        return _Whole(_response(self._handler, send))

    def close(self) -> None:
        pass


class _AsyncHandled:
    def __init__(self, handler: Handler) -> None:
        self._handler = handler

    async def exchange(self, send: Send) -> Response:
        return _response(self._handler, send)

    async def stream(self, send: Send) -> _AsyncWhole:
        return _AsyncWhole(_response(self._handler, send))

    def close(self) -> None:
        pass


def client_of(handler: Handler, **options: Any) -> Grantd:
    client = Grantd(URL, KEY, **options)
    client._network = _Handled(handler)
    return client


def async_client_of(handler: Handler, **options: Any) -> AsyncGrantd:
    client = AsyncGrantd(URL, KEY, **options)
    client._network = _AsyncHandled(handler)
    return client


@contextlib.contextmanager
def unavailable(client: Grantd | AsyncGrantd) -> Iterator[None]:
    """Within the block, each call of the client gets a 503 in place of the service."""

    def refuse(_: Asked) -> Given:
        return json_of(503, {"type": "https://errors.example/unavailable", "detail": "no", "instance": "req_1"})

    with contextlib.ExitStack() as stack:
        if isinstance(client, Grantd):
            network = client._network
            client._network = _Handled(refuse)
            stack.callback(setattr, client, "_network", network)
        else:
            async_network = client._network
            client._network = _AsyncHandled(refuse)
            stack.callback(setattr, client, "_network", async_network)
        yield
