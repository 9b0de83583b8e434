"""Clients whose service is a function of a test, without a network."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from grantd import AsyncGrantd, Grantd
from grantd._core import Response, Send
from grantd._errors import connection_error
from grantd.testing import _AsyncWhole, _Whole

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
