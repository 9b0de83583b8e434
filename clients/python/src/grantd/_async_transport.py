"""Does what the plans of calls say, in event loops. Each loop of each process has connections of its own."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import AsyncIterator, Callable
from typing import Any, Generic, Protocol, TypeVar

import h11

from ._core import RESPONSE_BYTES_MAX, Plan, Response, Send, Sleep
from ._errors import GrantdError, connection_error, invalid_response, timeout_error
from ._feed import Feed
from ._http import READ_BYTES, Connection, Head, Pool, Route, Steps, Write, exchange
from ._process import Process, process
from ._results import ChangeEvent

T = TypeVar("T")

# Per event loop. Further calls wait for a connection, until their deadlines.
CONNECTIONS_MAX = 100


class AsyncStream(Protocol):
    """A response whose body is read as it comes."""

    head: Head

    async def chunk(self, deadline: float) -> bytes | None:
        """None at the end."""

    async def aclose(self) -> None: ...


class AsyncNetwork(Protocol):
    async def exchange(self, send: Send) -> Response: ...

    async def stream(self, send: Send) -> AsyncStream: ...

    def close(self) -> None: ...


async def whole(stream: AsyncStream, deadline: float) -> bytes:
    body = bytearray()
    while (chunk := await stream.chunk(deadline)) is not None:
        body += chunk
        if len(body) > RESPONSE_BYTES_MAX:
            raise invalid_response(stream.head.status, stream.head.headers, "it is too large")
    return bytes(body)


class AsyncTransport:
    _network: AsyncNetwork

    async def _run(self, plan: Plan[T]) -> T:
        try:
            effect = next(plan)
            while True:
                if isinstance(effect, Sleep):
                    await asyncio.sleep(effect.seconds)
                    effect = plan.send(None)
                    continue
                try:
                    response = await self._network.exchange(effect)
                except GrantdError as error:
                    effect = plan.throw(error)
                else:
                    effect = plan.send(response)
        except StopIteration as end:
            result: T = end.value
            return result

    async def _follow(self, feed: Feed) -> AsyncIterator[ChangeEvent]:
        """Reads one connection to its end, and then raises."""
        deadline = time.monotonic() + feed.silence
        stream = await self._network.stream(feed.connect(deadline))
        try:
            head = stream.head
            feed.check_head(head.status, head.headers, b"" if head.status == 200 else await whole(stream, deadline))
            while (chunk := await stream.chunk(deadline)) is not None:
                for event in feed.read(head.status, head.headers, chunk):
                    yield event
                if b"\n" in chunk:
                    deadline = time.monotonic() + feed.silence
        finally:
            await stream.aclose()
        raise connection_error(ConnectionError("the stream has ended"))


class PerLoop(Generic[T]):
    """A value for each event loop of each process, until the loop is closed."""

    def __init__(self, create: Callable[[], T], discard: Callable[[T], object]) -> None:
        self._create, self._discard = create, discard
        self._of: dict[tuple[Process, asyncio.AbstractEventLoop], T] = {}

    def here(self) -> T:
        place = (process(), asyncio.get_running_loop())
        found = self._of.get(place)
        if found is None:
            self._purge()
            # Only this thread has this loop.
            found = self._of[place] = self._create()
        return found

    def _purge(self) -> None:
        for place in list(self._of):
            of, loop = place
            if of != process() or loop.is_closed():
                gone = self._of.pop(place, None)
                if gone is not None:
                    self._discard(gone)

    def values(self) -> list[T]:
        return list(self._of.values())


class _Here:
    """What belongs to one event loop."""

    def __init__(self) -> None:
        self.pool = Pool()
        self.slots = asyncio.Semaphore(CONNECTIONS_MAX)


async def _perform(steps: Steps[T], sock: socket.socket) -> T:
    loop = asyncio.get_running_loop()
    try:
        step = next(steps)
        while True:
            data = b""
            try:
                if isinstance(step, Write):
                    await loop.sock_sendall(sock, step.data)
                else:
                    data = await loop.sock_recv(sock, READ_BYTES)
            except OSError as error:
                step = steps.throw(error)
            else:
                step = steps.send(data)
                # What is there already is read without a wait: the loop has its turn nevertheless.
                if not isinstance(step, Write):
                    await asyncio.sleep(0)
    except StopIteration as end:
        result: T = end.value
        return result


class AsyncSocketStream:
    def __init__(self, connection: Connection, head: Head) -> None:
        self.head = head
        self._connection = connection
        self._place = (process(), asyncio.get_running_loop())

    async def chunk(self, deadline: float) -> bytes | None:
        if self._place != (process(), asyncio.get_running_loop()):
            raise connection_error(ConnectionError("the connection is another process's, or another event loop's"))
        read = _perform(self._connection.chunk(), self._connection.socket)
        data: bytes | None = await _until(deadline, read)
        return data

    async def aclose(self) -> None:
        self._connection.close()


async def _until(deadline: float, work: Any) -> Any:
    """Awaits it, at most until then, and translates its errors."""

    async def translated() -> Any:
        try:
            return await work
        except (OSError, h11.ProtocolError) as error:
            raise connection_error(error) from error

    try:
        return await asyncio.wait_for(translated(), max(deadline - time.monotonic(), 0))
    except asyncio.TimeoutError as error:
        raise timeout_error() from error
    finally:
        work.close()


class AsyncSocketNetwork:
    def __init__(self, route: Route) -> None:
        self._route = route
        self._loops = PerLoop(_Here, lambda here: here.pool.close())

    def close(self) -> None:
        for here in self._loops.values():
            here.pool.close()

    async def _connect(self, deadline: float) -> Connection:
        loop = asyncio.get_running_loop()
        host, port = self._route.first.host, self._route.first.port
        try:
            addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
        except socket.gaierror:
            addresses = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        failed = OSError("the name of the service has no address")
        for index, (family, kind, protocol, _, address) in enumerate(addresses):
            sock = socket.socket(family, kind, protocol)
            try:
                sock.setblocking(False)
                connecting = loop.sock_connect(sock, address)
                others = len(addresses) - 1 - index
                # One that does not answer leaves time for the others.
                share = max(deadline - time.monotonic(), 0) / (others + 1)
                await (asyncio.wait_for(connecting, share) if others else connecting)
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                connection = Connection(sock, self._route)
                await _perform(connection.open(), sock)
                return connection
            except (OSError, asyncio.TimeoutError) as error:
                sock.close()
                failed = error if isinstance(error, OSError) else OSError("an address does not answer")
            except BaseException:
                sock.close()
                raise
        raise failed

    async def _exchange(self, send: Send) -> Response:
        here = self._loops.here()
        async with here.slots:
            connection = None
            try:
                connection = here.pool.take() or await self._connect(send.deadline)
                response = await _perform(exchange(connection, send), connection.socket)
            except BaseException:
                if connection is not None:
                    connection.close()
                raise
            here.pool.put(connection)
            return response

    async def exchange(self, send: Send) -> Response:
        response: Response = await _until(send.deadline, self._exchange(send))
        return response

    async def _stream(self, send: Send) -> AsyncSocketStream:
        connection = await self._connect(send.deadline)
        try:
            return AsyncSocketStream(connection, await _perform(connection.ask(send), connection.socket))
        except BaseException:
            connection.close()
            raise

    async def stream(self, send: Send) -> AsyncSocketStream:
        stream: AsyncSocketStream = await _until(send.deadline, self._stream(send))
        return stream
