"""Bad servers: an answer is that of its question, whole and as promised, and no call outlasts its deadline."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
import logging
import shutil
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from servers import AT, Serve, answers, decided, http, requests, served

from grantd import AsyncGrantd, Grantd, GrantdError

QUESTION = ("user:2", "viewer", "document:plan")
TIMEOUT_S = 0.4
# A machine under load is late, but by less than the ten seconds for which the servers go on.
LATE_S = 5.0


def ask_sync(url: str, count: int, **options: Any) -> list[bool | GrantdError]:
    with Grantd(url, "key", max_retries=0, **options) as client:
        return [answer_of(client) for _ in range(count)]


def answer_of(client: Grantd) -> bool | GrantdError:
    try:
        return client.check(*QUESTION)
    except GrantdError as error:
        return error


def ask_async(url: str, count: int, **options: Any) -> list[bool | GrantdError]:
    async def run() -> list[bool | GrantdError]:
        found: list[bool | GrantdError] = []
        async with AsyncGrantd(url, "key", max_retries=0, **options) as client:
            for _ in range(count):
                try:
                    found.append(await client.check(*QUESTION))
                except GrantdError as error:
                    found.append(error)
        return found

    return asyncio.run(run())


Ask = Callable[..., "list[bool | GrantdError]"]
both = pytest.mark.parametrize("ask", [ask_sync, ask_async])


@both
def test_a_response_that_nobody_asked_for_is_nobody_s_answer(ask: Ask) -> None:
    def serve(connection: socket.socket) -> None:
        for _ in requests(connection):
            connection.sendall(http(decided(False)) + http(decided(True)))

    with served(serve) as url:
        assert ask(url, 6) == [False] * 6


def test_a_response_that_comes_while_nobody_asks_ends_the_connection() -> None:
    is_read = threading.Event()

    def serve(connection: socket.socket) -> None:
        for _ in requests(connection):
            connection.sendall(http(decided(False)))
            is_read.wait(10)
            connection.sendall(http(decided(True)))

    def come(sock: socket.socket) -> None:
        is_read.set()
        sock.setblocking(True)
        assert sock.recv(1, socket.MSG_PEEK) == b"H"
        is_read.clear()

    with served(serve) as url, Grantd(url, "key", max_retries=0) as client:
        for _ in range(3):
            assert client.check(*QUESTION) is False
            come(client._network._here().pool._idle[0].socket)  # type: ignore[attr-defined]

    async def run(url: str) -> None:
        client = AsyncGrantd(url, "key", max_retries=0)
        for _ in range(3):
            assert await client.check(*QUESTION) is False
            come(client._network._loops.here().pool._idle[0].socket)  # type: ignore[attr-defined]

    with served(serve) as url:
        asyncio.run(run(url))


def trickle(start: bytes, repeated: bytes) -> Serve:
    def serve(connection: socket.socket) -> None:
        next(requests(connection))
        connection.sendall(start)
        for _ in range(200):
            connection.sendall(repeated)
            time.sleep(0.05)

    return serve


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
TRICKLES = {
    "silence": (b"", b""),
    "head": (b"HTTP/1.1 200 OK\r\nX-Long: ", b"a"),
    "headers": (b"HTTP/1.1 200 OK\r\n", b"a: b\r\n"),
    "interim responses": (b"", b"HTTP/1.1 102 Processing\r\n\r\n"),
    "body": (HEAD + b"Content-Length: 100000\r\n\r\n{", b" "),
    "body to the end": (HEAD + b"\r\n{", b" "),
    "chunks": (HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n"),
    "size of a chunk": (HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"0"),
    "chunk extension": (HEAD + b"Transfer-Encoding: chunked\r\n\r\n1;", b"a"),
    "trailers": (HEAD + b"Transfer-Encoding: chunked\r\n\r\n0\r\n", b"a: b\r\n"),
}


@both
@pytest.mark.parametrize("name", TRICKLES)
def test_a_deadline_holds_whatever_trickles(ask: Ask, name: str) -> None:
    with served(trickle(*TRICKLES[name])) as url:
        began = time.monotonic()
        (answer,) = ask(url, 1, timeout=TIMEOUT_S)
        assert isinstance(answer, GrantdError) and answer.type == "timeout"
        assert time.monotonic() - began < TIMEOUT_S + LATE_S


@both
def test_a_deadline_holds_if_the_service_reads_nothing(ask: Ask) -> None:
    def serve(connection: socket.socket) -> None:
        time.sleep(10)

    with served(serve) as url:
        began = time.monotonic()
        context = {"a": "b" * (20 << 20)}
        with pytest.raises(GrantdError) as raised:
            if ask is ask_sync:
                Grantd(url, "key", timeout=TIMEOUT_S, max_retries=0).check(*QUESTION, context=context)
            else:
                asyncio.run(AsyncGrantd(url, "key", timeout=TIMEOUT_S, max_retries=0).check(*QUESTION, context=context))
        assert raised.value.type == "timeout"
        assert time.monotonic() - began < TIMEOUT_S + LATE_S


@both
def test_a_flood_of_interim_responses_leaves_the_event_loop_its_turns(ask: Ask) -> None:
    ended = threading.Event()

    def serve(connection: socket.socket) -> None:
        next(requests(connection))
        while not ended.is_set():
            connection.sendall(b"HTTP/1.1 102 Processing\r\n\r\n" * 1000)

    with served(serve) as url:
        began = time.monotonic()
        (answer,) = ask(url, 1, timeout=TIMEOUT_S)
        ended.set()
        assert isinstance(answer, GrantdError) and answer.type == "timeout"
        assert time.monotonic() - began < TIMEOUT_S + LATE_S


@both
def test_a_deadline_holds_while_names_are_looked_up(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    ended = threading.Event()
    real = socket.getaddrinfo

    def slow(host: str, *args: Any, **named: Any) -> Any:
        if host != "slow.test" or named.get("flags"):
            return real(host, *args, **named)
        asked.append(host)
        ended.wait(10)
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    began = time.monotonic()
    timer = threading.Timer(2 * TIMEOUT_S, ended.set)
    timer.start()
    answers_of = ask("http://slow.test", 1, timeout=TIMEOUT_S)
    assert [each.type for each in answers_of if isinstance(each, GrantdError)] == ["timeout"]
    assert time.monotonic() - began < TIMEOUT_S + LATE_S
    if ask is ask_sync:
        client = Grantd("http://slow.test", "key", timeout=0.05, max_retries=0)
        ended.clear()
        asked.clear()
        assert all(isinstance(answer_of(client), GrantdError) for _ in range(5))
        assert asked == ["slow.test"]
    ended.set()


CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
LARGE = b'{"authorized": true, "checked_at": "%s", "later": "%s"}' % (AT.encode(), b"a" * (16 << 20))
# Whole responses, and the type of the error.
BAD: dict[str, tuple[bytes, str]] = {
    "a body that is too large": (http(LARGE), "invalid-response"),
    "a packed body": (http(gzip.compress(decided(True)), "Content-Encoding: gzip"), "invalid-response"),
    "a bomb": (http(gzip.compress(LARGE), "Content-Encoding: gzip"), "invalid-response"),
    "another packing": (http(decided(True), "Content-Encoding: br"), "invalid-response"),
    "a doubled member": (http(b'{"authorized": false, ' + decided(True)[1:]), "invalid-response"),
    "a doubled member of a member": (http(decided(True)[:-1] + b', "a": {"b": 1, "b": 2}}'), "invalid-response"),
    "NaN": (http(decided(True)[:-1] + b', "a": NaN}'), "invalid-response"),
    "Infinity": (http(decided(True)[:-1] + b', "a": -Infinity}'), "invalid-response"),
    "half of a surrogate pair": (http(decided(True)[:-1] + b', "a": "\\ud800"}'), "invalid-response"),
    "a byte order mark": (http(b"\xef\xbb\xbf" + decided(True)), "invalid-response"),
    "two lengths": (HEAD + b"Content-Length: 62\r\nContent-Length: 3\r\n\r\n" + decided(True), "connection-lost"),
    "two framings": (
        HEAD + b"Content-Length: 62\r\nTransfer-Encoding: chunked\r\n\r\n3e\r\n" + decided(True) + b"\r\n0\r\n\r\n",
        "connection-lost",
    ),
    "no end of chunks": (CHUNKED + b"%x\r\n%s\r\n" % (len(decided(True)), decided(True)), "connection-lost"),
    "half a head": (HEAD, "connection-lost"),
    "no HTTP": (b"SSH-2.0-OpenSSH_9.6\r\n", "connection-lost"),
    "another protocol": (b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: a\r\n\r\n", "connection-lost"),
}


@both
@pytest.mark.parametrize("name", BAD)
def test_no_response_but_a_right_one_is_an_answer(ask: Ask, name: str) -> None:
    response, type_ = BAD[name]

    def serve(connection: socket.socket) -> None:
        next(requests(connection))
        connection.sendall(response)

    with served(serve) as url:
        (answer,) = ask(url, 1)
        assert isinstance(answer, GrantdError) and answer.type == type_


@both
def test_a_pair_of_surrogates_is_read(ask: Ask) -> None:
    body = decided(True)[:-1] + b', "a": "\\ud83d\\ude00"}'

    def serve(connection: socket.socket) -> None:
        for _ in requests(connection):
            connection.sendall(http(body, "Content-Encoding: identity"))

    with served(serve) as url:
        assert ask(url, 2) == [True, True]


@both
def test_a_connection_is_used_again_unless_it_ends(ask: Ask) -> None:
    opened: list[int] = []

    def serve(connection: socket.socket) -> None:
        opened.append(1)
        for _ in requests(connection):
            connection.sendall(http(decided(True)))

    def once(connection: socket.socket) -> None:
        opened.append(1)
        next(requests(connection))
        connection.sendall(http(decided(True)))

    with served(serve) as url:
        assert ask(url, 5) == [True] * 5
    assert len(opened) == 1
    opened.clear()
    with served(once) as url, Grantd(url, "key") as client:
        for _ in range(3):
            assert client.check(*QUESTION) is True
    assert len(opened) == 3


@both
def test_a_refusal_counts_though_the_service_does_not_read_the_rest(ask: Ask) -> None:
    problem = {"type": "https://errors.example/payload-too-large", "detail": "It is too large.", "instance": "req_1"}

    def serve(connection: socket.socket) -> None:
        connection.recv(1000)
        connection.sendall(http(json.dumps(problem).encode(), "Connection: close", status="413 Payload Too Large"))
        connection.shutdown(socket.SHUT_WR)
        # Reads the rest without a look at it, so that the response arrives.
        while connection.recv(65536):
            pass

    subject = "user:" + "a" * 3_000_000
    with served(serve) as url, pytest.raises(GrantdError) as raised:
        if ask is ask_sync:
            Grantd(url, "key", max_retries=0).check(subject, "viewer", "document:plan")
        else:
            asyncio.run(AsyncGrantd(url, "key", max_retries=0).check(subject, "viewer", "document:plan"))
    assert (raised.value.type, raised.value.status) == ("payload-too-large", 413)


def test_one_oversized_check_fails_alone() -> None:
    problem = {"type": "https://errors.example/payload-too-large", "detail": "It is too large.", "instance": "req_1"}

    def serve(connection: socket.socket) -> None:
        for _, body in requests(connection):
            if len(body) > 100_000:
                connection.sendall(http(json.dumps(problem).encode(), status="413 Payload Too Large"))
                continue
            results = [
                {"authorized": int(each["subject"][-1]) % 2 == 0, "checked_at": AT}
                for each in json.loads(body).get("checks", [json.loads(body)])
            ]
            answer = {**results[0], "results": results, "checked_at": AT}
            connection.sendall(http(json.dumps(answer).encode()))

    subjects = [f"user:{number}" for number in range(9)]
    subjects[4] = "user:" + "4" * 200_000
    questions = [(subject, "viewer", "document:plan") for subject in subjects]

    async def gathered(url: str) -> list[Any]:
        client = AsyncGrantd(url, "key")
        return list(await asyncio.gather(*(client.check(*each) for each in questions), return_exceptions=True))

    with served(serve) as url:
        for found in (Grantd(url, "key").check_each(questions), asyncio.run(gathered(url))):
            assert [each.type if isinstance(each, GrantdError) else each for each in found] == [
                "payload-too-large" if number == 4 else number % 2 == 0 for number in range(9)
            ]


def test_a_feed_whose_lines_trickle_is_a_lost_connection() -> None:
    connections: list[int] = []
    line = b'{"type": "checkpoint", "cursor": "c1", "at": "%s", "seq": 1}\n' % AT.encode()

    def serve(connection: socket.socket) -> None:
        next(requests(connection))
        connections.append(1)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\n\r\n")
        if len(connections) > 1:
            connection.sendall(line)
        with contextlib.suppress(OSError):
            while True:
                connection.sendall(b" ")
                time.sleep(0.05)

    async def first(url: str) -> str:
        async for event in AsyncGrantd(url, "key", silence=TIMEOUT_S).changes(checkpoints=True):
            return event.cursor
        raise AssertionError

    with served(serve) as url:
        assert next(Grantd(url, "key", silence=TIMEOUT_S).changes(checkpoints=True)).cursor == "c1"
        connections.clear()
        assert asyncio.run(first(url)) == "c1"
    assert len(connections) == 2


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate of 127.0.0.1, and its key."""
    openssl = shutil.which("openssl")
    assert openssl is not None, "the tests need openssl"
    file = tmp_path_factory.mktemp("tls") / "certificate.pem"
    subject = ["-subj", "/CN=grantd.test", "-addext", "subjectAltName=IP:127.0.0.1"]
    new = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", str(file.with_suffix(".key")), "-out", str(file)]
    subprocess.run([openssl, *new, *subject], check=True, capture_output=True)
    return file


@both
def test_tls(ask: Ask, certificate: Path) -> None:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, certificate.with_suffix(".key"))
    opened: list[int] = []

    def serve(connection: socket.socket) -> None:
        opened.append(1)
        answers(connection)

    def twice(connection: socket.socket) -> None:
        for _ in requests(connection):
            connection.sendall(http(decided(False)) + http(decided(True)))

    with served(serve, context) as url:
        trusting = ssl.create_default_context(cafile=certificate)
        assert ask(url, 3, ssl_context=trusting) == [True] * 3
        assert len(opened) == 1
        (refused,) = ask(url, 1)
        assert isinstance(refused, GrantdError) and refused.type == "connection-lost"
        (refused,) = ask(url.replace("127.0.0.1", "localhost"), 1, ssl_context=trusting)
        assert isinstance(refused, GrantdError) and refused.type == "connection-lost"
    with served(twice, context) as url:
        assert ask(url, 4, ssl_context=trusting) == [False] * 4
    with served(trickle(b"", b"\x16"), None) as url:
        (late,) = ask(url.replace("http:", "https:"), 1, timeout=TIMEOUT_S, ssl_context=trusting)
        assert isinstance(late, GrantdError)


@pytest.fixture
def proxy() -> Iterator[tuple[str, list[bytes]]]:
    """A proxy, and the heads of the requests to it."""
    heads: list[bytes] = []

    def serve(connection: socket.socket) -> None:
        head = b""
        while b"\r\n\r\n" not in head:
            head += connection.recv(1)
        heads.append(head)
        method, target, _ = head.split(b" ", 2)
        host, _, port = target.removeprefix(b"http://").partition(b"/")[0].rpartition(b":")
        with socket.create_connection((host.decode(), int(port))) as service:
            if method == b"CONNECT":
                connection.sendall(b"HTTP/1.1 200 Established\r\n\r\n")
            else:
                service.sendall(head)

            def back() -> None:
                with contextlib.suppress(OSError):
                    while data := service.recv(65536):
                        connection.sendall(data)

            threading.Thread(target=back, daemon=True).start()
            while data := connection.recv(65536):
                service.sendall(data)

    with served(serve) as url:
        yield url, heads


@both
def test_a_proxy_is_used_only_if_it_is_named(
    ask: Ask, certificate: Path, proxy: tuple[str, list[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    address, heads = proxy
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, address)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, certificate.with_suffix(".key"))
    trusting = ssl.create_default_context(cafile=certificate)
    with served(answers) as url:
        assert ask(url, 1) == [True]
        assert heads == []
        assert ask(url, 1, proxy=address.replace("//", "//ada:a%20b@")) == [True]
        assert heads[0].startswith(f"POST {url}/v1/check HTTP/1.1".encode())
        assert b"Proxy-Authorization: Basic YWRhOmEgYg==" in heads[0]
    heads.clear()
    with served(answers, context) as url:
        assert ask(url, 2, proxy=address, ssl_context=trusting) == [True, True]
        assert len(heads) == 1
        assert heads[0].startswith(f"CONNECT {url.removeprefix('https://')} HTTP/1.1".encode())
        assert b"authorization" not in heads[0].lower()


@both
def test_no_log_but_the_own_one_has_anything(ask: Ask, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    logging.getLogger("asyncio").setLevel(logging.WARNING)

    def serve(connection: socket.socket) -> None:
        for line, _ in requests(connection):
            connection.sendall(http(b'{"objects": [], "next_cursor": null}' if "ada-secret" in line else decided(True)))

    with served(serve) as url:
        assert ask(url, 1) == [True]
        assert list(Grantd(url, "key").list_objects("user:ada-secret", "viewer")) == []
    assert {record.name for record in caplog.records} == {"grantd"}
    assert "ada-secret" not in caplog.text
