"""Requests are sent exactly as given, or not at all: text that is not Unicode, and values that JSON does not have,
could only be sent as something else."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import TypeVar

from ._errors import invalid_request

T = TypeVar("T")

# A name of a member may be as long as a body.
_PLACE_MAX = 200


def is_text(given: str) -> bool:
    """Whether it has no half of a surrogate pair, as `surrogateescape` makes of bytes that are not UTF-8."""
    try:
        given.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def check_text(given: object, place: str) -> None:
    place = place[:_PLACE_MAX]
    if not isinstance(given, str):
        raise invalid_request(f'"{place}" is not a string, but of the type {type(given).__name__}')
    if not is_text(given):
        raise invalid_request(f'"{place}" is not valid Unicode: it has half of a surrogate pair')


def _check(value: object, place: str) -> None:
    if isinstance(value, str):
        check_text(value, place)
    elif isinstance(value, dict):
        for name, member in value.items():
            at = f"{place}.{name}" if place else str(name)
            check_text(name, at)
            _check(member, at)
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            _check(item, f"{place}[{index}]")
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise invalid_request(f'"{place[:_PLACE_MAX]}" is {value}, which JSON does not have')
    elif value is not None and not isinstance(value, int):
        raise invalid_request(f'"{place[:_PLACE_MAX]}" is of the type {type(value).__name__}, which JSON does not have')


def elements_of(given: Iterable[T], place: str) -> list[T]:
    """Of a list. Text and dictionaries can be iterated, too: their characters or names would be sent."""
    if isinstance(given, (str, bytes, Mapping)):
        raise invalid_request(f'"{place}" must be a list, but is of the type {type(given).__name__}')
    return list(given)


def joined(given: Iterable[str], place: str) -> str | None:
    """A parameter that is a list: one text, in which commas separate the items. None: an empty list."""
    items = elements_of(given, place)
    for each in items:
        check_text(each, place)
        if each == "" or "," in each:
            raise invalid_request(f'"{place}" has {each[:100]!r}, which is empty or has a comma')
    return ",".join(items) or None


def body_of(value: object) -> bytes:
    """The JSON of a request."""
    try:
        _check(value, "")
        return json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8")
    except RecursionError as error:
        raise invalid_request("the request is nested too deeply, or has itself as a part") from error
    except (ValueError, TypeError) as error:
        raise invalid_request(f"the request cannot be written as JSON: {error}") from error
