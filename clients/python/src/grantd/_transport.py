"""Does what the plans of calls say, over httpx."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TypeVar

import httpx

from ._core import RESPONSE_BYTES_MAX, Plan, Response, Send, Sleep
from ._errors import GrantdError, connection_error, invalid_response, timeout_error
from ._feed import Feed
from ._operations import invalid_request
from ._results import ChangeEvent

T = TypeVar("T")


class Transport:
    def __init__(self, http: httpx.Client) -> None:
        self._http = http

    def _run(self, plan: Plan[T]) -> T:
        try:
            effect = next(plan)
            while True:
                if isinstance(effect, Sleep):
                    time.sleep(effect.seconds)
                    effect = plan.send(None)
                    continue
                try:
                    response = self._send(effect)
                except GrantdError as error:
                    effect = plan.throw(error)
                else:
                    effect = plan.send(response)
        except StopIteration as end:
            result: T = end.value
            return result

    def _open(self, send: Send, timeout: float) -> httpx.Response:
        try:
            request = self._http.build_request(
                send.method, send.url, params=send.query, headers=send.headers, content=send.body, timeout=timeout
            )
        except UnicodeError as error:
            raise invalid_request(str(error)) from error
        return self._http.send(request, stream=True, follow_redirects=False, auth=None)

    def _send(self, send: Send) -> Response:
        left = send.deadline - time.monotonic()
        if left <= 0:
            raise timeout_error()
        try:
            response = self._open(send, left)
            try:
                body = bytearray()
                for chunk in response.iter_bytes():
                    body += chunk
                    if len(body) > RESPONSE_BYTES_MAX:
                        raise invalid_response(response.status_code, response.headers, "it is too large")
                    if time.monotonic() > send.deadline:
                        raise timeout_error()
                return Response(response.status_code, response.headers, bytes(body))
            finally:
                response.close()
        except httpx.TimeoutException as error:
            raise timeout_error() from error
        except (httpx.RequestError, httpx.StreamError) as error:
            raise connection_error(error) from error

    def _follow(self, feed: Feed) -> Iterator[ChangeEvent]:
        """Reads one connection to its end, and then raises."""
        try:
            response = self._open(feed.connect(), feed.silence)
            try:
                failed = response.status_code != 200
                feed.check_head(response.status_code, response.headers, response.read() if failed else b"")
                for chunk in response.iter_bytes():
                    yield from feed.read(response.status_code, response.headers, chunk)
            finally:
                response.close()
        except (httpx.RequestError, httpx.StreamError) as error:
            raise connection_error(error) from error
        raise connection_error(ConnectionError("the stream has ended"))
