"""What a caller gives arrives as it is, or nothing is sent; and no text of the network forges a line of a log."""

from __future__ import annotations

import asyncio
import json
import math
import os
import random
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import pytest
from handlers import KEY, URL, Asked, Given, async_client_of, client_of, json_of

from grantd import AsyncGrantd, Grantd, GrantdError, InvalidRequest
from grantd._core import RULES_TYPE, Response, Send
from grantd._encode import is_text
from grantd._http import Route
from grantd.testing import GrantdService

# The run of a release asks for more: the measure is 100,000.
TEXTS = int(os.environ.get("HOSTILE_TEXTS", "1000"))
PROBLEM = {"type": "https://errors.example/invalid-subject", "detail": "No.", "instance": "req_1"}
OTHER = ("user:ada", "viewer", "document:plan")

Call = Callable[[Any, str], Any]
CALLS: dict[str, Call] = {
    "subject": lambda client, text: client.check(text, "viewer", "document:plan"),
    "relation": lambda client, text: client.check("user:ada", text, "document:plan"),
    "object": lambda client, text: client.check("user:ada", "viewer", text),
    "value of a context": lambda client, text: client.check(*OTHER, context={"a": [text]}),
    "name in a context": lambda client, text: client.check(*OTHER, context={"a": {text: 1}}),
    "context grant": lambda client, text: client.check(
        *OTHER, context_grants=[{"subject": text, "relation": "viewer", "object": "document:plan"}]
    ),
    "explanation": lambda client, text: client.explain(text, "viewer", "document:plan"),
    "bulk check": lambda client, text: client.check_bulk([OTHER, (text, "viewer", "document:plan")]),
    "grant": lambda client, text: client.create_grant(text, "viewer", "document:plan"),
    "object of a grant": lambda client, text: client.create_grant("user:ada", "viewer", text),
    "revocation": lambda client, text: client.revoke_grant(text, "viewer", "document:plan"),
    "object of a revocation": lambda client, text: client.revoke_grant("user:ada", "viewer", text),
    "relation of a revocation": lambda client, text: client.revoke_grant("user:ada", text, "document:plan"),
    "bulk write": lambda client, text: client.write_bulk(
        grants=[{"subject": text, "relation": "viewer", "object": "document:plan"}]
    ),
    "revocations": lambda client, text: client.revoke_grants(subject=text),
    "objects": lambda client, text: client.list_objects_page(text, "viewer"),
    "objects in a context": lambda client, text: client.list_objects_page("user:ada", "viewer", context={"a": text}),
    "subjects": lambda client, text: client.list_subjects_page(text, "viewer"),
    "grants": lambda client, text: client.list_grants_page(object_=text),
    "cursor": lambda client, text: client.list_objects_page("user:ada", "viewer", cursor=text),
    "cursor of keys": lambda client, text: client.list_keys_page(cursor=text),
    "cursor of the feed": lambda client, text: client.changes_page(cursor=text),
    "since of the feed": lambda client, text: client.changes_page(since=text),
    "namespace": lambda client, text: client.create_namespace(text),
    "name of a key": lambda client, text: client.create_key(["check:read"], name=text),
    "id of a key": lambda client, text: client.revoke_key(text),
    "rules": lambda client, text: client.write_rules(
        {"rules": [{"namespace": "document", "name": text, "any_of": ["viewer"]}]}
    ),
    "rules as text": lambda client, text: client.write_rules(text),
    "evaluation": lambda client, text: client.evaluate(
        {
            "subject": {"type": "user", "id": text},
            "action": {"name": "viewer"},
            "resource": {"type": "document", "id": "plan", "properties": {text: text}},
        }
    ),
    "search": lambda client, text: client.search_resources_page(
        {
            "subject": {"type": "user", "id": "ada"},
            "action": {"name": "viewer"},
            "resource": {"type": "document"},
            "page": {"token": text},
        }
    ),
}


def hostile(chosen: random.Random) -> str:
    """A text of bytes that may be no UTF-8, or of UTF-16 that may be cut."""
    length = chosen.randrange(1, 8)
    if chosen.random() < 0.5:
        few = [chosen.choice((chosen.randrange(1, 0x80), chosen.randrange(1, 0x100))) for _ in range(length)]
        return bytes(few).decode("utf-8", "surrogateescape")
    units = [chosen.choice((chosen.randrange(1, 0x7F), chosen.randrange(0xD7F0, 0xE010))) for _ in range(length)]
    return b"".join(unit.to_bytes(2, "big") for unit in units).decode("utf-16-be", "surrogatepass")


def texts_in(value: Any) -> set[str]:
    if isinstance(value, dict):
        return set(value) | {text for each in value.values() for text in texts_in(each)}
    if isinstance(value, list):
        return {text for each in value for text in texts_in(each)}
    return {value} if isinstance(value, str) else set()


class Arrivals:
    """A network that reads what would be on the wire, and refuses it."""

    def __init__(self) -> None:
        self.texts: set[str] | None = None
        self._route = Route(URL, None, None)

    def read(self, send: Send) -> Response:
        target = urlsplit(self._route.head_of(send).target.decode("ascii"))
        self.texts = {unquote(part, errors="strict") for part in target.path.split("/")}
        self.texts |= {value for _, value in parse_qsl(target.query, keep_blank_values=True, errors="strict")}
        body = (send.body or b"{}").decode()
        self.texts |= {body} if send.headers.get("content-type") == RULES_TYPE else texts_in(json.loads(body))
        return Response(400, {}, json.dumps(PROBLEM).encode())

    def close(self) -> None:
        pass


class SyncArrivals(Arrivals):
    def exchange(self, send: Send) -> Response:
        return self.read(send)

    def stream(self, send: Send) -> Any:
        raise AssertionError


class AsyncArrivals(Arrivals):
    async def exchange(self, send: Send) -> Response:
        return self.read(send)

    async def stream(self, send: Send) -> Any:
        raise AssertionError


def judge(arrivals: Arrivals, name: str, text: str, error: GrantdError) -> None:
    place = (name, text)
    if is_text(text):
        assert error.type == "invalid-subject", place
        assert arrivals.texts is not None and text in arrivals.texts, place
    else:
        assert isinstance(error, InvalidRequest) and error.type == "invalid-request", place
        assert arrivals.texts is None, place
    arrivals.texts = None


@pytest.mark.parametrize("name", CALLS)
def test_a_text_arrives_as_it_is_or_not_at_all(name: str) -> None:
    chosen = random.Random(name)
    texts = [hostile(chosen) for _ in range(TEXTS)]
    texts = [text for text in texts if text not in (".", "..")]
    arrivals, later = SyncArrivals(), AsyncArrivals()
    client, other = Grantd(URL, KEY), AsyncGrantd(URL, KEY)
    client._network, other._network = arrivals, later
    for text in texts:
        with pytest.raises(GrantdError) as raised:
            CALLS[name](client, text)
        judge(arrivals, name, text, raised.value)

    async def run() -> None:
        for text in texts[: TEXTS // 10]:
            with pytest.raises(GrantdError) as raised:
                await CALLS[name](other, text)
            judge(later, name, text, raised.value)

    asyncio.run(run())
    assert any(is_text(text) for text in texts) and not all(is_text(text) for text in texts)


CIRCLE: list[Any] = []
CIRCLE.append(CIRCLE)


@pytest.mark.parametrize(
    "value",
    [math.nan, math.inf, -math.inf, {1}, b"a", object(), 1j, {1: "a"}, {None: "a"}, [{"a": (1, math.nan)}], CIRCLE],
)
def test_what_json_has_not_is_refused_alone(service: GrantdService, value: Any) -> None:
    client = service.client()
    with pytest.raises(GrantdError) as raised:
        client.check(*OTHER, context={"a": value})
    assert (raised.value.type, raised.value.retryable) == ("invalid-request", False)


@pytest.mark.parametrize("value", [b"user:ada", 5.5, True, None])
def test_what_is_no_text_is_not_made_one(service: GrantdService, value: Any) -> None:
    client = service.client()
    for call in (
        lambda: client.revoke_grant(value, "viewer", "document:plan"),
        lambda: client.list_objects_page("user:ada", value, cursor=value),
        lambda: client.read_rules_version(value),
    ):
        with pytest.raises(GrantdError) as raised:
            call()
        assert raised.value.type in ("invalid-request", "invalid-relation")


@pytest.mark.parametrize("action", ["", "grant.created,grant.revoked", "grant.\ud800"])
def test_an_action_that_is_none_is_not_made_another_one(service: GrantdService, action: str) -> None:
    with pytest.raises(InvalidRequest):
        service.client().changes_page(actions=[action])


def test_an_ill_formed_text_fails_alone_among_gathered_checks(service: GrantdService) -> None:
    key = service.new_key()
    client = service.client(key=key)
    client.create_grant(*OTHER)
    questions = [OTHER, ("user:\ud83d", "viewer", "document:plan"), ("user:bob", "viewer", "document:plan")]

    async def gathered() -> list[Any]:
        other = service.async_client(key=key)
        return list(await asyncio.gather(*(other.check(*each) for each in questions), return_exceptions=True))

    for first, second, third in (client.check_each(questions), asyncio.run(gathered())):
        assert first is True and third is False
        assert isinstance(second, InvalidRequest)


def test_a_header_of_a_hook_that_cannot_be_sent_is_refused_and_the_hook_is_told() -> None:
    ends: list[str | None] = []

    def hook(call: Any) -> Any:
        call.headers["x-forged"] = "a\r\nAuthorization: Bearer other"
        return lambda outcome: ends.append(outcome.error and outcome.error.type)

    def never(_: Asked) -> Given:
        raise AssertionError

    with pytest.raises(InvalidRequest):
        client_of(never, hook=hook).check(*OTHER)
    assert ends == ["invalid-request"]


FORGED = "a\r\nERROR forged\x1b[31m\x85\u2028\u202eb"


@pytest.mark.parametrize("kind", ["suspended", FORGED])
def test_a_problem_forges_no_line_of_a_log(kind: str) -> None:
    answer = json_of(403, {"type": f"https://errors.example/{kind}", "detail": FORGED, "instance": FORGED})

    async def run() -> None:
        await async_client_of(lambda _: answer).check(*OTHER)

    for call in (lambda: client_of(lambda _: answer).check(*OTHER), lambda: asyncio.run(run())):
        with pytest.raises(GrantdError) as raised:
            call()
        error = raised.value
        for text in (str(error), repr(error), error.type, error.detail, error.request_id or ""):
            assert text.isprintable(), text
        assert error.type == ("suspended" if kind == "suspended" else "invalid-response")


def test_a_feed_from_now_yields_the_change_of_its_first_page() -> None:
    def change(seq: int) -> dict[str, Any]:
        at = "2026-01-15T09:30:00.000Z"
        return {"seq": seq, "index": 0, "at": at, "actor": "a", "request_id": "r", "action": "grant.created"}

    def handler(request: Asked) -> Given:
        if request.headers["accept"] == "application/json":
            return json_of(200, {"changes": [change(1)], "next_cursor": "c1", "seq": 1})
        lines = [{"type": "change", "cursor": f"c{seq}", "change": change(seq)} for seq in (1, 2)]
        body = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
        return Given(200, body, {"content-type": "application/x-ndjson"})

    events = client_of(handler).changes(since="now")
    assert [next(events).cursor for _ in range(2)] == ["c1", "c2"]

    async def run() -> list[str]:
        found: list[str] = []
        async for event in async_client_of(handler).changes(since="now"):
            found.append(event.cursor)
            if len(found) == 2:
                break
        return found

    assert asyncio.run(run()) == ["c1", "c2"]
