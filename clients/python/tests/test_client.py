"""The clients against a transport with the answers of a test."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import Callable
from datetime import datetime

import pytest
from handlers import KEY, URL, Asked, Given, Handler, async_client_of, client_of

from grantd import Call, Grantd, GrantdError, Outcome
from grantd.testing import GrantdService

AT = "2026-01-15T09:30:00.000Z"
QUESTION = ("user:ada", "viewer", "document:plan")


def answer(body: bytes, **headers: str) -> Given:
    return Given(200, body, {"content-type": "application/json", **headers})


@pytest.mark.parametrize(
    "body",
    [
        b'{"authorized": 1, "checked_at": "%s"}' % AT.encode(),
        b'{"authorized": "true", "checked_at": "%s"}' % AT.encode(),
        b'{"Authorized": true, "checked_at": "%s"}' % AT.encode(),
        b'{"authorized": null, "checked_at": "%s"}' % AT.encode(),
        b'{"authorized": true}',
        b'{"authorized": true, "checked_at": "soon"}',
        b'{"authorized": true, "checked_at": "2026-13-45T99:99:99.000Z"}',
        b'{"authorized": true, "checked_at": null}',
        b'{"authorized": true, "later": "\xff", "checked_at": "%s"}' % AT.encode(),
        b'{"authorized": true, "checked_at": "%s"} {}' % AT.encode(),
        b"[" * 100_000,
        b"true",
        b"null",
        b"",
    ],
)
def test_no_answer_but_the_right_one_is_true(body: bytes) -> None:
    with pytest.raises(GrantdError) as raised:
        client_of(lambda _: answer(body), retry_budget=0).check(*QUESTION)
    assert raised.value.type == "invalid-response"
    with pytest.raises(GrantdError) as raised:
        asyncio.run(async_client_of(lambda _: answer(body), retry_budget=0).check(*QUESTION))
    assert raised.value.type == "invalid-response"


def bulk(sizes: list[int]) -> Handler:
    """Answers true for subjects that end in an even digit, and notes how many checks each request has."""

    def handler(request: Asked) -> Given:
        body = json.loads(request.content)
        checks = body.get("checks", [body])
        sizes.append(len(checks))
        results = [{"authorized": int(check["subject"][-1]) % 2 == 0} for check in checks]
        return answer(json.dumps({**results[0], "results": results, "checked_at": AT}).encode())

    return handler


def test_checks_of_one_turn_are_gathered_and_each_keeps_its_answer() -> None:
    sizes: list[int] = []

    async def run() -> None:
        client = async_client_of(bulk(sizes))
        answers = await asyncio.gather(*(client.check(f"user:{n}", "viewer", "document:plan") for n in range(250)))
        assert answers == [n % 2 == 0 for n in range(250)]

    asyncio.run(run())
    assert sizes == [100, 100, 50]


def test_a_gathered_check_that_is_cancelled_does_not_concern_the_others() -> None:
    sizes: list[int] = []

    async def run() -> None:
        client = async_client_of(bulk(sizes))
        tasks = [asyncio.create_task(client.check(f"user:{n}", "viewer", "document:plan")) for n in range(3)]
        await asyncio.sleep(0)
        tasks[1].cancel()
        answers = await asyncio.gather(*tasks, return_exceptions=True)
        assert answers[0] is True and answers[2] is True
        assert isinstance(answers[1], asyncio.CancelledError)

    asyncio.run(run())
    assert sum(sizes) <= 3


def test_the_sync_client_serves_threads() -> None:
    sizes: list[int] = []
    client = client_of(bulk(sizes))
    answers: dict[int, bool] = {}

    def ask(n: int) -> None:
        answers[n] = client.check(f"user:{n}", "viewer", "document:plan")

    threads = [threading.Thread(target=ask, args=[n]) for n in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == {n: n % 2 == 0 for n in range(20)}


def test_the_key_goes_nowhere_else_and_into_no_text() -> None:
    client = client_of(lambda _: Given(307, b"", {"location": "https://elsewhere.test/"}))
    with pytest.raises(GrantdError) as raised:
        client.check(*QUESTION)
    assert raised.value.type == "invalid-response" and raised.value.status == 307
    assert KEY not in repr(client) + repr(raised.value) + str(raised.value)


@pytest.mark.parametrize(
    ("url", "key"),
    [("", KEY), ("grantd.test", KEY), ("ftp://grantd.test", KEY), (f"{URL}?a=b", KEY), (URL, ""), (URL, "gk1\r\nX: 1")],
)
def test_settings_that_cannot_work_are_refused(url: str, key: str) -> None:
    with pytest.raises(ValueError):
        Grantd(url, key)


def test_what_cannot_be_sent_is_refused(service: GrantdService) -> None:
    client = service.client()
    for attempt in (
        lambda: client.create_key(["check:read"], idempotency_key="a\r\nb"),
        lambda: client.create_grant(*QUESTION, expires_at=datetime(2090, 1, 1)),
        lambda: client.read_rules_unless('a"b'),
    ):
        with pytest.raises(GrantdError) as raised:
            attempt()
        assert raised.value.type == "invalid-request"
    with pytest.raises(GrantdError):
        client.check("user:\ud800", "viewer", "document:plan")
    with pytest.raises(GrantdError):
        list(client.list_objects("user:\ud800", "viewer"))
    assert client.revoke_key("..") is False


def test_the_hook_sees_each_call_once() -> None:
    seen: list[tuple[str, Outcome]] = []

    def hook(call: Call) -> Callable[[Outcome], None]:
        call.headers["traceparent"] = "00-1-2-01"
        return lambda outcome: seen.append((call.operation, outcome))

    def handler(request: Asked) -> Given:
        assert request.headers["traceparent"] == "00-1-2-01"
        return answer(b'{"namespaces": []}')

    assert client_of(handler, hook=hook).list_namespaces() == []
    assert [(operation, outcome.status, outcome.attempts) for operation, outcome in seen] == [
        ("listNamespaces", 200, 1)
    ]


WARNINGS = [
    (["a", "a; b=c", "a", "a; b=c"], ["a", "a; b=c"]),
    (["", ""], []),
    (["caf\u00e9", "a\tb", "a" * 1025, "a" * 1024], ["a" * 1024]),
    ([*map(str, range(100)), "one more", "0"], [*map(str, range(100))]),
]


def warning(texts: list[str]) -> Handler:
    """Each answer comes with the next text as a warning."""
    left = iter(texts)

    def handler(_: Asked) -> Given:
        body = b'{"authorized": false, "checked_at": "%s"}' % AT.encode()
        return answer(body, **{"x-service-warning": next(left)})

    return handler


def logged(caplog: pytest.LogCaptureFixture) -> list[str]:
    assert all(record.name == "grantd" and record.levelno == logging.WARNING for record in caplog.records)
    assert KEY not in caplog.text
    return caplog.messages


@pytest.mark.parametrize(("texts", "expected"), WARNINGS)
def test_a_warning_is_logged_once_for_each_text(
    texts: list[str], expected: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    client = client_of(warning(texts))
    for _ in texts:
        # Another time for a call does not make another client.
        assert client.with_timeout(60).check(*QUESTION) is False
    assert logged(caplog) == expected
    caplog.clear()

    async def run() -> None:
        other = async_client_of(warning(texts))
        for _ in texts:
            assert await other.check(*QUESTION) is False

    asyncio.run(run())
    assert logged(caplog) == expected


def test_a_warning_of_a_refusal_and_of_a_stream_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    def handler(request: Asked) -> Given:
        is_stream = request.path == "/v1/changes"
        return Given(403, b"", {"x-service-warning": "stream" if is_stream else "refusal"})

    caplog.set_level(logging.WARNING)
    with pytest.raises(GrantdError):
        client_of(handler).check(*QUESTION)
    with pytest.raises(GrantdError):
        next(client_of(handler).changes())
    assert logged(caplog) == ["refusal", "stream"]


def test_a_call_with_a_timeout_of_its_own_shares_the_connections(service: GrantdService) -> None:
    client = service.client()
    assert client.with_timeout(60).check(*QUESTION) is False


def test_a_page_of_the_feed_waits_for_a_change(service: GrantdService) -> None:
    key = service.new_key()
    client = service.client(key=key)

    async def run() -> None:
        other = service.async_client(key=key)
        cursor = (await other.changes_page(since="now")).cursor
        waiting = asyncio.create_task(other.changes_page(cursor=cursor, wait=30))
        await asyncio.sleep(0)
        await asyncio.to_thread(client.create_namespace, "folder")
        assert [change.action for change in (await waiting).items] == ["namespace.created"]

    asyncio.run(run())


def test_a_feed_from_now_leaves_nothing_out_when_its_connection_is_lost() -> None:
    change = {"seq": 1, "index": 0, "at": AT, "actor": "system", "request_id": "req_1", "action": "grant.created"}
    line = json.dumps({"type": "change", "cursor": "c1", "change": change}).encode() + b"\n"

    def handler(streams: list[str]) -> Handler:
        def answer_one(request: Asked) -> Given:
            if request.headers["accept"] == "application/json":
                return answer(b'{"changes": [], "next_cursor": "now-1", "seq": 1}')
            streams.append(request.query["cursor"])
            if len(streams) == 1:
                raise ConnectionResetError("lost")
            return answer(line + b'{"half', **{"content-type": "application/x-ndjson"})

        return answer_one

    async def first() -> str:
        async for event in async_client_of(handler(streams)).changes(since="now"):
            return event.cursor
        raise AssertionError

    streams: list[str] = []
    assert next(client_of(handler(streams)).changes(since="now")).cursor == "c1"
    assert streams == ["now-1", "now-1"]
    streams = []
    assert asyncio.run(first()) == "c1"
    assert streams == ["now-1", "now-1"]
