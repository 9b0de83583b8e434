"""The tenant in memory: grants, namespaces, keys, rules and their changes."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

from .requests import write_cursor
from .rules import FakeRules, Tuple

CROCKFORD = "0123456789abcdefghjkmnpqrstvwxyz"
BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def random_text(alphabet: str, length: int) -> str:
    return "".join(secrets.choice(alphabet) for _ in range(length))


def new_id(prefix: str) -> str:
    return f"{prefix}_{random_text(CROCKFORD, 26)}"


def time_json(at: datetime | None) -> str | None:
    if at is None:
        return None
    return at.astimezone(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclass(frozen=True)
class StoredGrant:
    of: Tuple
    grant_id: str
    created_at: datetime
    expires_at: datetime | None

    def to_json(self) -> dict[str, Any]:
        subject, relation, object_ = self.of
        times = {"created_at": time_json(self.created_at), "expires_at": time_json(self.expires_at)}
        return {"grant_id": self.grant_id, "subject": subject, "relation": relation, "object": object_, **times}


@dataclass(frozen=True)
class StoredKey:
    key_id: str
    text: str
    name: str
    scopes: tuple[str, ...]
    created_at: datetime
    expires_at: datetime | None

    def to_json(self) -> dict[str, Any]:
        times = {"created_at": time_json(self.created_at), "expires_at": time_json(self.expires_at)}
        return {"key_id": self.key_id, "name": self.name, "scopes": list(self.scopes), **times}


def utc_now() -> datetime:
    return datetime.now(timezone.utc)


@dataclass
class State:
    clock: Callable[[], datetime] = utc_now
    unavailable: bool = False
    grants: dict[Tuple, StoredGrant] = field(default_factory=dict)
    namespaces: dict[str, datetime] = field(default_factory=dict)
    keys: dict[str, StoredKey] = field(default_factory=dict)
    # By Idempotency-Key: the id of the key that was created, and the body.
    created: dict[str, tuple[str, bytes]] = field(default_factory=dict)
    rules: FakeRules = field(default_factory=FakeRules)
    changes: list[dict[str, Any]] = field(default_factory=list)
    seq: int = 0
    # Held by readers and writers.
    lock: threading.RLock = field(default_factory=threading.RLock)
    # Called when changes have come.
    listeners: set[Callable[[], None]] = field(default_factory=set)

    def now(self) -> datetime:
        now = self.clock().astimezone(timezone.utc)
        return now.replace(microsecond=now.microsecond // 1000 * 1000)

    def add_key(self, name: str, scopes: tuple[str, ...], expires_at: datetime | None) -> StoredKey:
        key = StoredKey(new_id("key"), f"gk1_{random_text(BASE62, 81)}", name, scopes, self.now(), expires_at)
        self.keys[key.key_id] = key
        return key

    def feed_cursor(self) -> str:
        return write_cursor("changes", str(len(self.changes)))

    def expire(self) -> None:
        """Removes the grants that have expired."""
        now = self.now()
        ended = Write(self, "system", new_id("req"))
        for grant in list(self.grants.values()):
            if grant.expires_at is not None and grant.expires_at <= now:
                del self.grants[grant.of]
                ended.record("grant.expired", grant=grant.to_json())
        ended.commit()


class Write:
    """Collects the changes of one write."""

    def __init__(self, state: State, actor: str, request_id: str) -> None:
        self._state = state
        self._common = {"actor": actor, "request_id": request_id}
        self._changes: list[dict[str, Any]] = []

    def record(self, action: str, **members: Any) -> None:
        self._changes.append({"action": action, **members})

    def commit(self) -> None:
        state = self._state
        if not self._changes:
            return
        state.seq += 1
        for index, change in enumerate(self._changes):
            at = time_json(state.now())
            state.changes.append({"seq": state.seq, "index": index, "at": at, **self._common, **change})
        for listener in list(state.listeners):
            listener()

    def namespace(self, name: str) -> bool:
        """Whether it was created."""
        if name in self._state.namespaces:
            return False
        self._state.namespaces[name] = self._state.now()
        self.record("namespace.created", namespace={"name": name})
        return True

    def grant(self, of: Tuple, given: bool, expires_at: datetime | None) -> tuple[StoredGrant, bool]:
        """The grant as it is then, and whether it was created."""
        state = self._state
        stored = state.grants.get(of)
        if stored is not None:
            if given and stored.expires_at != expires_at:
                former = {"expires_at": time_json(stored.expires_at)}
                stored = state.grants[of] = StoredGrant(of, stored.grant_id, stored.created_at, expires_at)
                self.record("grant.updated", grant=stored.to_json(), former_terms=former)
            return stored, False
        for identifier in (of[0], of[2]):
            self.namespace(identifier.split(":", 1)[0])
        stored = state.grants[of] = StoredGrant(of, new_id("grt"), state.now(), expires_at)
        self.record("grant.created", grant=stored.to_json())
        return stored, True

    def revoke(self, of: Tuple) -> bool:
        """Whether there was one."""
        stored = self._state.grants.pop(of, None)
        if stored is not None:
            self.record("grant.revoked", grant=stored.to_json())
        return stored is not None
