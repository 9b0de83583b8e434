"""HTTP/1.1 over one connection, with TLS and proxies, without I/O: a step says what to write, or that it has to read.

The two clients differ only in how they perform steps. A connection is used again only if nothing is left of its last
response, and if nothing has come since: a response that nobody asked for is never taken for an answer.
"""

from __future__ import annotations

import base64
import os
import socket
import ssl
import time
from collections import deque
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import TypeAlias, TypeVar
from urllib.parse import quote, unquote, urlencode, urlsplit

import certifi
import h11

from ._core import RESPONSE_BYTES_MAX, Response, Send
from ._errors import invalid_response, is_retryable

T = TypeVar("T")

READ_BYTES = 64 << 10
# Less than the time that services and proxies keep a silent connection.
IDLE_S_MAX = 4.0
IDLE_MAX = 100

_WRITTEN_AS_IT_IS = "/%:@!$&'()*+,;=~-._"


@dataclass(frozen=True)
class Write:
    data: bytes


@dataclass(frozen=True)
class Read:
    """Resolves to up to READ_BYTES, or to nothing at the end of the connection."""


Steps: TypeAlias = Generator["Write | Read", bytes, T]
"""An error of the operating system is thrown into the step that caused it."""


class Address:
    """A host and a port, as a URL names them."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self.scheme = parts.scheme
        host = parts.hostname or ""
        # Raises for what is no name.
        self.host = host if ":" in host else host.encode("idna").decode("ascii")
        usual = 443 if parts.scheme == "https" else 80
        self.port = parts.port or usual
        bare = f"[{self.host}]" if ":" in self.host else self.host
        self.authority = f"{bare}:{self.port}"
        self.host_header = bare if self.port == usual else self.authority


class Route:
    """How connections reach the service."""

    def __init__(self, url: str, ssl_context: ssl.SSLContext | None, proxy: str | None) -> None:
        self.service = Address(url)
        self.proxy = None if proxy is None else Address(proxy)
        self.first = self.proxy or self.service
        self._ssl_context = ssl_context
        self.proxy_headers: list[tuple[str, str]] = []
        user, password = (None, None) if proxy is None else (urlsplit(proxy).username, urlsplit(proxy).password)
        if user is not None:
            token = base64.b64encode(f"{unquote(user)}:{unquote(password or '')}".encode()).decode("ascii")
            self.proxy_headers.append(("Proxy-Authorization", f"Basic {token}"))

    @property
    def is_secure(self) -> bool:
        return self.service.scheme == "https"

    def tls(self) -> ssl.SSLContext:
        """The authorities of SSL_CERT_FILE and SSL_CERT_DIR, or else those that browsers trust."""
        if self._ssl_context is None:
            file, directory = os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR")
            if file or directory:
                self._ssl_context = ssl.create_default_context(cafile=file or None, capath=directory or None)
            else:
                self._ssl_context = ssl.create_default_context(cafile=certifi.where())
        return self._ssl_context

    def head_of(self, send: Send) -> h11.Request:
        parts = urlsplit(send.url)
        target = quote(parts.path, safe=_WRITTEN_AS_IT_IS)
        if send.query:
            target += "?" + urlencode(send.query, quote_via=quote, safe="")
        headers = [("Host", self.service.host_header), *send.headers.items()]
        if send.body is not None:
            headers.append(("Content-Length", str(len(send.body))))
        if self.proxy is not None and not self.is_secure:
            target = f"http://{self.service.host_header}{target}"
            headers += self.proxy_headers
        return h11.Request(method=send.method, target=target, headers=headers)


@dataclass(frozen=True)
class Head:
    status: int
    # With names in lower case.
    headers: Mapping[str, str]


def _head_of(event: h11.Response) -> Head:
    headers: dict[str, str] = {}
    for raw_name, raw_value in event.headers:
        name, value = raw_name.decode("ascii"), raw_value.decode("latin-1")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    if "content-length" in headers and "transfer-encoding" in headers:
        raise h11.RemoteProtocolError("the response has two lengths")
    return Head(event.status_code, headers)


class Connection:
    """One connection. After an error it cannot be used again: close it."""

    def __init__(self, sock: socket.socket, route: Route) -> None:
        self.socket = sock
        self._route = route
        self._http = h11.Connection(h11.CLIENT)
        self._tls: ssl.SSLObject | None = None
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._write_error: OSError | None = None
        self.idle_since = 0.0

    def close(self) -> None:
        self.socket.close()

    def open(self) -> Steps[None]:
        """What comes before the first request: a tunnel through the proxy, and TLS."""
        if not self._route.is_secure:
            return
        if self._route.proxy is not None:
            yield from self._tunnel()
        host = self._route.service.host
        self._tls = self._route.tls().wrap_bio(self._incoming, self._outgoing, server_hostname=host)
        while True:
            try:
                self._tls.do_handshake()
            except ssl.SSLWantReadError:
                yield from self._flush()
                yield from self._fill()
            else:
                yield from self._flush()
                return

    def _tunnel(self) -> Steps[None]:
        http = h11.Connection(h11.CLIENT)
        to = self._route.service.authority
        headers = [("Host", to), *self._route.proxy_headers]
        asked = http.send(h11.Request(method="CONNECT", target=to, headers=headers))
        yield Write((asked or b"") + (http.send(h11.EndOfMessage()) or b""))
        while True:
            event = http.next_event()
            if event is h11.NEED_DATA:
                http.receive_data((yield Read()))
            elif isinstance(event, h11.Response):
                break
            elif not isinstance(event, h11.InformationalResponse):
                raise ConnectionError("the connection ended before a response of the proxy")
        if not 200 <= event.status_code < 300:
            raise ConnectionError(f"the proxy answered {event.status_code}")
        if http.trailing_data[0]:
            raise ConnectionError("the proxy sent more than an answer")

    def _flush(self) -> Steps[None]:
        data = self._outgoing.read()
        if data:
            yield Write(data)

    def _fill(self) -> Steps[None]:
        data = yield Read()
        if data:
            self._incoming.write(data)
        else:
            self._incoming.write_eof()

    def _write(self, data: bytes) -> Steps[None]:
        if self._tls is None:
            yield Write(data)
            return
        written = 0
        while written < len(data):
            written += self._tls.write(data[written:])
            yield from self._flush()

    def _read(self) -> Steps[bytes]:
        if self._tls is None:
            return (yield Read())
        while True:
            try:
                return self._tls.read(READ_BYTES)
            except ssl.SSLWantReadError:
                yield from self._flush()
                yield from self._fill()
            except ssl.SSLZeroReturnError:
                return b""

    def _has_more(self) -> bool:
        """Whether something has come that nobody asked for."""
        if self._tls is None:
            return not self.is_quiet()
        try:
            self._tls.read(1)
        except ssl.SSLWantReadError:
            return False
        return True

    def ask(self, send: Send) -> Steps[Head]:
        """Sends a request, and reads the head of its response."""
        if self._has_more():
            raise ConnectionError("a response came before its request")
        data = self._http.send(self._route.head_of(send)) or b""
        if send.body is not None:
            data += self._http.send(h11.Data(data=send.body)) or b""
        data += self._http.send(h11.EndOfMessage()) or b""
        try:
            yield from self._write(data)
        except OSError as error:
            # A service that refuses a large body may answer, and close before it has read all.
            self._write_error = error
        while True:
            event = self._http.next_event()
            if event is h11.NEED_DATA:
                self._http.receive_data((yield from self._received()))
            elif isinstance(event, h11.Response):
                head = _head_of(event)
                refuse_encoding(head)
                if self._write_error is not None and head.status < 400:
                    raise self._write_error
                return head
            elif not isinstance(event, h11.InformationalResponse):
                raise ConnectionError("the connection ended before a response")

    def _received(self) -> Steps[bytes]:
        try:
            return (yield from self._read())
        except OSError as error:
            raise self._write_error or error from error

    def chunk(self) -> Steps[bytes | None]:
        """A part of the body, or None at its end."""
        while True:
            event = self._http.next_event()
            if event is h11.NEED_DATA:
                self._http.receive_data((yield from self._read()))
            elif isinstance(event, h11.Data):
                return bytes(event.data)
            elif isinstance(event, h11.EndOfMessage):
                return None
            else:
                raise ConnectionError("the connection ended within a response")

    def end(self) -> bool:
        """After a response. False: close the connection."""
        ended = self._http.our_state is h11.DONE and self._http.their_state is h11.DONE
        left = self._http.trailing_data[0] or self._incoming.pending or (self._tls is not None and self._tls.pending())
        if not ended or left or self._write_error is not None:
            return False
        self._http.start_next_cycle()
        self.idle_since = time.monotonic()
        return True

    def is_quiet(self) -> bool:
        """Whether nothing has come since the last response, not even the end."""
        try:
            self.socket.setblocking(False)
            self.socket.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return True
        except OSError:
            return False
        return False


class Pool:
    """The idle connections of one process, and of one event loop if there is one. It has no lock, which an exception of
    a signal or a fork could leave held: the methods of a deque are atomic."""

    def __init__(self) -> None:
        self._idle: deque[Connection] = deque()

    def take(self) -> Connection | None:
        """The connection that was used last."""
        while True:
            try:
                connection = self._idle.pop()
            except IndexError:
                return None
            if time.monotonic() - connection.idle_since < IDLE_S_MAX and connection.is_quiet():
                return connection
            connection.close()

    def put(self, connection: Connection) -> None:
        """After a response. Closes the connection if it cannot have another one."""
        if not connection.end():
            connection.close()
            return
        self._idle.append(connection)
        while len(self._idle) > IDLE_MAX or self._is_oldest_stale():
            try:
                self._idle.popleft().close()
            except IndexError:
                return

    def _is_oldest_stale(self) -> bool:
        try:
            return time.monotonic() - self._idle[0].idle_since >= IDLE_S_MAX
        except IndexError:
            return False

    def close(self) -> None:
        while True:
            try:
                self._idle.pop().close()
            except IndexError:
                return


def exchange(connection: Connection, send: Send) -> Steps[Response]:
    """A request and its whole response."""
    head = yield from connection.ask(send)
    body = bytearray()
    while (chunk := (yield from connection.chunk())) is not None:
        body += chunk
        if len(body) > RESPONSE_BYTES_MAX:
            raise invalid_response(head.status, head.headers, "it is too large")
    return Response(head.status, head.headers, bytes(body))


def refuse_encoding(head: Head) -> None:
    """The client asks for no compression."""
    given = head.headers.get("content-encoding", "identity")
    if given.strip().lower() != "identity":
        raise invalid_response(
            head.status, head.headers, f"its encoding is {given!r}", retryable=is_retryable(head.status)
        )
