"""Asks tables of a real Postgres with filters of this client: for each question of its standard input, a line of JSON,
it writes a line with the ids of the rows that pass. test/clients/support/filter-run.ts asks and judges."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import psycopg
from sqlalchemy import String, create_engine, literal_column, select, text

import grantd
from grantd.sqlalchemy import clause

ADDRESS = os.environ["FILTER_DATABASE"]
OPTIONS = {
    "id": "id_",
    "idType": "id_type",
    "contextGrants": "context_grants",
    "objectsMax": "objects_max",
}


def main() -> None:
    client = grantd.Grantd()
    connection = psycopg.connect(ADDRESS, autocommit=True)
    engine = create_engine(ADDRESS.replace("postgres://", "postgresql+psycopg://"), isolation_level="AUTOCOMMIT")
    alchemy = engine.connect()

    def query(sql: str, params: list[str]) -> list[Any]:
        rows = connection.execute(sql, params).fetchall()
        assert sorted(alchemy.execute(clause(sql, params)).tuples()) == sorted(rows)
        return rows

    def ids(table: str, found: grantd.Filter) -> list[str]:
        sql = f"SELECT d.id::text FROM {table} d WHERE d.archived = %s AND {found.sql}"
        passing = sorted(row[0] for row in connection.execute(sql, [False, *found.params]))
        everything = select(literal_column("d.id::text", String)).select_from(text(f"{table} d"))
        statement = everything.where(text("d.archived = :archived").bindparams(archived=False), found.clause())
        assert sorted(alchemy.execute(statement).scalars()) == passing
        return passing

    def answer(question: dict[str, Any]) -> object:
        options = {OPTIONS.get(name, name): value for name, value in question["options"].items()}
        wait = options.pop("waitMs") / 1000
        try:
            found = client.filter(question["subject"], question["name"], query=query, wait=wait, **options)
            return {"ids": ids(question["table"], found), "form": found.form}
        except grantd.MirrorError as error:
            return {"mirror": error.reason}
        except grantd.GrantdError as error:
            return {"error": error.type}
        except psycopg.Error as error:
            return {"sqlstate": error.sqlstate}

    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)


main()
