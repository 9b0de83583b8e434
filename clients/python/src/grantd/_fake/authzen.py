"""The AuthZEN evaluations and searches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import rules as held
from .operations import Caller
from .requests import BULK_MAX, IDENTIFIER, LIMIT_MAX, NAMESPACE, Json, Problem, cut
from .rules import RELATIONS

# The type of the error of each part of a request.
_WRONG = {"subject": "invalid-subject", "action": "invalid-relation", "resource": "invalid-object"}


def _part(given: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = given.get(name)
    return part if isinstance(part, dict) else {}


def _entity(given: Mapping[str, Any], name: str) -> str:
    kind, id_ = _part(given, name).get("type"), _part(given, name).get("id")
    if not isinstance(kind, str) or NAMESPACE.fullmatch(kind) is None or not isinstance(id_, str) or id_ == "":
        raise Problem(_WRONG[name], f'"{name}" must have a type and an id')
    return f"{kind}:{id_}"


def _action(given: Mapping[str, Any]) -> str:
    name = _part(given, "action").get("name")
    if not isinstance(name, str):
        raise Problem(_WRONG["action"], '"action" must have a name')
    return name


def _decide(c: Caller, given: Mapping[str, Any]) -> bool:
    subject, name, resource = _entity(given, "subject"), _action(given), _entity(given, "resource")
    are_identifiers = all(IDENTIFIER.fullmatch(each) is not None for each in (subject, resource))
    return c.state.rules.knows(name) and are_identifiers and c.holds((subject, name, resource)) is not None


def evaluate(c: Caller) -> Json:
    return {"decision": _decide(c, c.body)}


def evaluate_many(c: Caller) -> Json:
    given = c.body.get("evaluations") or []
    if not given:
        return evaluate(c)
    if len(given) > BULK_MAX:
        raise Problem("bulk-too-large", f"There are {len(given)} evaluations; at most {BULK_MAX} are allowed.")
    ends = {"deny_on_first_deny": False, "permit_on_first_permit": True}
    last = ends.get(_part(c.body, "options").get("evaluations_semantic", ""))
    decisions: list[Json] = []
    for each in given:
        own = each if isinstance(each, dict) else {}
        try:
            decision: Json = {"decision": _decide(c, {**c.body, **own})}
        except Problem as problem:
            error = {"status": 400, "message": problem.detail}
            decision = {"decision": False, "context": {"error": error}}
        decisions.append(decision)
        if decision["decision"] is last:
            break
    return {"evaluations": decisions}


def _wanted(c: Caller, name: str) -> str:
    kind = _part(c.body, name).get("type")
    if not isinstance(kind, str):
        raise Problem(_WRONG[name], f'"{name}" must have a type')
    return kind


def search_subjects(c: Caller) -> Json:
    kind, name, resource = _wanted(c, "subject"), _action(c.body), _entity(c.body, "resource")
    found = held.subjects_of(c.state.rules, c.state.grants, (name, resource))
    return _entities(c, repr(("subjects", kind, name, resource)), kind, name, found)


def search_resources(c: Caller) -> Json:
    subject, name, kind = _entity(c.body, "subject"), _action(c.body), _wanted(c, "resource")
    found = held.objects_of(c.state.rules, c.state.grants, subject, name, False)
    return _entities(c, repr(("resources", kind, name, subject)), kind, name, found)


def _entities(c: Caller, query: str, kind: str, name: str, found: list[str]) -> Json:
    known = [each for each in found if c.state.rules.knows(name) and held.namespace_of(each) == kind]
    page, info = _page(c, query, known)
    return {"page": info, "results": [{"type": kind, "id": each[len(kind) + 1 :]} for each in page]}


def _page(c: Caller, query: str, items: list[str]) -> tuple[list[str], Json]:
    options = _part(c.body, "page")
    limit = options.get("limit")
    bound = max(1, min(limit, LIMIT_MAX)) if isinstance(limit, int) else LIMIT_MAX
    page, cursor = cut(query, items, str, bound, options.get("token"))
    return page, {"next_token": cursor or "", "count": len(page)}


def search_actions(c: Caller) -> Json:
    subject, resource = _entity(c.body, "subject"), _entity(c.body, "resource")
    namespace = held.namespace_of(resource)
    derived = {rule.name for rule in c.state.rules.rules if rule.namespace == namespace} - set(RELATIONS)
    names = sorted(derived or RELATIONS)
    found = [name for name in names if c.holds((subject, name, resource)) is not None]
    page, info = _page(c, repr(("actions", subject, resource)), found)
    return {"page": info, "results": [{"name": name} for name in page]}
