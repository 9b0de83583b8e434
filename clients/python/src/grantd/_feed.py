"""The change feed as both clients follow it: a stream of lines that resumes at its last cursor, so that no change is
missed or repeated."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from ._core import Core, Request, Response, Send, check_head, judge, log_attempt
from ._decode import Json, WrongShape, parse_json
from ._encode import joined
from ._errors import (
    CONNECTION_LOST,
    TIMEOUT,
    GrantdError,
    garbled_response,
    invalid_response,
)
from ._operations import pairs_of, query_of, time_text
from ._results import ChangeEvent, Page
from ._types import Change, ChangeLine

MEDIA_TYPE = "application/x-ndjson"
# A line has one change, whose rules may have 128 KiB, twice, and be escaped.
LINE_BYTES_MAX = 2 << 20


def feed_query(
    cursor: str | None,
    since: datetime | str | None,
    namespace: str | None,
    relation: str | None,
    on: Sequence[str] | None,
    actions: Sequence[str],
) -> dict[str, str]:
    return query_of(
        cursor=cursor,
        since=time_text(since),
        namespace=namespace,
        relation=relation,
        on=None if on is None else pairs_of(on),
        action=joined(actions, "actions"),
    )


class Feed:
    """Where a follower is. One connection after another reads on from here."""

    def __init__(self, core: Core, query: dict[str, str], silence: float, checkpoints: bool) -> None:
        self._core = core
        self._query = dict(query)
        self._checkpoints = checkpoints
        self._last = (0, 0)
        self._half = b""
        self._failures = 0
        self._began = time.monotonic()
        # Whether the present connection has an entry in the log.
        self._is_logged = True
        self.silence = silence

    @property
    def begins_now(self) -> bool:
        """Then what "now" means has to be fixed: after a connection is lost, a second one would leave out changes."""
        return self._query.get("since") == "now" and "cursor" not in self._query

    def first(self, page: Page[Change]) -> Iterator[ChangeEvent]:
        """Takes the page from which a feed from now on follows. It may have a change already."""
        self.begin(page.cursor)
        for change in page.items:
            event = self._next(page.cursor or "", change)
            if event is not None:
                yield event
        if self._checkpoints:
            yield ChangeEvent(page.cursor or "", None, page.seq)

    def begin(self, cursor: str | None) -> None:
        self._query.pop("since", None)
        self._query["cursor"] = cursor or ""

    @property
    def query(self) -> dict[str, str]:
        return self._query

    def connect(self, deadline: float) -> Send:
        self._half = b""
        self._is_logged = False
        self._began = time.monotonic()
        return self._core.send(self._request(), deadline)

    def _request(self) -> Request:
        # In the query of a page, there is no such parameter.
        query = {**self._query, **({"checkpoints": "batch"} if self._checkpoints else {})}
        return Request("listChanges", "GET", "/v1/changes", query, {"accept": MEDIA_TYPE})

    def check_head(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        """Raises unless the response is a stream. `body` is needed of an error only."""
        self._core.warnings.log_from(headers)
        log_attempt(self._request(), self._failures + 1, self._began, status, headers.get("x-service-request-id"), "")
        self._is_logged = True
        if status == 200:
            check_head(status, headers, MEDIA_TYPE)
        else:
            judge(self._request(), Response(status, headers, body), self._core.url)

    def read(self, status: int, headers: Mapping[str, str], chunk: bytes) -> Iterator[ChangeEvent]:
        """The events of whole lines. What follows the last newline waits for the rest."""
        *lines, self._half = (self._half + chunk).split(b"\n")
        if len(self._half) > LINE_BYTES_MAX:
            raise invalid_response(status, headers, "a line is too long")
        for line in lines:
            if not line.strip():
                continue
            try:
                value = parse_json(line)
            except WrongShape as error:
                raise garbled_response(status, headers, error) from error
            try:
                event = self._tell(value)
            except WrongShape as error:
                raise invalid_response(status, headers, error) from error
            if event is not None:
                yield event

    def _tell(self, value: Json) -> ChangeEvent | None:
        line = ChangeLine.decode(value)
        self._failures = 0
        self.begin(line.cursor)
        if line.type == "change":
            if line.change is None:
                raise WrongShape("a line without its change")
            return self._next(line.cursor, line.change)
        elif line.type == "checkpoint" and self._checkpoints:
            if line.seq is None:
                raise WrongShape("a checkpoint without its seq")
            return ChangeEvent(line.cursor, None, line.seq)
        return None

    def _next(self, cursor: str, change: Change) -> ChangeEvent | None:
        place = (change.seq, change.index)
        if place <= self._last:
            return None
        self._last = place
        return ChangeEvent(cursor, change)

    def pause(self, error: GrantdError) -> float:
        """Before the next connection, without a bound on attempts. Raises errors that a retry cannot resolve."""
        error._about(f"GET {self._core.url}/v1/changes")
        if not self._is_logged:
            # Silence is a lost connection.
            type_ = CONNECTION_LOST if error.type == TIMEOUT else error.type
            log_attempt(self._request(), self._failures + 1, self._began, 0, None, type_)
        if not error.retryable:
            raise error
        self._failures += 1
        return self._core.retries.pause_before(self._failures, error.retry_after)
