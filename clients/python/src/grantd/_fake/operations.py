"""The operations of the service on its memory. Each gets a Caller and returns its answer, or None for none."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from .._members import CONTEXT, GRANT, TUPLE, Known
from . import rules as held
from .requests import (
    BULK_MAX,
    ELEMENT,
    LIMIT_DEFAULT,
    LIMIT_MAX,
    NAMESPACE,
    Json,
    Problem,
    cut,
    expiry_in,
    identifier_in,
    invalid,
    known_in,
    name_in,
    objects_in,
    query_in,
    question_in,
    refuse_condition,
    relation_in,
    texts_in,
    tuple_in,
    whole,
)
from .rules import RELATIONS, FakeRule, FakeRules, Tuple
from .state import State, StoredGrant, StoredKey, Write, time_json

_BULK_WRITE: Known = {"grants": GRANT, "revocations": TUPLE, "if": {**TUPLE, "exists": None}}
# Without what the fake does not evaluate: relations of the tenant, conditions and types.
_RULES: Known = {"rules": {"namespace": None, "name": None, "any_of": None}, "groups": None, "public": None}
SCOPES = ("check:read", "grant:write", "admin")


@dataclass
class Caller:
    state: State
    key: StoredKey
    request_id: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    raw: bytes
    body: Json
    # Of the answer.
    status: int = 200
    answer: dict[str, str] = field(default_factory=dict)

    def write(self) -> Write:
        return Write(self.state, self.key.key_id, self.request_id)

    def holds(self, question: Tuple) -> list[Tuple] | None:
        return held.holds(self.state.rules, self.state.grants, question)

    def page(self, query: str, items: list[Any], sort_key: Callable[[Any], str]) -> tuple[list[Any], str | None]:
        limit = whole(self.query, "limit", LIMIT_DEFAULT, 1, LIMIT_MAX)
        return cut(query, items, sort_key, limit, self.query.get("cursor"))


def _with_sent(c: Caller) -> Caller:
    """The same on a state that also has the grants that the body brings along.

    The `context` has no effect: the fake knows no conditions.
    """
    sent = objects_in(c.body, "context_grants")
    if len(sent) > BULK_MAX:
        raise Problem("bulk-too-large", f"There are {len(sent)} context grants; at most {BULK_MAX} are allowed.")
    if not isinstance(c.body.get("context", {}), dict):
        raise invalid('"context" must be an object')
    given = [tuple_in(each, f"context_grants[{index}].") for index, each in enumerate(sent)]
    for index, each in enumerate(sent):
        refuse_condition(each, f"context_grants[{index}].")
    added = {of: StoredGrant(of, "", c.state.now(), None) for of in given}
    return replace(c, state=replace(c.state, grants={**added, **c.state.grants}))


def _in_context(c: Caller) -> Caller:
    """A listing whose parameters are members of the body."""
    known_in({name: c.body[name] for name in CONTEXT if name in c.body}, CONTEXT)
    query = {name: str(value) for name, value in c.body.items() if name not in ("context", "context_grants")}
    return replace(_with_sent(c), query=query)


def check(c: Caller) -> Json:
    known_in(c.body, {**TUPLE, "explain": None, **CONTEXT})
    because = _with_sent(c).holds(question_in(c.body, c.state.rules))
    answer: Json = {"authorized": because is not None, "checked_at": time_json(c.state.now())}
    if because is not None and c.body.get("explain") is True:
        answer["because"] = [c.state.grants[of].to_json() for of in because if of in c.state.grants]
    return answer


def check_bulk(c: Caller) -> Json:
    known_in(c.body, {"checks": TUPLE, **CONTEXT})
    checks = objects_in(c.body, "checks")
    if "checks" not in c.body:
        raise invalid('"checks" is missing')
    if len(checks) > BULK_MAX:
        raise Problem("bulk-too-large", f"There are {len(checks)} checks; at most {BULK_MAX} are allowed.")
    questions = [question_in(each, c.state.rules, f"checks[{index}].") for index, each in enumerate(checks)]
    view = _with_sent(c)
    results = [{"authorized": view.holds(each) is not None} for each in questions]
    return {"results": results, "checked_at": time_json(c.state.now())}


def create_grant(c: Caller) -> Json:
    known_in(c.body, GRANT)
    refuse_condition(c.body)
    of, expires_at = tuple_in(c.body), expiry_in(c.body, c.state.now())
    write = c.write()
    stored, created = write.grant(of, "expires_at" in c.body, expires_at)
    write.commit()
    c.status = 201 if created else 200
    return stored.to_json()


def revoke_grant(c: Caller) -> None:
    given = c.body if c.raw else query_in(c.query, "subject", "relation", "object")
    write = c.write()
    if not write.revoke(tuple_in(given)):
        raise Problem("grant-not-found", "There is no such grant.")
    write.commit()
    c.status = 204


def write_bulk(c: Caller) -> Json:
    known_in(c.body, _BULK_WRITE)
    grants, revocations, conditions = (objects_in(c.body, name) for name in ("grants", "revocations", "if"))
    count = len(grants) + len(revocations)
    if count > BULK_MAX or len(conditions) > BULK_MAX:
        raise Problem("bulk-too-large", f"There are {count} changes and {len(conditions)} conditions.")
    if count == 0:
        raise invalid("There is nothing to change.")
    seen: set[Tuple] = set()

    def once(given: Json, place: str) -> Tuple:
        of = tuple_in(given, place)
        if of in seen:
            raise invalid(f'"{place}" names a tuple a second time.')
        seen.add(of)
        return of

    now = c.state.now()
    for index, each in enumerate(grants):
        refuse_condition(each, f"grants[{index}].")
    wanted = [
        (once(each, f"grants[{index}]."), "expires_at" in each, expiry_in(each, now, f"grants[{index}]."))
        for index, each in enumerate(grants)
    ]
    removed = [once(each, f"revocations[{index}].") for index, each in enumerate(revocations)]
    for index, each in enumerate(conditions):
        exists = each.get("exists")
        if not isinstance(exists, bool):
            raise invalid(f'"if[{index}].exists" must be a boolean')
        if (tuple_in(each, f"if[{index}].") in c.state.grants) != exists:
            raise Problem("precondition-failed", f'"if[{index}]" is not met.')
    write = c.write()
    written = []
    for of, given, expires_at in wanted:
        stored, created = write.grant(of, given, expires_at)
        written.append({**stored.to_json(), "created": created})
    revoked = [{"revoked": write.revoke(of)} for of in removed]
    write.commit()
    return {"grants": written, "revocations": revoked}


def _matching(c: Caller, given: Mapping[str, Any]) -> list[StoredGrant]:
    if ("subject" in given) == ("object" in given):
        raise invalid('Exactly one of "subject" and "object" must be given.')
    side = "subject" if "subject" in given else "object"
    wanted = identifier_in(given, side)
    relation = relation_in(given) if "relation" in given else None
    place = 0 if side == "subject" else 2
    found = [
        grant for grant in c.state.grants.values() if grant.of[place] == wanted and relation in (None, grant.of[1])
    ]
    return sorted(found, key=_sort_key)


def _sort_key(grant: StoredGrant) -> str:
    subject, relation, object_ = grant.of
    return f"{relation} {object_} {subject}"


def revoke_grants(c: Caller) -> Json:
    known_in(c.body, TUPLE)
    write = c.write()
    revoked = [write.revoke(grant.of) for grant in _matching(c, c.body)]
    write.commit()
    return {"revoked": len(revoked), "complete": True}


def list_grants(c: Caller) -> Json:
    query = query_in(c.query, "subject", "object", "relation", "limit", "cursor")
    name = repr(("grants", query.get("subject"), query.get("object"), query.get("relation")))
    found, cursor = c.page(name, _matching(c, query), _sort_key)
    c.answer["X-Service-Cursor"] = c.state.feed_cursor()
    return {"grants": [grant.to_json() for grant in found], "next_cursor": cursor}


def list_objects(c: Caller) -> Json:
    query = query_in(c.query, "subject", "relation", "namespace", "via", "limit", "cursor")
    subject, name = identifier_in(query, "subject"), name_in(query, c.state.rules)
    direct = query.get("via") == "direct"
    return _identifiers(c, "objects", held.objects_of(c.state.rules, c.state.grants, subject, name, direct))


def list_objects_in_context(c: Caller) -> Json:
    return list_objects(_in_context(c))


def list_subjects_in_context(c: Caller) -> Json:
    return list_subjects(_in_context(c))


def list_subjects(c: Caller) -> Json:
    query = query_in(c.query, "object", "relation", "namespace", "via", "include", "limit", "cursor")
    object_, name = identifier_in(query, "object"), name_in(query, c.state.rules)
    direct, with_self = query.get("via") == "direct", query.get("include") == "self"
    found = held.subjects_of(c.state.rules, c.state.grants, (name, object_), direct=direct, with_self=with_self)
    return _identifiers(c, "subjects", found)


def _identifiers(c: Caller, what: str, found: list[str]) -> Json:
    names = ("subject", "object", "relation", "namespace", "via", "include")
    wanted = c.query.get("namespace")
    kept = [each for each in found if wanted in (None, held.namespace_of(each))]
    page, cursor = c.page(repr((what, [c.query.get(name) for name in names])), kept, str)
    return {what: page, "next_cursor": cursor}


def _namespace_json(c: Caller, name: str) -> Json:
    return {"name": name, "created_at": time_json(c.state.namespaces[name])}


def list_namespaces(c: Caller) -> Json:
    return {"namespaces": [_namespace_json(c, name) for name in sorted(c.state.namespaces)]}


def create_namespace(c: Caller) -> Json:
    known_in(c.body, {"name": None})
    name = c.body.get("name")
    if not isinstance(name, str) or NAMESPACE.fullmatch(name) is None:
        raise invalid('"name" is no name of a namespace')
    write = c.write()
    c.status = 201 if write.namespace(name) else 200
    write.commit()
    return _namespace_json(c, name)


def list_keys(c: Caller) -> Json:
    ordered = sorted(c.state.keys.values(), key=lambda key: key.key_id)
    found, cursor = c.page("keys", ordered, lambda key: str(key.key_id))
    return {"keys": [{**key.to_json(), "last_used_at": None} for key in found], "next_cursor": cursor}


def create_key(c: Caller) -> Json:
    known_in(c.body, {"name": None, "scopes": None, "expires_at": None})
    scopes = texts_in(c.body, "scopes", lambda scope: scope in SCOPES)
    if not scopes:
        raise invalid('"scopes" must have an element')
    expires_at = expiry_in(c.body, c.state.now())
    repeat = c.headers.get("idempotency-key")
    if repeat in c.state.created:
        key_id, body = c.state.created[repeat]
        if body != c.raw:
            raise Problem("idempotency-key-reused", "An earlier request with this key had another body.")
        raise Problem("already-created", "An earlier request has created a key.", key_id=key_id)
    key = c.state.add_key(str(c.body.get("name", "")), tuple(scopes), expires_at)
    if repeat is not None:
        c.state.created[repeat] = (key.key_id, c.raw)
    c.status = 201
    return {**key.to_json(), "key": key.text}


def revoke_key(c: Caller) -> None:
    if c.state.keys.pop(c.path.removeprefix("/v1/keys/"), None) is None:
        raise Problem("key-not-found", "The tenant has no key with this id.")
    c.status = 204


def read_rules(c: Caller) -> Json | None:
    c.answer["ETag"] = f'"{c.state.rules.revision}"'
    if c.headers.get("if-none-match") == c.answer["ETag"]:
        c.status = 304
        return None
    return c.state.rules.to_json()


def _lines_of(rules: Json) -> set[str]:
    return {json.dumps(each) for each in (*rules["rules"], rules["groups"], *rules["public"])}


def _versions(state: State) -> list[tuple[Json, Json]]:
    """A version for each change of the rules, ascending, and its rules."""
    versions: list[tuple[Json, Json]] = []
    for change in state.changes:
        if change["action"] != "rules.updated":
            continue
        rules, former = change["rules"], change["former"]
        lines, before = _lines_of(rules), _lines_of(former)
        by = {name: change[name] for name in ("at", "actor", "request_id")}
        counts = {"added": len(lines - before), "removed": len(before - lines)}
        version = {"version": len(versions) + 1, "revision": held.revision_of(rules), **by, **counts}
        versions.append((version, rules))
    return versions


def list_rules_versions(c: Caller) -> Json:
    return {"versions": [version for version, _ in reversed(_versions(c.state))]}


def read_rules_version(c: Caller) -> Json:
    number = c.path.removeprefix("/v1/rules/versions/")
    for version, rules in _versions(c.state):
        if str(version["version"]) == number:
            c.answer["ETag"] = f'"{version["revision"]}"'
            return rules
    raise Problem("rules-version-not-found", "The rules have no such version.")


def _rules_in(body: Json) -> FakeRules:
    known_in(body, _RULES)
    if "rules" not in body:
        raise invalid('"rules" is missing')
    rules = []
    for each in objects_in(body, "rules"):
        namespace, name = str(each.get("namespace")), str(each.get("name"))
        if NAMESPACE.fullmatch(namespace) is None or NAMESPACE.fullmatch(name) is None:
            raise invalid("A rule has no namespace or no name.")
        rules.append(FakeRule(namespace, name, tuple(texts_in(each, "any_of", ELEMENT.fullmatch))))
    public = texts_in(body, "public", NAMESPACE.fullmatch) if "public" in body else []
    wanted = FakeRules(tuple(rules), body.get("groups") is True, tuple(public))
    for rule in rules:
        for element in rule.any_of:
            name, _, relation = element.partition(" from ")
            if not wanted.knows(name):
                raise invalid(f'Nothing defines the name "{name}".')
            if relation not in ("", *RELATIONS):
                raise invalid(f'"{relation}" is no built-in relation.')
    return wanted


def write_rules(c: Caller) -> Json:
    wanted, before = _rules_in(c.body), c.state.rules
    if c.headers.get("if-match", "*") not in ("*", f'"{before.revision}"'):
        raise Problem("precondition-failed", "The present rules have another revision.")
    if c.query.get("dry_run") == "true":
        return _preview(c.state, wanted)
    write = c.write()
    if wanted.revision != before.revision:
        c.state.rules = wanted
        write.record("rules.updated", rules=wanted.to_json(), former=before.to_json())
    write.commit()
    c.answer["ETag"] = f'"{wanted.revision}"'
    return wanted.to_json()


def _preview(state: State, wanted: FakeRules) -> Json:
    before = state.rules
    groups = {of[0] for of in state.grants if held.is_group_text(of[0])} if wanted.groups != before.groups else set()
    wildcard = [of for of in state.grants if wanted.is_wildcard(of[0]) != before.is_wildcard(of[0])]
    granted = {(held.namespace_of(of[2]), of[1]) for of in state.grants}
    needed: dict[tuple[str, str], None] = {}
    for rule in wanted.rules:
        for element in rule.any_of:
            name, _, relation = element.partition(" from ")
            needed[(rule.namespace, relation or name)] = None
    ungranted = [each for each in needed if each[1] in RELATIONS and each not in granted]
    return {
        "rule_set": wanted.to_json(),
        "revision": wanted.revision,
        "current_revision": before.revision,
        "changed": wanted.revision != before.revision,
        "group_subjects": len(groups),
        "public_grants": len(wildcard),
        # The fake does not look for them.
        "grants_not_followed": 0,
        "grants_outside_types": 0,
        "ungranted": [{"namespace": namespace, "relation": relation} for namespace, relation in ungranted],
        "complete": True,
        "scanned_grants": len(state.grants),
        "scanned_grants_max": 100_000,
    }


def parse_body(raw: bytes) -> Json:
    try:
        body = json.loads(raw) if raw else {}
    except ValueError:
        body = None
    if not isinstance(body, dict):
        raise invalid("The body is no JSON object.")
    return body
