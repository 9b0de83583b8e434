"""The members of the dictionaries that a caller gives, where nothing else refuses unknown ones: the service ignores
members that AuthZEN does not define, A misspelt one would change the answer."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

# The members of a dictionary, or of each one of a list. None: the value is not looked into.
Known: TypeAlias = "Mapping[str, Known | None]"

TUPLE: Known = {"subject": None, "relation": None, "object": None}
_CONDITION: Known = {"name": None, "context": None}
GRANT: Known = {**TUPLE, "expires_at": None, "condition": _CONDITION}
CONTEXT: Known = {"context": None, "context_grants": {**TUPLE, "condition": _CONDITION}}

_ENTITY: Known = {"type": None, "id": None, "properties": None}
EVALUATION: Known = {
    "subject": _ENTITY,
    "action": {"name": None, "properties": None},
    "resource": _ENTITY,
    "context": None,
}
EVALUATIONS: Known = {**EVALUATION, "evaluations": EVALUATION, "options": {"evaluations_semantic": None}}
SEARCH: Known = {**EVALUATION, "page": {"token": None, "limit": None, "properties": None}}


def _plain(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")


def _hint(name: str, known: Known) -> str:
    of_plain = {_plain(each): each for each in known}
    nearest = difflib.get_close_matches(_plain(name[:100]), of_plain, n=1)
    if nearest:
        return f'the nearest known name is "{of_plain[nearest[0]]}"'
    return "known here: " + ", ".join(f'"{each}"' for each in known)


def refuse_unknown(value: Any, known: Known, error: Callable[[str], Exception], place: str = "") -> None:
    """Raises an error for a member that is not known, with its place and the nearest name."""
    if isinstance(value, (list, tuple)):
        for index, each in enumerate(value):
            refuse_unknown(each, known, error, f"{place}[{index}]")
    if not isinstance(value, Mapping):
        return
    for name, member in value.items():
        at = f"{place}.{name}" if place else str(name)
        if name not in known:
            raise error(f'"{at[:200]}" is unknown; {_hint(str(name), known)}.')
        below = known[name]
        if below is not None:
            refuse_unknown(member, below, error, at)
