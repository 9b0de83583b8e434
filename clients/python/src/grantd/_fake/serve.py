"""Serves a request: authentication, route, scope, body, and a JSON answer or a problem document."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from . import authzen, operations
from .feed import FakeFeed
from .operations import Caller, parse_body
from .requests import STATUSES, Json, Problem, invalid
from .state import State, StoredKey, new_id

_Serve = Callable[[Caller], "Json | FakeFeed | None"]

# What follows in the path is an id.
PREFIXES = ("/v1/keys/", "/v1/rules/versions/")
ROUTES: dict[tuple[str, str], tuple[str, _Serve]] = {
    ("POST", "/v1/check"): ("check:read", operations.check),
    ("POST", "/v1/check/bulk"): ("check:read", operations.check_bulk),
    ("GET", "/v1/grants"): ("check:read", operations.list_grants),
    ("POST", "/v1/grants"): ("grant:write", operations.create_grant),
    ("DELETE", "/v1/grants"): ("grant:write", operations.revoke_grant),
    ("POST", "/v1/grants/bulk"): ("grant:write", operations.write_bulk),
    ("POST", "/v1/grants/revoke"): ("grant:write", operations.revoke_grants),
    ("GET", "/v1/objects"): ("check:read", operations.list_objects),
    ("POST", "/v1/objects"): ("check:read", operations.list_objects_in_context),
    ("GET", "/v1/subjects"): ("check:read", operations.list_subjects),
    ("POST", "/v1/subjects"): ("check:read", operations.list_subjects_in_context),
    ("GET", "/v1/namespaces"): ("check:read", operations.list_namespaces),
    ("POST", "/v1/namespaces"): ("grant:write", operations.create_namespace),
    ("GET", "/v1/keys"): ("admin", operations.list_keys),
    ("POST", "/v1/keys"): ("admin", operations.create_key),
    ("DELETE", "/v1/keys/"): ("admin", operations.revoke_key),
    ("GET", "/v1/rules"): ("admin", operations.read_rules),
    ("PUT", "/v1/rules"): ("admin", operations.write_rules),
    ("GET", "/v1/rules/versions"): ("admin", operations.list_rules_versions),
    ("GET", "/v1/rules/versions/"): ("admin", operations.read_rules_version),
    ("GET", "/v1/changes"): ("check:read", FakeFeed),
    ("POST", "/access/v1/evaluation"): ("check:read", authzen.evaluate),
    ("POST", "/access/v1/evaluations"): ("check:read", authzen.evaluate_many),
    ("POST", "/access/v1/search/subject"): ("check:read", authzen.search_subjects),
    ("POST", "/access/v1/search/resource"): ("check:read", authzen.search_resources),
    ("POST", "/access/v1/search/action"): ("check:read", authzen.search_actions),
}


@dataclass
class FakeResponse:
    status: int
    headers: dict[str, str]
    body: bytes = b""
    # The change feed, whose pages may wait and whose streams do not end.
    feed: FakeFeed | None = field(default=None)


def _authenticated(state: State, headers: Mapping[str, str]) -> StoredKey:
    token = headers.get("authorization", "").removeprefix("Bearer ")
    for key in state.keys.values():
        if key.text == token and (key.expires_at is None or key.expires_at > state.now()):
            return key
    raise Problem("unauthorized", "The bearer token is no key of this tenant.")


def serve(
    state: State, method: str, path: str, query: list[tuple[str, str]], headers: Mapping[str, str], raw: bytes
) -> FakeResponse:
    """Names of headers are in lower case."""
    request_id = new_id("req")
    head = {"X-Service-Request-Id": request_id, "Content-Type": "application/json"}
    try:
        with state.lock:
            if state.unavailable:
                raise Problem("unavailable", "The service cannot answer right now.")
            state.expire()
            key = _authenticated(state, headers)
            prefix = next((each for each in PREFIXES if path.startswith(each)), path)
            route = ROUTES.get((method, prefix))
            if route is None:
                raise Problem("not-found", f"There is nothing at {method} {path}.")
            scope, operation = route
            if scope not in key.scopes:
                raise Problem("insufficient-scope", f"The key does not have the scope {scope}.")
            if len(dict(query)) < len(query):
                raise invalid("A query parameter is repeated.")
            c = Caller(state, key, request_id, path, dict(query), headers, raw, parse_body(raw))
            answer = operation(c)
    except Problem as problem:
        status = STATUSES[problem.type]
        head["Content-Type"] = "application/problem+json"
        if status == 503:
            head["Retry-After"] = "1"
        document = {
            "type": f"http://grantd.test/errors/{problem.type}",
            "title": problem.type,
            "status": status,
            "detail": problem.detail,
            "instance": request_id,
            **problem.members,
        }
        return FakeResponse(status, head, json.dumps(document).encode())
    head.update(c.answer)
    if isinstance(answer, FakeFeed):
        return FakeResponse(200, head, feed=answer)
    if answer is None:
        del head["Content-Type"]
        return FakeResponse(c.status, head)
    return FakeResponse(c.status, head, json.dumps(answer).encode())
