"""Does what the plans of calls say, over blocking sockets. Every wait ends at the deadline of the call, and there is no
lock that an exception of a signal, or a fork, could leave held."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from typing import Any, Protocol, TypeVar

import h11

from ._core import RESPONSE_BYTES_MAX, Plan, Response, Send, Sleep
from ._errors import GrantdError, connection_error, invalid_response, timeout_error
from ._feed import Feed
from ._http import READ_BYTES, Connection, Head, Pool, Route, Steps, Write, exchange
from ._process import Process, process
from ._results import ChangeEvent

T = TypeVar("T")


class Stream(Protocol):
    """A response whose body is read as it comes."""

    head: Head

    def chunk(self, deadline: float) -> bytes | None:
        """None at the end."""

    def close(self) -> None: ...


class Network(Protocol):
    def exchange(self, send: Send) -> Response: ...

    def stream(self, send: Send) -> Stream: ...

    def close(self) -> None: ...


def whole(stream: Stream, deadline: float) -> bytes:
    body = bytearray()
    while (chunk := stream.chunk(deadline)) is not None:
        body += chunk
        if len(body) > RESPONSE_BYTES_MAX:
            raise invalid_response(stream.head.status, stream.head.headers, "it is too large")
    return bytes(body)


class Transport:
    _network: Network

    def _run(self, plan: Plan[T]) -> T:
        try:
            effect = next(plan)
            while True:
                if isinstance(effect, Sleep):
                    time.sleep(effect.seconds)
                    effect = plan.send(None)
                    continue
                try:
                    response = self._network.exchange(effect)
                except GrantdError as error:
                    effect = plan.throw(error)
                else:
                    effect = plan.send(response)
        except StopIteration as end:
            result: T = end.value
            return result

    def _follow(self, feed: Feed) -> Iterator[ChangeEvent]:
        """Reads one connection to its end, and then raises."""
        deadline = time.monotonic() + feed.silence
        stream = self._network.stream(feed.connect(deadline))
        try:
            head = stream.head
            feed.check_head(head.status, head.headers, b"" if head.status == 200 else whole(stream, deadline))
            while (chunk := stream.chunk(deadline)) is not None:
                yield from feed.read(head.status, head.headers, chunk)
                if b"\n" in chunk:
                    deadline = time.monotonic() + feed.silence
        finally:
            stream.close()
        raise connection_error(ConnectionError("the stream has ended"))


class _Resolution:
    """One look-up of an address, in a thread, since the system's has no deadline. All calls wait for the same one."""

    def __init__(self, host: str, port: int) -> None:
        self.answer: list[Any] | OSError | None = None
        self._host, self._port = host, port
        # Held until there is an answer.
        self._latch = threading.Lock()
        self._latch.acquire()

    def run(self) -> None:
        try:
            self.answer = socket.getaddrinfo(self._host, self._port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            self.answer = error if isinstance(error, OSError) else OSError(str(error))
        finally:
            self._latch.release()

    def wait(self, seconds: float) -> None:
        if self.answer is None and self._latch.acquire(timeout=min(seconds, threading.TIMEOUT_MAX)):
            self._latch.release()


class _Here:
    """What belongs to this process."""

    def __init__(self) -> None:
        self.pool = Pool()
        self.resolution: _Resolution | None = None


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise timeout_error()
    return left


def _perform(steps: Steps[T], sock: socket.socket, deadline: float) -> T:
    try:
        step = next(steps)
        while True:
            sock.settimeout(_left(deadline))
            data = b""
            try:
                if isinstance(step, Write):
                    sock.sendall(step.data)
                else:
                    data = sock.recv(READ_BYTES)
            except OSError as error:
                if isinstance(error, TimeoutError) and error.errno is None:
                    raise timeout_error() from error
                step = steps.throw(error)
            else:
                step = steps.send(data)
    except StopIteration as end:
        result: T = end.value
        return result


class SocketStream:
    def __init__(self, connection: Connection, head: Head) -> None:
        self.head = head
        self._connection = connection
        self._process = process()

    def chunk(self, deadline: float) -> bytes | None:
        if self._process != process():
            raise connection_error(ConnectionError("the connection is another process's"))
        try:
            return _perform(self._connection.chunk(), self._connection.socket, deadline)
        except (OSError, h11.ProtocolError) as error:
            raise connection_error(error) from error

    def close(self) -> None:
        self._connection.close()


class SocketNetwork:
    def __init__(self, route: Route) -> None:
        self._route = route
        self._of: tuple[Process, _Here] = (process(), _Here())

    def _here(self) -> _Here:
        of, here = self._of
        if of != process():
            # The parent goes on with its connections: closing the copies ends none of them.
            here.pool.close()
            here = _Here()
            self._of = (process(), here)
        return here

    def close(self) -> None:
        self._here().pool.close()

    def _addresses(self, here: _Here, deadline: float) -> list[Any]:
        host, port = self._route.first.host, self._route.first.port
        try:
            return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
        except socket.gaierror:
            pass
        resolution = here.resolution
        if resolution is None or resolution.answer is not None:
            resolution = _Resolution(host, port)
            here.resolution = resolution
            try:
                threading.Thread(target=resolution.run, daemon=True, name="grantd-resolve").start()
            except RuntimeError:
                # At the end of the program there are no new threads.
                resolution.run()
        resolution.wait(_left(deadline))
        if resolution.answer is None:
            raise timeout_error()
        if isinstance(resolution.answer, OSError):
            raise resolution.answer
        return resolution.answer

    def _connect(self, here: _Here, deadline: float) -> Connection:
        addresses = self._addresses(here, deadline)
        failed: OSError = OSError("the name of the service has no address")
        for index, (family, kind, protocol, _, address) in enumerate(addresses):
            sock = socket.socket(family, kind, protocol)
            try:
                # One that does not answer leaves time for the others.
                sock.settimeout(_left(deadline) / (len(addresses) - index))
                sock.connect(address)
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                connection = Connection(sock, self._route)
                _perform(connection.open(), sock, deadline)
                return connection
            except OSError as error:
                sock.close()
                failed = error
            except BaseException:
                sock.close()
                raise
        if isinstance(failed, TimeoutError) and failed.errno is None:
            raise timeout_error() from failed
        raise failed

    def exchange(self, send: Send) -> Response:
        here = self._here()
        connection = None
        try:
            connection = here.pool.take() or self._connect(here, send.deadline)
            response = _perform(exchange(connection, send), connection.socket, send.deadline)
        except BaseException as error:
            if connection is not None:
                connection.close()
            if isinstance(error, (OSError, h11.ProtocolError)):
                raise connection_error(error) from error
            raise
        here.pool.put(connection)
        return response

    def stream(self, send: Send) -> SocketStream:
        connection = None
        try:
            connection = self._connect(self._here(), send.deadline)
            return SocketStream(connection, _perform(connection.ask(send), connection.socket, send.deadline))
        except BaseException as error:
            if connection is not None:
                connection.close()
            if isinstance(error, (OSError, h11.ProtocolError)):
                raise connection_error(error) from error
            raise
