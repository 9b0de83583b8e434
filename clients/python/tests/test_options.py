"""The settings of a client, its log, and the classes of its errors, as far as the contract does not say."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from handlers import Asked, Given, client_of, json_of

import grantd
from grantd import AsyncGrantd, Grantd, GrantdError
from grantd.testing import GrantdService

RIGHT: dict[str, Any] = {"url": "https://grantd.test", "key": "gk1_test"}


@pytest.mark.parametrize(
    "wrong",
    [
        {"url": ""},
        {"url": "grantd.test"},
        {"url": "ftp://grantd.test"},
        {"url": "https://user:secret@grantd.test"},
        {"url": "https://grantd.test?a=b"},
        {"key": ""},
        {"key": "a b"},
        {"timeout": 0},
        {"max_retries": -1},
        {"retry_budget": -1},
        {"backoff_first": -1},
        {"backoff_first": 3},
        {"headers": {"Authorization": "Bearer other"}},
        {"headers": {"a b": "c"}},
        {"headers": {"a": "b\n"}},
        {"headers": {"a": ""}},
        {"user_agent": " a"},
        {"user_agent": "a" * 257},
        {"url": "https://grantd..test"},
        {"url": "https://grantd.test:99999"},
        {"proxy": "proxy.test:3128"},
        {"proxy": "https://proxy.test"},
        {"proxy": "http://proxy.test/path"},
    ],
)
def test_a_setting_that_cannot_work_is_refused(wrong: dict[str, Any]) -> None:
    for client in (Grantd, AsyncGrantd):
        with pytest.raises(ValueError) as refused:
            client(**{**RIGHT, **wrong})
        assert "secret" not in str(refused.value) and "other" not in str(refused.value)


def test_the_log_has_no_key_and_no_subject(caplog: pytest.LogCaptureFixture, service: GrantdService) -> None:
    key = service.new_key()
    with caplog.at_level(logging.DEBUG, logger="grantd"):
        client = service.client(key=key, headers={"X-Team": "team-of-ada"})
        list(client.list_objects("user:ada", "viewer"))
        with pytest.raises(GrantdError):
            client.check("user:ada", "no relation", "document:plan")
    own = [record.getMessage() for record in caplog.records if record.name == "grantd"]
    assert [text.split(",")[0] for text in own] == ["listObjects GET /v1/objects", "check POST /v1/check"]
    assert "400 invalid-relation after" in own[1]
    for text in own:
        assert key not in text and "ada" not in text


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (400, grantd.InvalidRequest),
        (401, grantd.Unauthorized),
        (403, grantd.Forbidden),
        (404, grantd.NotFound),
        (409, grantd.Conflict),
        (410, grantd.CursorTooOld),
        (412, grantd.Conflict),
        (418, grantd.InvalidRequest),
        (422, grantd.InvalidRequest),
        (429, grantd.RateLimited),
        (500, grantd.ServerError),
        (503, grantd.Unavailable),
    ],
)
def test_each_status_has_a_class(status: int, expected: type[GrantdError]) -> None:
    problem = {"type": "https://errors.example/some-type", "detail": "As it says.", "instance": "req_1"}
    client = client_of(lambda _: json_of(status, problem), max_retries=0)
    with pytest.raises(GrantdError) as failed:
        client.list_namespaces()
    assert type(failed.value) is expected
    text = "some-type: As it says. (GET https://grantd.test/v1/namespaces, req_1)"
    assert (failed.value.type, str(failed.value)) == ("some-type", text)


def test_a_problem_needs_only_its_type() -> None:
    problem = {"type": "https://errors.example/some-type", "title": "A title."}
    with pytest.raises(grantd.Forbidden) as failed:
        client_of(lambda _: json_of(403, problem, **{"x-service-request-id": "req_1"})).list_namespaces()
    error = failed.value
    assert (error.type, error.detail, error.request_id) == ("some-type", "A title.", "req_1")


def test_a_failure_of_the_client_has_a_class() -> None:
    def failing(error: Exception) -> Grantd:
        def fail(_: Asked) -> Given:
            raise error

        return client_of(fail, max_retries=0)

    refused = ConnectionRefusedError(111, "Connection refused")
    with pytest.raises(grantd.ConnectionLost, match=r"\(ECONNREFUSED\) \(GET https://grantd.test/v1/rules\)"):
        failing(refused).read_rules()
    with pytest.raises(grantd.InvalidResponse):
        client_of(lambda _: json_of(200, {})).list_namespaces()


def test_every_class_is_exported() -> None:
    kinds = {GrantdError}
    for each in list(kinds):
        kinds.update(each.__subclasses__())
    for kind in list(kinds):
        kinds.update(kind.__subclasses__())
    assert {kind.__name__ for kind in kinds} <= set(grantd.__all__)


QUESTION = {"subject": "user:ada", "relation": "viewer", "object": "document:plan"}


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("questions", lambda client: client.check_bulk({"checks": [QUESTION]})),
        ("questions", lambda client: client.check_each(QUESTION)),
        ("context_grants", lambda client: client.check(*QUESTION.values(), context_grants=QUESTION)),
        ("grants", lambda client: client.write_bulk(grants=QUESTION)),
        ("revocations", lambda client: client.write_bulk(revocations=QUESTION)),
        ("conditions", lambda client: client.write_bulk(conditions="none")),
        ("scopes", lambda client: client.create_key("check:read")),
        ("actions", lambda client: client.changes_page(actions="grant.created")),
    ],
)
def test_what_only_looks_like_a_list_is_refused_by_its_name(name: str, call: Any) -> None:
    with pytest.raises(GrantdError, match=f'"{name}" must be a list, but is of the type (?:str|dict)'):
        call(Grantd(**RIGHT))
