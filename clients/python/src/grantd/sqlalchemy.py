"""SQL of filters for SQLAlchemy."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlalchemy import String, TextClause, bindparam, text

_MARK = re.compile(r"%[%s]|:")


def clause(sql: str, params: Sequence[str]) -> TextClause:
    """SQL with placeholders `%s`, as a clause with bound parameters: for the `query` of a filter.

    Several clauses may be parts of one statement.
    """
    names = [f"grantd_{index}" for index in range(len(params))]
    left = iter(names)

    def replaced(mark: re.Match[str]) -> str:
        if mark[0] == "%s":
            return f":{next(left)}"
        return "%" if mark[0] == "%%" else r"\:"

    bound = [bindparam(name, value, String, unique=True) for name, value in zip(names, params, strict=True)]
    return text(_MARK.sub(replaced, sql)).bindparams(*bound)
