"""The change feed of the service in memory, as pages and as lines of a stream."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from .._decode import WrongShape, time
from .operations import Caller
from .requests import (
    LIMIT_DEFAULT,
    LIMIT_MAX,
    Json,
    Problem,
    invalid,
    query_in,
    read_cursor,
    relation_in,
    whole,
    write_cursor,
)
from .rules import namespace_of
from .state import State, time_json

ACTIONS = ("grant.created", "grant.updated", "grant.revoked", "grant.expired", "namespace.created", "rules.updated")
WAIT_MAX_S = 30


class FakeFeed:
    def __init__(self, c: Caller) -> None:
        query = query_in(c.query, "cursor", "since", "namespace", "relation", "action", "limit", "wait")
        self.state: State = c.state
        self.wait = whole(query, "wait", 0, 0, WAIT_MAX_S)
        self.streams = c.headers.get("accept") == "application/x-ndjson"
        self._limit = whole(query, "limit", LIMIT_DEFAULT, 1, LIMIT_MAX)
        self._namespace = query.get("namespace")
        self._relation = relation_in(query) if "relation" in query else None
        self._actions = query["action"].split(",") if "action" in query else list(ACTIONS)
        if not set(self._actions) <= set(ACTIONS):
            raise invalid("There is no such action.")
        self._position = self._begin(query.get("cursor"), query.get("since"))

    def _begin(self, cursor: str | None, since: str | None) -> int:
        changes = self.state.changes
        if cursor is not None and since is not None:
            raise invalid('"cursor" and "since" are both given.')
        if cursor is not None:
            position = int(read_cursor("changes", cursor))
            if position > len(changes):
                raise Problem("invalid-cursor", "The cursor was not issued for this feed.")
            return position
        if since == "now":
            return len(changes)
        if since is None:
            return 0
        try:
            at = time_json(time(since)) or ""
        except WrongShape:
            raise invalid('"since" must be a time, or "now"') from None
        return sum(1 for change in changes if change["at"] < at)

    def _passes(self, change: dict[str, Any]) -> bool:
        if change["action"] not in self._actions:
            return False
        if "grant" in change:
            grant = change["grant"]
            return self._relation in (None, grant["relation"]) and self._concerns(namespace_of(grant["object"]))
        if "namespace" in change:
            return self._relation is None and self._concerns(change["namespace"]["name"])
        return True

    def _concerns(self, namespace: str) -> bool:
        return self._namespace in (None, namespace)

    def next(self) -> dict[str, Any] | None:
        """The next stored change."""
        with self.state.lock:
            self.state.expire()
            while self._position < len(self.state.changes):
                change = self.state.changes[self._position]
                self._position += 1
                if self._passes(change):
                    return change
        return None

    @property
    def _cursor(self) -> str:
        return write_cursor("changes", str(self._position))

    def page(self) -> Json:
        changes: list[dict[str, Any]] = []
        while len(changes) < self._limit:
            change = self.next()
            if change is None:
                break
            changes.append(change)
        return {"changes": changes, "next_cursor": self._cursor}

    def lines(self) -> bytes:
        """The changes so far, as lines of the stream."""
        lines = []
        while (change := self.next()) is not None:
            lines.append({"type": "change", "cursor": self._cursor, "change": change})
        return b"".join(json.dumps(line).encode() + b"\n" for line in lines)

    def checkpoint(self, at: datetime) -> bytes:
        line = {"type": "checkpoint", "cursor": self._cursor, "at": time_json(at)}
        return json.dumps(line).encode() + b"\n"
