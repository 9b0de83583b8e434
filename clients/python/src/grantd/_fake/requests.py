"""Parses requests, and refuses malformed ones with the error type of the service."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeAlias, TypeVar

from .._decode import WrongShape, time
from .._members import Known, refuse_unknown
from .rules import RELATIONS, FakeRules, Tuple

T = TypeVar("T")
Json: TypeAlias = "dict[str, Any]"

STATUSES = {
    "invalid-request": 400,
    "invalid-subject": 400,
    "invalid-relation": 400,
    "invalid-object": 400,
    "invalid-cursor": 400,
    "invalid-condition": 400,
    "bulk-too-large": 400,
    "unauthorized": 401,
    "insufficient-scope": 403,
    "grant-not-found": 404,
    "key-not-found": 404,
    "rules-version-not-found": 404,
    "not-found": 404,
    "already-created": 409,
    "precondition-failed": 412,
    "idempotency-key-reused": 422,
    "unavailable": 503,
}

LIMIT_DEFAULT = 100
LIMIT_MAX = 1000
BULK_MAX = 100

_NAMESPACE = "[A-Za-z][A-Za-z0-9_.-]{0,63}"
NAMESPACE = re.compile(_NAMESPACE)
ELEMENT = re.compile(f"{_NAMESPACE}( from {_NAMESPACE})?")
# The external id has neither control characters nor white space nor lone surrogates.
IDENTIFIER = re.compile(
    _NAMESPACE + ":[^\u0000-\u0020\u007f-\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ud800-\udfff]{1,256}"
)


class Problem(Exception):
    """Turned into a problem document."""

    def __init__(self, type_: str, detail: str, **members: str) -> None:
        super().__init__(detail)
        self.type = type_
        self.detail = detail
        self.members = members


def invalid(detail: str) -> Problem:
    return Problem("invalid-request", detail)


def known_in(given: Mapping[str, Any], known: Known) -> None:
    refuse_unknown(given, known, invalid)


def refuse_condition(given: Mapping[str, Any], place: str = "") -> None:
    """The fake has no conditions, and the service refuses one that no rule declares."""
    if given.get("condition") is not None:
        raise Problem("invalid-condition", f'"{place}condition" names none that the rules declare')


def identifier_in(given: Mapping[str, Any], name: str, place: str = "") -> str:
    text = given.get(name)
    if not isinstance(text, str) or IDENTIFIER.fullmatch(text) is None:
        raise Problem(f"invalid-{name}", f'"{place}{name}" must be namespace:external_id')
    return text


def relation_in(given: Mapping[str, Any], place: str = "") -> str:
    text = given.get("relation")
    if text not in RELATIONS:
        raise Problem("invalid-relation", f'"{place}relation" must be one of {", ".join(RELATIONS)}')
    return str(text)


def name_in(given: Mapping[str, Any], rules: FakeRules, place: str = "") -> str:
    """Also what a rule defines."""
    text = given.get("relation")
    return text if isinstance(text, str) and rules.defines(text) else relation_in(given, place)


def tuple_in(given: Mapping[str, Any], place: str = "") -> Tuple:
    return identifier_in(given, "subject", place), relation_in(given, place), identifier_in(given, "object", place)


def question_in(given: Mapping[str, Any], rules: FakeRules, place: str = "") -> Tuple:
    name = name_in(given, rules, place)
    return identifier_in(given, "subject", place), name, identifier_in(given, "object", place)


def objects_in(given: Mapping[str, Any], name: str) -> list[Json]:
    items = given.get(name, [])
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise invalid(f'"{name}" must be an array of objects')
    return items


def texts_in(given: Mapping[str, Any], name: str, allowed: Callable[[str], object]) -> list[str]:
    items = given.get(name)
    if not isinstance(items, list) or not all(isinstance(item, str) and allowed(item) for item in items):
        raise invalid(f'"{name}" is not what it may be')
    return items


def expiry_in(given: Mapping[str, Any], now: datetime, place: str = "") -> datetime | None:
    at = given.get("expires_at")
    if at is None:
        return None
    try:
        expires = time(at)
    except WrongShape:
        expires = now
    if expires <= now:
        raise invalid(f'"{place}expires_at" must be a time in the future')
    return expires


def query_in(query: Mapping[str, str], *names: str) -> Mapping[str, str]:
    for name in query:
        if name not in names:
            raise invalid(f'The query parameter "{name}" is unknown.')
    return query


def whole(query: Mapping[str, str], name: str, default: int, least: int, most: int) -> int:
    text = query.get(name, str(default))
    if re.fullmatch(r"\d{1,9}", text, re.ASCII) is None or not least <= int(text) <= most:
        raise invalid(f'"{name}" must be from {least} to {most}')
    return int(text)


def write_cursor(query: str, after: str) -> str:
    digest = hashlib.sha256(query.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return base64.urlsafe_b64encode(json.dumps([digest, after]).encode()).decode()


def read_cursor(query: str, text: str) -> str:
    try:
        after = json.loads(base64.urlsafe_b64decode(text))[1]
    except (ValueError, TypeError, LookupError):
        after = None
    if not isinstance(after, str) or write_cursor(query, after) != text:
        raise Problem("invalid-cursor", "The cursor was not issued for this query.")
    return after


def cut(
    query: str, items: Sequence[T], sort_key: Callable[[T], str], limit: int, cursor: str | None
) -> tuple[list[T], str | None]:
    """A page of items that are ascending by their sort keys, and where the next one begins."""
    if cursor:
        after = read_cursor(query, cursor).encode()
        items = [item for item in items if sort_key(item).encode() > after]
    if len(items) <= limit:
        return list(items), None
    return list(items[:limit]), write_cursor(query, sort_key(items[limit - 1]))
