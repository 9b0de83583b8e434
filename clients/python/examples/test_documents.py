"""How the application behaves, on a real grantd that is started for the tests."""

from __future__ import annotations

import os

import pytest
from fastapi.testclient import TestClient

from grantd import Grantd, GrantdError
from grantd.testing import start_grantd

service = start_grantd()
os.environ.update(GRANTD_URL=service.url, GRANTD_KEY=service.new_key())

from documents import app, client  # noqa: E402


def status_for(subject: str) -> int:
    status: int = TestClient(app).get("/documents/plan", headers={"x-subject": subject}).status_code
    return status


def test_viewers_read_a_document() -> None:
    Grantd().create_grant("user:ada", "viewer", "document:plan")
    assert (status_for("user:ada"), status_for("user:bob")) == (200, 403)
    assert TestClient(app).get("/documents", headers={"x-subject": "user:ada"}).json() == ["plan"]


def test_nobody_reads_one_without_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(*_: object) -> bool:
        raise GrantdError("connection-lost", "grantd is away")

    monkeypatch.setattr(client, "check", fail)
    assert status_for("user:ada") == 503
