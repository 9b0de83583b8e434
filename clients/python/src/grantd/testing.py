"""A grantd in memory, for tests of programs that use the client.

    fake = FakeGrantd()
    client = fake.client()

The client is a real one: it gathers, decodes and fails as it does over the network. Only the service is replaced:
it keeps one tenant in memory, without the limits of a plan, and stores nothing.
"""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Callable
from datetime import datetime
from typing import Any
from urllib.parse import unquote, urlsplit

from ._async_client import AsyncGrantd
from ._client import Grantd
from ._core import Response, Send
from ._errors import timeout_error
from ._fake.feed import FakeFeed
from ._fake.operations import SCOPES
from ._fake.serve import FakeResponse, serve
from ._fake.state import State
from ._http import Head

_CHECKPOINT_EVERY_S = 15.0
_URL = "http://grantd.test"


class FakeGrantd:
    """A service with one tenant, and one key that has all scopes."""

    def __init__(self) -> None:
        self._state = State()
        self._root = self._state.add_key("", SCOPES, None)

    @property
    def key(self) -> str:
        """The key that has all scopes."""
        return self._root.text

    def set_clock(self, clock: Callable[[], datetime]) -> None:
        """Times with a time zone; for instance to let grants expire."""
        self._state.clock = clock

    def set_unavailable(self, unavailable: bool) -> None:
        """Turns on or off a 503 for every call, to test how a program handles an outage."""
        self._state.unavailable = unavailable

    def client(self, *, key: str | None = None, **options: Any) -> Grantd:
        """Calls this service, by default with the key that has all scopes."""
        client = Grantd(_URL, key or self.key, **options)
        client._network = _Network(self._state)
        return client

    def async_client(self, *, key: str | None = None, **options: Any) -> AsyncGrantd:
        """Calls this service from an event loop."""
        client = AsyncGrantd(_URL, key or self.key, **options)
        client._network = _AsyncNetwork(self._state)
        return client


def _served(state: State, send: Send) -> FakeResponse:
    path = unquote(urlsplit(send.url).path)
    return serve(state, send.method, path, list(send.query.items()), send.headers, send.body or b"")


def _lower(headers: dict[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


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


def _head_of_lines(served: FakeResponse) -> Head:
    return Head(200, {**_lower(served.headers), "content-type": "application/x-ndjson"})


class _Lines:
    """The change feed, until its reader closes it."""

    def __init__(self, feed: FakeFeed, head: Head) -> None:
        self.head = head
        self._feed = feed
        self._news = threading.Event()
        feed.state.listeners.add(self._news.set)

    def chunk(self, deadline: float) -> bytes | None:
        while True:
            self._news.clear()
            lines = self._feed.lines()
            if lines:
                return lines
            left = deadline - time.monotonic()
            if self._news.wait(min(left, _CHECKPOINT_EVERY_S)):
                continue
            if left < _CHECKPOINT_EVERY_S:
                raise timeout_error()
            return self._feed.checkpoint(self._feed.state.now())

    def close(self) -> None:
        self._feed.state.listeners.discard(self._news.set)


class _AsyncLines:
    """The change feed, until its reader closes it."""

    def __init__(self, feed: FakeFeed, head: Head) -> None:
        self.head = head
        self._feed = feed
        self.news = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        feed.state.listeners.add(self._tell)

    def _tell(self) -> None:
        self._loop.call_soon_threadsafe(self.news.set)

    async def chunk(self, deadline: float) -> bytes | None:
        while True:
            self.news.clear()
            lines = self._feed.lines()
            if lines:
                return lines
            left = deadline - time.monotonic()
            try:
                await asyncio.wait_for(self.news.wait(), min(left, _CHECKPOINT_EVERY_S))
            except asyncio.TimeoutError:
                if left < _CHECKPOINT_EVERY_S:
                    raise timeout_error() from None
                return self._feed.checkpoint(self._feed.state.now())

    async def aclose(self) -> None:
        self._feed.state.listeners.discard(self._tell)


class _Network:
    def __init__(self, state: State) -> None:
        self._state = state

    def close(self) -> None:
        pass

    def exchange(self, send: Send) -> Response:
        served = _served(self._state, send)
        body = served.body if served.feed is None else json.dumps(self._page(served.feed)).encode()
        return Response(served.status, _lower(served.headers), body)

    def stream(self, send: Send) -> _Lines | _Whole:
        served = _served(self._state, send)
        if served.feed is None:
            return _Whole(Response(served.status, _lower(served.headers), served.body))
        return _Lines(served.feed, _head_of_lines(served))

    def _page(self, feed: FakeFeed) -> dict[str, Any]:
        news = threading.Event()
        # Before the page is read, so that no later change is missed.
        self._state.listeners.add(news.set)
        try:
            page = feed.page()
            return feed.page() if not page["changes"] and news.wait(feed.wait) else page
        finally:
            self._state.listeners.discard(news.set)


class _AsyncNetwork:
    def __init__(self, state: State) -> None:
        self._state = state

    def close(self) -> None:
        pass

    async def exchange(self, send: Send) -> Response:
        served = _served(self._state, send)
        body = served.body if served.feed is None else json.dumps(await self._page(served.feed)).encode()
        return Response(served.status, _lower(served.headers), body)

    async def stream(self, send: Send) -> _AsyncLines | _AsyncWhole:
        served = _served(self._state, send)
        if served.feed is None:
            return _AsyncWhole(Response(served.status, _lower(served.headers), served.body))
        return _AsyncLines(served.feed, _head_of_lines(served))

    async def _page(self, feed: FakeFeed) -> dict[str, Any]:
        # Before the page is read, so that no later change is missed.
        lines = _AsyncLines(feed, Head(200, {}))
        try:
            page = feed.page()
            if page["changes"] or feed.wait == 0:
                return page
            await asyncio.wait_for(lines.news.wait(), feed.wait)
            return feed.page()
        except asyncio.TimeoutError:
            return page
        finally:
            await lines.aclose()
