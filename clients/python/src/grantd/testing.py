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
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import datetime
from typing import Any

import httpx

from ._async_client import AsyncGrantd
from ._client import Grantd
from ._fake.feed import FakeFeed
from ._fake.operations import SCOPES
from ._fake.serve import FakeResponse, serve
from ._fake.state import State

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
        return Grantd(_URL, key or self.key, http_client=httpx.Client(transport=_Transport(self._state)), **options)

    def async_client(self, *, key: str | None = None, **options: Any) -> AsyncGrantd:
        """Calls this service from an event loop."""
        transport = _AsyncTransport(self._state)
        return AsyncGrantd(_URL, key or self.key, http_client=httpx.AsyncClient(transport=transport), **options)


def _served(state: State, request: httpx.Request) -> FakeResponse:
    query = request.url.params.multi_items()
    return serve(state, request.method, request.url.path, query, request.headers, request.read())


class _Bytes(httpx.SyncByteStream, httpx.AsyncByteStream):
    def __init__(self, body: bytes) -> None:
        self._body = body

    def __iter__(self) -> Iterator[bytes]:
        yield self._body

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self._body


class _Lines(httpx.SyncByteStream):
    """The change feed, until its reader closes it."""

    def __init__(self, feed: FakeFeed) -> None:
        self._feed = feed
        self._news = threading.Event()
        feed.state.listeners.add(self._news.set)

    def __iter__(self) -> Iterator[bytes]:
        while True:
            self._news.clear()
            lines = self._feed.lines()
            if lines:
                yield lines
            elif not self._news.wait(_CHECKPOINT_EVERY_S):
                yield self._feed.checkpoint(self._feed.state.now())

    def close(self) -> None:
        self._feed.state.listeners.discard(self._news.set)


class _AsyncLines(httpx.AsyncByteStream):
    """The change feed, until its reader closes it."""

    def __init__(self, feed: FakeFeed) -> None:
        self._feed = feed
        self.news = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        feed.state.listeners.add(self._tell)

    def _tell(self) -> None:
        self._loop.call_soon_threadsafe(self.news.set)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while True:
            self.news.clear()
            lines = self._feed.lines()
            if lines:
                yield lines
                continue
            try:
                await asyncio.wait_for(self.news.wait(), _CHECKPOINT_EVERY_S)
            except asyncio.TimeoutError:
                yield self._feed.checkpoint(self._feed.state.now())

    async def aclose(self) -> None:
        self._feed.state.listeners.discard(self._tell)


class _Transport(httpx.BaseTransport):
    def __init__(self, state: State) -> None:
        self._state = state

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        served = _served(self._state, request)
        feed, body = served.feed, served.body
        if feed is not None and feed.streams:
            headers = {**served.headers, "Content-Type": "application/x-ndjson"}
            return httpx.Response(200, headers=headers, stream=_Lines(feed))
        if feed is not None:
            body = json.dumps(self._page(feed)).encode()
        return httpx.Response(served.status, headers=served.headers, stream=_Bytes(body))

    def _page(self, feed: FakeFeed) -> dict[str, Any]:
        news = threading.Event()
        # Before the page is read, so that no later change is missed.
        self._state.listeners.add(news.set)
        try:
            page = feed.page()
            return feed.page() if not page["changes"] and news.wait(feed.wait) else page
        finally:
            self._state.listeners.discard(news.set)


class _AsyncTransport(httpx.AsyncBaseTransport):
    def __init__(self, state: State) -> None:
        self._state = state

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        await request.aread()
        served = _served(self._state, request)
        feed, body = served.feed, served.body
        if feed is not None and feed.streams:
            headers = {**served.headers, "Content-Type": "application/x-ndjson"}
            return httpx.Response(200, headers=headers, stream=_AsyncLines(feed))
        if feed is not None:
            body = json.dumps(await self._page(feed)).encode()
        return httpx.Response(served.status, headers=served.headers, stream=_Bytes(body))

    async def _page(self, feed: FakeFeed) -> dict[str, Any]:
        # Before the page is read, so that no later change is missed.
        lines = _AsyncLines(feed)
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
