"""Does what the plans of calls say, over httpx, in an event loop."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from typing import TypeVar

import httpx

from ._core import RESPONSE_BYTES_MAX, Plan, Response, Send, Sleep
from ._errors import GrantdError, connection_error, invalid_response, timeout_error
from ._feed import Feed
from ._operations import invalid_request
from ._results import ChangeEvent

T = TypeVar("T")


class AsyncTransport:
    def __init__(self, http: httpx.AsyncClient) -> None:
        self._http = http

    async def _run(self, plan: Plan[T]) -> T:
        try:
            effect = next(plan)
            while True:
                if isinstance(effect, Sleep):
                    await asyncio.sleep(effect.seconds)
                    effect = plan.send(None)
                    continue
                try:
                    response = await self._send(effect)
                except GrantdError as error:
                    effect = plan.throw(error)
                else:
                    effect = plan.send(response)
        except StopIteration as end:
            result: T = end.value
            return result

    async def _open(self, send: Send, timeout: float | None) -> httpx.Response:
        try:
            request = self._http.build_request(
                send.method, send.url, params=send.query, headers=send.headers, content=send.body, timeout=timeout
            )
        except UnicodeError as error:
            raise invalid_request(str(error)) from error
        return await self._http.send(request, stream=True, follow_redirects=False, auth=None)

    async def _exchange(self, send: Send) -> Response:
        response = await self._open(send, None)
        try:
            body = bytearray()
            async for chunk in response.aiter_bytes():
                body += chunk
                if len(body) > RESPONSE_BYTES_MAX:
                    raise invalid_response(response.status_code, response.headers, "it is too large")
            return Response(response.status_code, response.headers, bytes(body))
        finally:
            await response.aclose()

    async def _send(self, send: Send) -> Response:
        try:
            return await asyncio.wait_for(self._exchange(send), max(send.deadline - time.monotonic(), 0))
        except (asyncio.TimeoutError, httpx.TimeoutException) as error:
            raise timeout_error() from error
        except (httpx.RequestError, httpx.StreamError) as error:
            raise connection_error(error) from error

    async def _follow(self, feed: Feed) -> AsyncIterator[ChangeEvent]:
        """Reads one connection to its end, and then raises."""
        try:
            response = await self._open(feed.connect(), feed.silence)
            try:
                failed = response.status_code != 200
                feed.check_head(response.status_code, response.headers, await response.aread() if failed else b"")
                async for chunk in response.aiter_bytes():
                    for event in feed.read(response.status_code, response.headers, chunk):
                        yield event
            finally:
                await response.aclose()
        except (httpx.RequestError, httpx.StreamError) as error:
            raise connection_error(error) from error
        raise connection_error(ConnectionError("the stream has ended"))
