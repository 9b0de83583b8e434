"""Filters: the condition by which an application's own query on Postgres passes exactly the objects on which a subject
holds a name, with a mirror of grants that `grantd sync` keeps beside its tables. What passes is exact at one moment;
where that cannot be had, there is an error, and never a condition that passes more."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from ._encode import elements_of
from ._errors import MIRROR_REASONS, MirrorError, invalid_request
from ._types import LogMoment, SubjectSets

if TYPE_CHECKING:
    from sqlalchemy import TextClause

Query: TypeAlias = Callable[[str, list[str]], Iterable[Any]]
"""Runs a query of the application's database, with placeholders `%s`, and returns its rows."""
AsyncQuery: TypeAlias = Callable[[str, list[str]], Awaitable[Iterable[Any]]]
"""Runs a query of the application's database, with placeholders `%s`, and returns its rows."""

OBJECTS_MAX = 10_000
WAIT_S = 0.2
ATTEMPTS_MAX = 3
PAUSE_S = 0.05

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}")
# Postgres cuts longer identifiers, and `:objects` comes behind.
_FUNCTION_LENGTH_MAX = 55
# What the functions of a mirror take of the sets.
_SETS_TYPES = ("text[]", "text[]", "text[]", "text", "text", "bigint", "bigint", "bigint", "text")
_LIMIT_TYPES = ("integer", "integer")
# Newer sets may help.
_ASKED_AGAIN = ("stale", "other-rules")
# After an error, a transaction has no more answers.
_TRANSACTION_ABORTED = "25P02"
_CAUSES_MAX = 5


@dataclass(frozen=True, slots=True)
class Filter:
    """A condition of SQL."""

    sql: str
    """For a WHERE, with a placeholder `%s` for each of the parameters."""
    params: list[str]
    form: Literal["objects", "rows"]
    """objects: the ids are a parameter. rows: the mirror is asked for each row."""
    at: LogMoment
    """The moment of which the answer is."""
    revision: str
    """That of the rules."""
    _untyped: str = field(repr=False, compare=False)

    def clause(self) -> TextClause:
        """The same for SQLAlchemy, with bound parameters."""
        from .sqlalchemy import clause

        return clause(self._untyped, self.params)


def with_placeholders(texts: Sequence[str]) -> str:
    return "%s".join(text.replace("%", "%%") for text in texts)


def calling(name: str, types: Sequence[str], before: str = "", after: str = "") -> str:
    """A call. Each parameter is a text that is cast, since some drivers declare and send it as one; in a query of its
    own, so that it is read once and not for each row."""
    texts, between = [f"{name}({before}(SELECT CAST(CAST("], ", (SELECT CAST(CAST("
    for index, each in enumerate(types):
        texts.append(f" AS text) AS {each}))" + (between if index < len(types) - 1 else f"){after}"))
    return with_placeholders(texts)


def quoted_name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def array_text(items: Sequence[str]) -> str:
    """The text of an array, as every driver can send it."""
    return "{" + ",".join('"' + re.sub(r'(["\\])', r"\\\1", each) + '"' for each in items) + "}"


def sets_params(sets: SubjectSets) -> list[str]:
    own_object, _, own_name = sets.own.rpartition("#")
    time_ms = round(sets.at.time.timestamp() * 1000)
    return [
        *(array_text(each) for each in (sets.subjects, sets.held, sets.perhaps)),
        *(own_object, own_name),
        *(str(each) for each in (sets.at.seq, time_ms, sets.through)),
        f"{sets.tenant_id}:{sets.revision}",
    ]


def state_in(error: BaseException | None) -> str | None:
    """The SQLSTATE of an error of the database, which libraries wrap in their own."""
    for _ in range(_CAUSES_MAX):
        if error is None:
            return None
        for name in ("sqlstate", "pgcode"):
            state = getattr(error, name, None)
            if isinstance(state, str):
                return state
        error = getattr(error, "orig", None) or error.__cause__
    return None


class FilterCall:
    """What is asked for one filter, and how often."""

    def __init__(
        self,
        name: str,
        *,
        id_: str,
        id_type: str,
        deep: Sequence[str],
        candidates: bool,
        schema: str,
        objects_max: int,
        wait: float,
    ) -> None:
        for place, text in {"name": name, "id_": id_, "id_type": id_type, "schema": schema}.items():
            if not isinstance(text, str) or "\0" in text:
                raise invalid_request(f'"{place}" is not a text of SQL')
        namespace, _, relation = name.rpartition(".")
        parts = [namespace, relation, *elements_of(deep, "deep")]
        if not all(isinstance(each, str) and _NAME.fullmatch(each) for each in parts):
            raise invalid_request('"name" must be like "document.can_read", and "deep" a list of namespaces')
        function = "+".join([name, *parts[2:]])
        if len(function) > _FUNCTION_LENGTH_MAX:
            raise invalid_request(f'"name" is too long for a function of a mirror: {function}')
        self.namespace, self.relation = namespace, relation
        self._of_object, self._of_objects = (
            f"{quoted_name(schema)}.{quoted_name(each)}" for each in (function, f"{function}:objects")
        )
        self._id, self._id_type, self._candidates = id_, id_type, candidates
        self._limits = [str(objects_max), str(round(wait * 1000))]
        self._attempts = 0
        self._last: MirrorError | None = None

    def question(self, sets: SubjectSets) -> tuple[str, list[str]]:
        """Asks for the objects, once the mirror has what it needs."""
        self._attempts += 1
        sql = calling(f"SELECT object, sure FROM {self._of_objects}", (*_SETS_TYPES, *_LIMIT_TYPES))
        return sql, [*sets_params(sets), *self._limits]

    def asks_again(self, error: Exception) -> bool:
        """Whether newer sets may help. Raises the error of a mirror if not. False: it is another one."""
        state = state_in(error)
        if self._last is not None and state == _TRANSACTION_ABORTED:
            # The first error of a transaction says why it has no more answers.
            raise self._last from error
        reason = MIRROR_REASONS.get(state or "")
        if reason is None:
            return False
        self._last = MirrorError(reason)
        if reason not in _ASKED_AGAIN or self._attempts == ATTEMPTS_MAX:
            raise self._last from error
        return True

    def filter(self, sets: SubjectSets, rows: object) -> Filter:
        ids = self._ids(rows)
        if ids is None:
            after = " IS NOT FALSE" if self._candidates else " IS TRUE"
            sql = calling(self._of_object, _SETS_TYPES, f"'{self.namespace}:' || ({self._id}), ", after)
            return Filter(sql, sets_params(sets), "rows", sets.at, sets.revision, sql)
        # The type is that of the parameter: the database knows the ids before it makes its plan. Where the parameter is
        # declared as a text, that would be read for each row.
        typed = with_placeholders([f"({self._id}) = ANY(CAST(", f" AS {self._id_type}[]))"])
        untyped = [f"({self._id}) IN (SELECT unnest(CAST(CAST(", f" AS text) AS {self._id_type}[])))"]
        return Filter(typed, [array_text(ids)], "objects", sets.at, sets.revision, with_placeholders(untyped))

    def _ids(self, rows: object) -> list[str] | None:
        """The ids behind `document:`. None: there are too many."""
        if not isinstance(rows, Iterable):
            raise invalid_request('"query" must return the rows')
        ids: list[str] = []
        for row in rows:
            object_, sure = self._columns(row)
            if object_ is None:
                return None
            prefix = f"{self.namespace}:"
            if (
                not isinstance(object_, str)
                or not object_.startswith(prefix)
                or not isinstance(sure, (bool, type(None)))
            ):
                raise invalid_request(f'"query" must return rows with an object of the namespace "{self.namespace}"')
            if self._candidates if sure is None else sure:
                ids.append(object_[len(prefix) :])
        return ids

    def _columns(self, row: Any) -> tuple[object, object]:
        try:
            return (row["object"], row["sure"]) if isinstance(row, Mapping) else (row[0], row[1])
        except (LookupError, TypeError) as error:
            raise invalid_request('"query" must return rows with two columns') from error
