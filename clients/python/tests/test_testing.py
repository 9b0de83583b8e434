"""The service for tests: started, one that runs already, or one that does not start."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from grantd import ConnectionLost
from grantd.testing import GrantdService, start_grantd

QUESTION = ("user:ada", "viewer", "document:plan")


def test_each_client_has_a_tenant_of_its_own(service: GrantdService) -> None:
    client, key = service.client(), service.new_key()
    client.create_grant(*QUESTION)
    assert client.check(*QUESTION) is True
    assert service.client(key=key).check(*QUESTION) is False


def test_one_that_runs_already_is_not_stopped(service: GrantdService, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRANTD_TESTING_URL", service.url)
    with start_grantd() as other:
        assert other.url == service.url
    assert service.client().check(*QUESTION) is False


def test_it_ends_with_its_input() -> None:
    program = 'import sys; print(\'{"url": "http://127.0.0.1:1"}\', flush=True); sys.stdin.read()'
    service = start_grantd(command=[sys.executable, "-c", program])
    assert service.url == "http://127.0.0.1:1"
    with pytest.raises(ConnectionLost):
        service.client(max_retries=0).check(*QUESTION)
    service.stop()
    service.stop()


def test_one_that_does_not_start_says_why() -> None:
    with pytest.raises(RuntimeError, match=r"did not start: .* ended with 5"):
        start_grantd(command=[sys.executable, "-c", "raise SystemExit(5)"])


def test_by_default_it_is_the_program_of_the_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("GRANTD_TESTING_URL", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RuntimeError, match="GRANTD_TESTING_URL"):
        start_grantd()
    program = tmp_path / "grantd-testing"
    program.write_text('#!/bin/sh\necho \'{"url": "http://127.0.0.1:1"}\'\nread -r _\n')
    program.chmod(0o755)
    with start_grantd() as service:
        assert service.url == "http://127.0.0.1:1"
