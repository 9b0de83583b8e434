"""Results of methods that consist of more than one object of the API."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Generic, TypeVar

from ._types import Change, RuleSet

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """One page of a listing."""

    items: list[T]
    cursor: str | None
    """Where the next page begins; None at the end."""
    feed_cursor: str | None = None
    """For grants: where the change feed stood before the page was read."""
    seq: int | None = None
    """Of the change feed, and of a snapshot of grants: the entry of the log up to which it has everything."""
    excluded: list[str] = field(default_factory=list)
    """For subjects: those that do not hold the relation although `ns:*` of their namespace is listed."""


@dataclass(frozen=True, slots=True)
class CreatedNamespace:
    name: str
    created_at: datetime
    created: bool
    """False: it existed already."""


@dataclass(frozen=True, slots=True)
class Rules:
    rule_set: RuleSet
    revision: str
    """For the next change."""


@dataclass(frozen=True, slots=True)
class RulesText:
    text: str
    """In the text form: as it was set, or printed from JSON."""
    revision: str


@dataclass(frozen=True, slots=True)
class ChangeEvent:
    """One change and the cursor behind it; without a change, a checkpoint."""

    cursor: str
    change: Change | None
    seq: int | None = None
    """For a checkpoint: every change of the entries up to this one that passes the filter has been delivered."""


class Unset:
    """The type of UNSET."""

    def __repr__(self) -> str:
        return "UNSET"


UNSET = Unset()
"""Not given, where None means something else."""
