"""Filters without a database: what they ask, what they are, and when there is none. On a real Postgres:
test/clients/support/filter-run.ts."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Sequence
from typing import Any

import pytest
from handlers import Asked, Given, async_client_of, client_of, json_of

from grantd import Filter, InvalidRequest, MirrorError
from grantd.sqlalchemy import clause

SETS = {
    "subjects": ["user:ada", 'user:"\\{,}'],
    "held": ["folder:1#can_read"],
    "perhaps": [],
    "own": "user:ada#self",
    "tenant_id": "ten_a",
    "revision": "r1",
    "at": {"seq": 7, "time": "2026-01-15T09:30:00.001Z"},
    "through": 5,
}
TYPES = ("text[]", "text[]", "text[]", "text", "text", "bigint", "bigint", "bigint", "text")
Rows = Sequence[Any]


class DatabaseError(Exception):
    def __init__(self, sqlstate: str) -> None:
        self.sqlstate = sqlstate


def sets(asked: Asked) -> Given:
    return json_of(200, SETS)


def filtered(rows: Rows, **options: Any) -> Filter:
    return client_of(sets).filter("user:ada", "document.can_read", query=lambda *_: rows, **options)


def test_a_filter_is_a_list_of_ids() -> None:
    found = filtered([("document:1", True), {"object": 'document:"%', "sure": True}, ("document:3", None)], id_="d.id")
    assert (found.sql, found.params) == ("(d.id) = ANY(CAST(%s AS text[]))", ['{"1","\\"%"}'])
    assert (found.form, found.at.seq, found.revision) == ("objects", 7, "r1")
    assert filtered([("document:3", None)], candidates=True).params == ['{"3"}']
    assert filtered([]).params == ["{}"]


def test_with_many_objects_it_asks_the_mirror_for_each_row() -> None:
    found = filtered([(None, None)], schema='a"%', id_="a % b")
    args = ", ".join(f"(SELECT CAST(CAST(%s AS text) AS {each}))" for each in TYPES)
    assert found.sql == f""""a""%%"."document.can_read"('document:' || (a %% b), {args}) IS TRUE"""
    assert found.params[:5] == ['{"user:ada","user:\\"\\\\{,}"}', '{"folder:1#can_read"}', "{}", "user:ada", "self"]
    assert found.params[5:] == ["7", "1768469400001", "5", "ten_a:r1"]
    assert filtered([(None, None)], candidates=True).sql.endswith(" IS NOT FALSE")


def test_it_is_a_clause_whatever_type_the_parameters_have() -> None:
    found = filtered([("document:1", True)], id_="d.id::bigint", id_type="bigint")
    both = found.clause() & clause(":a = %s AND '%%' = ':b'", ["x"])
    assert both.compile().params == {"grantd_0_1": '{"1"}', "grantd_0_2": "x"}
    ids = "(d.id::bigint) IN (SELECT unnest(CAST(CAST(:grantd_0_1 AS text) AS bigint[])))"
    assert str(both) == f"{ids} AND :a = :grantd_0_2 AND '%' = ':b'"


def test_it_asks_for_the_sets_of_its_join_with_and_without_an_event_loop() -> None:
    bodies: list[Any] = []
    asked: list[tuple[str, list[str]]] = []

    def handler(request: Asked) -> Given:
        bodies.append(json.loads(request.content))
        return sets(request)

    def query(sql: str, params: list[str]) -> Rows:
        asked.append((sql, params))
        return []

    async def async_query(sql: str, params: list[str]) -> Iterable[Any]:
        return query(sql, params)

    grants = [{"subject": "user:ada", "relation": "member", "object": "team:1"}]
    name, options = "a.b.can_read", {"deep": ["folder"], "context": {"hour": 9}, "objects_max": 5, "wait": 0.25}
    more: dict[str, Any] = {**options, "context_grants": grants, "candidates": True}
    client_of(handler).filter("user:ada", name, query=query, **more)
    asyncio.run(async_client_of(handler).filter("user:ada", name, query=async_query, **more))
    join = {"namespace": "a.b", "name": "can_read", "deep": ["folder"]}
    body = {"subject": "user:ada", "join": join, "perhaps": True, "context": {"hour": 9}, "context_grants": grants}
    assert bodies == [body, body]
    assert asked[0] == asked[1]
    assert asked[0][0].startswith('SELECT object, sure FROM "grantd"."a.b.can_read+folder:objects"((SELECT CAST(CAST(')
    assert asked[0][0].count("%s") == len(asked[0][1]) == 11
    assert asked[0][1][-2:] == ["5", "250"]


@pytest.mark.parametrize(
    ("codes", "reason", "times"),
    [
        (["GR001"], "behind", 1),
        (["GR004"], "not-ready", 1),
        (["GR002", "GR003", "GR002"], "stale", 3),
        # A transaction has no more answers.
        (["GR003", "25P02"], "other-rules", 2),
    ],
)
def test_there_is_none_if_the_mirror_has_no_answer(codes: list[str], reason: str, times: int) -> None:
    left = list(codes)

    def query(sql: str, params: list[str]) -> Rows:
        wrapped = RuntimeError("of a library")
        wrapped.__cause__ = DatabaseError(left.pop(0))
        raise wrapped

    with pytest.raises(MirrorError) as raised:
        client_of(sets).filter("user:ada", "document.can_read", query=query)
    error = raised.value
    assert (error.reason, error.type, error.retryable) == (reason, f"mirror-{reason}", True)
    assert len(codes) - len(left) == times


def test_another_error_of_the_database_passes_through() -> None:
    def query(sql: str, params: list[str]) -> Rows:
        raise DatabaseError("42P01")

    with pytest.raises(DatabaseError):
        client_of(sets).filter("user:ada", "document.can_read", query=query)


@pytest.mark.parametrize(
    "rows", [None, 1, "ab", [None], [("document:1",)], [("folder:1", True)], [("document:1", "t")]]
)
def test_what_is_no_row_is_refused(rows: Any) -> None:
    with pytest.raises(InvalidRequest):
        filtered(rows)


@pytest.mark.parametrize(
    "options",
    [{"id_": "a\0"}, {"schema": None}, {"deep": ["a'"]}, {"deep": "folder"}, {"deep": [1]}, {"deep": ["a" * 60]}],
)
def test_what_is_no_sql_and_no_name_is_refused(options: Any) -> None:
    with pytest.raises(InvalidRequest):
        filtered([], **options)
