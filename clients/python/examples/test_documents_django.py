"""How the application behaves, on a real grantd that is started for the tests."""

from __future__ import annotations

import os

import django
import pytest
from django.conf import settings
from django.test import Client

from grantd import Grantd, GrantdError
from grantd.testing import start_grantd

service = start_grantd()
os.environ.update(GRANTD_URL=service.url, GRANTD_KEY=service.new_key())
settings.configure(
    ROOT_URLCONF="documents_django", ALLOWED_HOSTS=["testserver"], MIDDLEWARE=["documents_django.NoAnswer"]
)
django.setup()

from documents_django import client  # noqa: E402


def status_for(subject: str) -> int:
    return Client().get("/documents/plan", headers={"x-subject": subject}).status_code


def test_viewers_read_a_document() -> None:
    Grantd().create_grant("user:ada", "viewer", "document:plan")
    assert (status_for("user:ada"), status_for("user:bob")) == (200, 403)
    assert Client().get("/documents", headers={"x-subject": "user:ada"}).json() == ["plan"]


def test_nobody_reads_one_without_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> bool:
        raise GrantdError("connection-lost", "grantd is away")

    monkeypatch.setattr(client, "check", fail)
    assert status_for("user:ada") == 503
