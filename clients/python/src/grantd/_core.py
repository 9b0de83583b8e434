"""One call of the API, without I/O: what to send, when to retry, and how to read the answer.

A plan is a generator that yields its next effect, a Send or a Sleep, and returns the result. The two clients differ
only in how they perform effects.
"""

from __future__ import annotations

import logging
import random
import re
import time
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias, TypeVar

from ._decode import Json, WrongShape, decode_text, parse_json
from ._encode import body_of, check_text
from ._errors import (
    GrantdError,
    garbled_response,
    invalid_request,
    invalid_response,
    outcome_unknown,
    problem_error,
)
from ._warnings import Warnings

VERSION = "0.2.0"
EARNED_BY_CALL = 0.1
# The text form of rules.
RULES_TYPE = "text/vnd.grantd.rules"
_JSON_TYPE = "application/json"
# A page of 1,000 grants with the longest identifiers has 3 MB.
RESPONSE_BYTES_MAX = 16 << 20

_LOGGER = logging.getLogger("grantd")
_EMPTY = frozenset({204, 304})
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(r"[!-~](?:[ -~]*[!-~])?")

T = TypeVar("T")


@dataclass(frozen=True)
class Request:
    operation: str
    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    # Rules in the text form if it is a text, otherwise JSON.
    body: Json = None
    accepts: tuple[int, ...] = (200,)
    # It has a condition, which a repeat may fail because of the effect of the first attempt.
    conditional: bool = False


@dataclass(frozen=True)
class Response:
    status: int
    # With names in lower case.
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class Answer:
    """A response with the promised status. `value` is its JSON, the text that was asked for, or None."""

    status: int
    headers: Mapping[str, str]
    value: Json
    # The method and the URL of its request.
    request: str


@dataclass(frozen=True)
class Send:
    method: str
    url: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes | None
    # By the monotonic clock.
    deadline: float

    @property
    def request(self) -> str:
        """For an error: the method and the URL, without its query."""
        return f"{self.method} {self.url}"


@dataclass(frozen=True)
class Sleep:
    seconds: float


# A Send resolves to a Response, or raises a GrantdError.
Plan: TypeAlias = Generator["Send | Sleep", Any, T]


@dataclass
class Call:
    """One call of the API, with all its retries, as a hook sees it."""

    operation: str
    method: str
    # Without its query.
    url: str
    # Sent with each attempt: a place for "traceparent".
    headers: dict[str, str]


@dataclass(frozen=True)
class Outcome:
    """How a call ended: status 0 if there was no answer, error None if it succeeded."""

    status: int
    request_id: str | None
    attempts: int
    error: GrantdError | None


Hook: TypeAlias = Callable[[Call], "Callable[[Outcome], None] | None"]


def is_header(name: object, value: object) -> bool:
    """Whether a header arrives as it is given."""
    is_text = isinstance(name, str) and isinstance(value, str)
    return is_text and _TOKEN.fullmatch(str(name)) is not None and _VALUE.fullmatch(str(value)) is not None


class RetryBudget:
    """A bucket of tokens per client, so that an outage is never made worse by a flood of retries.

    It has no lock: a thread that is late costs or gives a retry at most, but a lock that is held at a fork, or when the
    handler of a signal raises, is held for ever.
    """

    def __init__(self, most: int) -> None:
        self._most = float(most)
        self._tokens = float(most)

    def earn(self) -> None:
        self._tokens = min(self._tokens + EARNED_BY_CALL, self._most)

    def spend(self) -> bool:
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True


@dataclass(frozen=True)
class Retries:
    """How one call is retried."""

    most: int
    # Bounds of the random pause, in seconds: before the first retry, which doubles, and before any.
    first: float
    longest: float

    def pause_before(self, retry: int, minimum: int) -> float:
        """Before a retry, counted from 1: the service's `Retry-After`, and a random time."""
        return minimum + random.uniform(0, min(self.first * 2.0 ** min(retry - 1, 64), self.longest))


def log_attempt(request: Request, attempt: int, began: float, status: int, request_id: str | None, error: str) -> None:
    """Writes an entry of the log. It has no header, body or query, so no API key and no subject."""
    outcome = " ".join(([str(status)] if status else []) + ([error] if error else []))
    _LOGGER.debug(
        "%s %s %s, attempt %d: %s after %d ms%s",
        request.operation,
        request.method,
        request.path,
        attempt,
        outcome,
        (time.monotonic() - began) * 1000,
        f", {request_id}" if request_id else "",
    )


@dataclass(frozen=True)
class Core:
    url: str
    key: str
    timeout: float
    budget: RetryBudget
    retries: Retries
    # Sent with each request.
    headers: Mapping[str, str]
    hook: Hook | None
    warnings: Warnings

    def deadline(self) -> float:
        return time.monotonic() + self.timeout

    def send(self, request: Request, deadline: float) -> Send:
        """Raises what cannot be sent as it is given."""
        body = None
        for name, value in request.query.items():
            check_text(value, name)
        own = {
            "authorization": f"Bearer {self.key}",
            "user-agent": self.headers["user-agent"],
            "accept": _JSON_TYPE,
            "accept-encoding": "identity",
        }
        if isinstance(request.body, str):
            check_text(request.body, "rules")
            body, own["content-type"] = request.body.encode(), RULES_TYPE
        elif request.body is not None:
            body, own["content-type"] = body_of(request.body), _JSON_TYPE
        sent = {**self.headers, **own, **request.headers}
        return Send(request.method, self.url + request.path, request.query, sent, body, deadline)

    def begin(self, send: Send, operation: str) -> tuple[Send, Callable[[Outcome], None] | None]:
        """Tells the hook, and adds its headers."""
        if self.hook is None:
            return send, None
        call = Call(operation, send.method, send.url, {})
        ended = self.hook(call)
        for name, value in call.headers.items():
            if not is_header(name, value or "empty"):
                error = invalid_request(f"the hook gives a header {name!r} that cannot be sent")._about(send.request)
                if ended is not None:
                    ended(Outcome(error.status, None, 0, error))
                raise error
        of_hook = {name.lower(): value for name, value in call.headers.items()}
        own = {name: value for name, value in send.headers.items() if name not in self.headers or name == "user-agent"}
        return replace(send, headers={**self.headers, **of_hook, **own}), ended

    def call(self, request: Request, deadline: float | None = None) -> Plan[Answer]:
        prepared = self.send(request, self.deadline() if deadline is None else deadline)
        send, ended = self.begin(prepared, request.operation)
        self.budget.earn()
        attempts = 0
        unknown = False
        while True:
            attempts += 1
            began = time.monotonic()
            try:
                response: Response = yield send
                self.warnings.log_from(response.headers)
                answer = judge(request, response, send.request)
                request_id = answer.headers.get("x-service-request-id")
                log_attempt(request, attempts, began, answer.status, request_id, "")
                if ended is not None:
                    ended(Outcome(answer.status, request_id, attempts, None))
                return answer
            except GrantdError as error:
                failure = error._about(send.request)
                log_attempt(request, attempts, began, error.status, error.request_id, error.type)
            if unknown and request.conditional and failure.type == "precondition-failed":
                failure = outcome_unknown(failure)._about(send.request)
            unknown = unknown or failure._unknown
            pause = self.retries.pause_before(attempts, failure.retry_after)
            if (
                not failure._repeatable
                or attempts > self.retries.most
                or time.monotonic() + pause >= send.deadline
                or not self.budget.spend()
            ):
                if ended is not None:
                    ended(Outcome(failure.status, failure.request_id, attempts, failure))
                raise failure
            yield Sleep(pause)

    def call_for(self, request: Request, decode: Callable[[Json], T], deadline: float | None = None) -> Plan[T]:
        answer = yield from self.call(request, deadline)
        return decoded(answer, decode)


def decoded(answer: Answer, decode: Callable[[Json], T]) -> T:
    try:
        return decode(answer.value)
    except WrongShape as error:
        raise invalid_response(answer.status, answer.headers, error)._about(answer.request) from error


def check_head(status: int, headers: Mapping[str, str], media_type: str) -> None:
    """Refuses another media type of a response with an accepted status."""
    given = headers.get("content-type", "")
    if given.split(";", 1)[0].strip().lower() != media_type:
        raise invalid_response(status, headers, f"its media type is {given!r}")


def judge(request: Request, response: Response, sent: str) -> Answer:
    status, headers = response.status, response.headers
    if status not in request.accepts:
        if status < 400:
            raise invalid_response(status, headers, f"status {status}")
        raise problem_error(status, headers, response.body)
    if status in _EMPTY:
        return Answer(status, headers, None, sent)
    accepted = request.headers.get("accept", _JSON_TYPE)
    check_head(status, headers, accepted)
    try:
        value = parse_json(response.body) if accepted == _JSON_TYPE else decode_text(response.body)
        return Answer(status, headers, value, sent)
    except WrongShape as error:
        raise garbled_response(status, headers, error) from error
