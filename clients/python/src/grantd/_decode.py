"""The base of the generated decoders: an answer decodes only if every promised field is there, of the promised type.

A decoder takes a value of parsed JSON, and raises WrongShape if it is another one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, TypeAlias, TypeVar

T = TypeVar("T")

# Named apart from `object`, which is also a field of grants.
Json: TypeAlias = object

_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")

INTEGER_MAX = 2**53 - 1
_TIME = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)", re.ASCII)


class WrongShape(ValueError):
    """A value is not what the API promises."""


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is not a number")


def _object_once(members: list[tuple[str, object]]) -> dict[str, object]:
    """Other readers take the first one of two members with the same name."""
    found = dict(members)
    if len(found) < len(members):
        raise ValueError("an object has two members with the same name")
    return found


def decode_text(body: bytes) -> str:
    try:
        return body.decode("utf-8")
    except ValueError as error:
        raise WrongShape(f"it is not UTF-8: {error}") from error


def parse_json(body: bytes) -> object:
    """Raises WrongShape unless it is unambiguous JSON in UTF-8."""
    try:
        text = body.decode("utf-8")
        value = json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_object_once)
        if _SURROGATE.search(text) is not None:
            # A pair is a character, but a half is not.
            json.dumps(value, ensure_ascii=False).encode("utf-8")
        return value
    except (ValueError, RecursionError) as error:
        raise WrongShape(f"it is not JSON: {error}") from error


def object_of(value: Json) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise WrongShape("it is not an object")
    return value


def required(known: Mapping[str, Any], name: str, decode: Callable[[Json], T]) -> T:
    if name not in known:
        raise WrongShape(f'"{name}" is missing')
    try:
        return decode(known[name])
    except WrongShape as error:
        raise WrongShape(f'"{name}": {error}') from error


def nullable(known: Mapping[str, Any], name: str, decode: Callable[[Json], T]) -> T | None:
    return required(known, name, lambda value: None if value is None else decode(value))


def optional(known: Mapping[str, Any], name: str, decode: Callable[[Json], T]) -> T | None:
    return required(known, name, decode) if name in known else None


def list_of(decode: Callable[[Json], T]) -> Callable[[Json], list[T]]:
    def decode_list(value: Json) -> list[T]:
        if not isinstance(value, list):
            raise WrongShape("it is not an array")
        return [decode(item) for item in value]

    return decode_list


def text(value: Json) -> str:
    if not isinstance(value, str):
        raise WrongShape("it is not a string")
    return value


def cursor(value: Json) -> str:
    """An empty one would be the beginning."""
    if text(value) == "":
        raise WrongShape("it is empty")
    return text(value)


def text_or(decode: Callable[[Json], T]) -> Callable[[Json], str | T]:
    return lambda value: value if isinstance(value, str) else decode(value)


def boolean(value: Json) -> bool:
    if not isinstance(value, bool):
        raise WrongShape("it is not a boolean")
    return value


def integer(value: Json) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) > INTEGER_MAX:
        raise WrongShape("it is not an integer")
    return value


def mapping(value: Json) -> Mapping[str, Any]:
    return object_of(value)


def time(value: Json) -> datetime:
    match = _TIME.fullmatch(text(value))
    if match is None:
        raise WrongShape("it is not a time")
    seconds, fraction, zone = match.groups()
    micros = (fraction or "")[:6].ljust(6, "0")
    try:
        # In the one form that Python 3.10 reads.
        return datetime.fromisoformat(f"{seconds}.{micros}{'+00:00' if zone == 'Z' else zone}")
    except ValueError as error:
        raise WrongShape("it is not a time") from error
