"""The operations of the API as plans: requests, and what their answers have to be."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from typing import Any, TypeAlias, TypeVar
from urllib.parse import quote

from . import _types as types
from ._core import RULES_TYPE, Answer, Core, Plan, Request, decoded
from ._decode import Json, WrongShape, integer, list_of, nullable, object_of, optional, required, text
from ._decode import cursor as read_cursor
from ._encode import check_text, elements_of, joined
from ._errors import GrantdError, invalid_request, invalid_response
from ._members import EVALUATION, EVALUATIONS, SEARCH, refuse_unknown
from ._results import CreatedNamespace, Page, Rules, RulesText, Unset

T = TypeVar("T")

BULK_CHECKS_MAX = 100
# Refused elements that are taken out of a bulk check one by one. With more, halves cost fewer requests.
NAMED_MAX = 4
# The request itself is refused, perhaps because of one of its elements, which may be too large as well.
_CONCERNS_ELEMENTS = (400, 413, 422)
NOTHING: Mapping[str, Any] = {}

Question: TypeAlias = "types.QuestionDict | tuple[str, str, str]"
"""A subject, a relation or derived name, and an object."""
Expiry: TypeAlias = "datetime | str | Unset | None"
"""Until when something holds; None: for ever; UNSET: left to the service."""
GrantCondition: TypeAlias = "types.GrantConditionRequestDict | Unset | None"
"""Under which condition a grant holds; None: under none; UNSET: left to the service."""
WantedRules: TypeAlias = "str | types.RuleSetRequestDict"
"""Rules in the text form, or as in JSON."""

Body: TypeAlias = Mapping[str, Any]
Context: TypeAlias = "Mapping[str, Any] | None"
"""Values for parameters of conditions, which count for one call."""
ContextGrants: TypeAlias = "Sequence[types.ContextGrantDict] | None"
"""Grants that count for one call as if they were stored."""

_VISIBLE = re.compile(r"[!-~]+")
_ELEMENT = re.compile(r"\bchecks\[(\d{1,3})\]\.?", re.ASCII)


def question_of(given: Question) -> types.QuestionDict:
    if isinstance(given, tuple):
        subject, relation, about = given
        return {"subject": subject, "relation": relation, "object": about}
    return given


def time_text(at: datetime | str | None) -> str | None:
    if not isinstance(at, datetime):
        return at
    if at.tzinfo is None:
        raise invalid_request("an expiry has no time zone")
    return at.astimezone(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def query_of(**given: str | int | None) -> dict[str, str]:
    """What is neither text nor a number stays as it is, and is refused when it is to be sent."""
    return {name: str(value) if type(value) is int else value for name, value in given.items() if value is not None}  # type: ignore[misc]


def pairs_of(on: Sequence[str]) -> str:
    pairs = joined(on, "on")
    if pairs is None:
        raise invalid_request('"on" is an empty list')
    return pairs


def context_of(context: Context, context_grants: ContextGrants) -> dict[str, Any]:
    grants = None if context_grants is None else elements_of(context_grants, "context_grants")
    given = {"context": context, "context_grants": grants}
    return {name: value for name, value in given.items() if value is not None}


def get(operation: str, path: str, query: Mapping[str, str] | None = None) -> Request:
    return Request(operation, "GET", path, query or {})


def post(operation: str, path: str, body: Json, *accepts: int) -> Request:
    return Request(operation, "POST", path, body=body, accepts=accepts or (200,))


def quoted(text: str, what: str) -> str:
    if _VISIBLE.fullmatch(text) is None or '"' in text or "\\" in text:
        raise invalid_request(f"{what} has characters that it cannot have")
    return f'"{text}"'


class Operations:
    """Plans of single requests and of the few that need several."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def check(self, question: Question, sent: Body = NOTHING) -> Plan[bool]:
        request = post("check", "/v1/check", {**question_of(question), **sent})
        result = yield from self._core.call_for(request, types.CheckResult.decode)
        return result.authorized

    def explain(self, question: Question, sent: Body) -> Plan[types.CheckResult]:
        body = {**question_of(question), **sent, "explain": True}
        return (yield from self._core.call_for(post("check", "/v1/check", body), types.CheckResult.decode))

    def check_bulk(self, questions: Sequence[Question], sent: Body = NOTHING) -> Plan[list[bool]]:
        checks = [question_of(question) for question in elements_of(questions, "questions")]

        def decode(value: Json) -> list[bool]:
            results = types.BulkCheckResult.decode(value).results
            same_length(results, checks, "results", "checks")
            return [result.authorized for result in results]

        return (yield from self._core.call_for(post("checkBulk", "/v1/check/bulk", {"checks": checks, **sent}), decode))

    def ask(self, questions: Sequence[Question], named: int = NAMED_MAX) -> Plan[list[bool | GrantdError]]:
        """Up to 100 questions, each with its own answer.

        If the service refuses all because of some, removes up to `named` refused elements one by one and then splits
        the rest into halves, until each has its own answer.
        """
        if len(questions) == 0:
            return []
        try:
            if len(questions) == 1:
                return [(yield from self.check(questions[0]))]
            return list((yield from self.check_bulk(questions)))
        except GrantdError as error:
            refused = error
        if len(questions) == 1 or refused.status not in _CONCERNS_ELEMENTS:
            return [refused for _ in questions]
        place = _ELEMENT.search(refused.detail)
        if place is not None and named > 0 and int(place[1]) < len(questions):
            index = int(place[1])
            # A wrong number would fail the wrong check, but never answer one.
            own = refused._for_element(refused.detail[: place.start()] + refused.detail[place.end() :])
            others = yield from self.ask([*questions[:index], *questions[index + 1 :]], named - 1)
            return [*others[:index], own, *others[index:]]
        half = len(questions) // 2
        first = yield from self.ask(questions[:half], named)
        return first + (yield from self.ask(questions[half:], named))

    def create_grant(
        self, subject: str, relation: str, object_: str, expires_at: Expiry, condition: GrantCondition
    ) -> Plan[types.WrittenGrant]:
        body: dict[str, object] = {"subject": subject, "relation": relation, "object": object_}
        if not isinstance(expires_at, Unset):
            body["expires_at"] = time_text(expires_at)
        if not isinstance(condition, Unset):
            body["condition"] = condition
        answer = yield from self._core.call(post("createGrant", "/v1/grants", body, 200, 201))

        def decode(value: Json) -> types.WrittenGrant:
            grant = types.WrittenGrant.decode({**object_of(value), "created": answer.status == 201})
            same_tuple(grant, body)
            return grant

        return decoded(answer, decode)

    def revoke_grant(self, subject: str, relation: str, object_: str) -> Plan[bool]:
        # In the query, since some proxies drop the body of a DELETE.
        query = {"subject": subject, "relation": relation, "object": object_}
        request = Request("revokeGrant", "DELETE", "/v1/grants", query, accepts=(204,))
        return (yield from self._remove(request, "grant-not-found"))

    def _remove(self, request: Request, not_found: str, deadline: float | None = None) -> Plan[bool]:
        try:
            yield from self._core.call(request, deadline)
        except GrantdError as error:
            if error.type != not_found:
                raise
            return False
        return True

    def write_bulk(
        self,
        grants: Sequence[types.GrantRequestDict],
        revocations: Sequence[types.TupleDict],
        conditions: Sequence[types.ConditionDict],
    ) -> Plan[types.BulkWriteResult]:
        given = {"grants": grants, "revocations": revocations, "conditions": conditions}
        parts = {("if" if name == "conditions" else name): elements_of(part, name) for name, part in given.items()}
        body = {name: part for name, part in parts.items() if part}
        request = Request("writeBulk", "POST", "/v1/grants/bulk", body=body, conditional=len(conditions) > 0)

        def decode(value: Json) -> types.BulkWriteResult:
            result = types.BulkWriteResult.decode(value)
            same_length(result.grants, grants, "results", "grants")
            same_length(result.revocations, revocations, "results", "revocations")
            for written, wanted in zip(result.grants, grants, strict=True):
                same_tuple(written, wanted)
            return result

        return (yield from self._core.call_for(request, decode))

    def revoke_grants(self, subject: str | None, object_: str | None, relation: str | None) -> Plan[int]:
        body = query_of(subject=subject, object=object_, relation=relation)
        revoked = 0
        while True:
            request = post("revokeGrants", "/v1/grants/revoke", body)
            result = yield from self._core.call_for(request, types.RevokeResult.decode)
            revoked += result.revoked
            if result.complete:
                return revoked

    def _page(
        self,
        operation: str,
        path: str,
        name: str,
        item: Callable[[Json], T],
        query: dict[str, str],
        sent: Body = NOTHING,
    ) -> Plan[Page[T]]:
        request = get(operation, path, query)
        if sent:
            body = {**query, **({"limit": int(query["limit"])} if "limit" in query else {}), **sent}
            request = post(f"{operation}InContext", path, body)
        answer = yield from self._core.call(request)

        def decode(value: Json) -> Page[T]:
            known = object_of(value)
            items, cursor = required(known, name, list_of(item)), nullable(known, "next_cursor", read_cursor)
            if cursor is not None and cursor == query.get("cursor"):
                raise WrongShape("a page leads to itself")
            excluded = optional(known, "excluded", list_of(text)) or []
            feed_cursor, seq = answer.headers.get("x-service-cursor"), optional(known, "seq", integer)
            if "on" in query and (feed_cursor is None or seq is None):
                raise WrongShape("a page of a snapshot has no place in the change feed")
            return Page(items, cursor, feed_cursor, seq, excluded)

        return decoded(answer, decode)

    def list_objects(self, query: dict[str, str], sent: Body) -> Plan[Page[str]]:
        return self._page("listObjects", "/v1/objects", "objects", text, query, sent)

    def list_subjects(self, query: dict[str, str], sent: Body) -> Plan[Page[str]]:
        return self._page("listSubjects", "/v1/subjects", "subjects", text, query, sent)

    def list_grants(self, query: dict[str, str]) -> Plan[Page[types.Grant]]:
        return self._page("listGrants", "/v1/grants", "grants", types.Grant.decode, query)

    def list_keys(self, query: dict[str, str]) -> Plan[Page[types.Key]]:
        return self._page("listKeys", "/v1/keys", "keys", types.Key.decode, query)

    def search_subjects(self, request: Mapping[str, Any]) -> Plan[Page[types.FoundEntity]]:
        return self._search("searchSubjects", "subject", types.FoundEntity.decode, request)

    def search_resources(self, request: Mapping[str, Any]) -> Plan[Page[types.FoundEntity]]:
        return self._search("searchResources", "resource", types.FoundEntity.decode, request)

    def search_actions(self, request: Mapping[str, Any]) -> Plan[Page[types.FoundAction]]:
        return self._search("searchActions", "action", types.FoundAction.decode, request)

    def list_namespaces(self) -> Plan[list[types.Namespace]]:
        request = get("listNamespaces", "/v1/namespaces")
        return (yield from self._core.call_for(request, types.NamespaceList.decode)).namespaces

    def create_namespace(self, name: str) -> Plan[CreatedNamespace]:
        answer = yield from self._core.call(post("createNamespace", "/v1/namespaces", {"name": name}, 200, 201))
        namespace = decoded(answer, types.Namespace.decode)
        return CreatedNamespace(namespace.name, namespace.created_at, answer.status == 201)

    def create_key(
        self, scopes: Sequence[str], name: str, expires_at: datetime | str | None, idempotency_key: str | None
    ) -> Plan[types.CreatedKey]:
        """If a response is lost, its key was never delivered: revokes it and creates another."""
        body: dict[str, object] = {"name": name, "scopes": elements_of(scopes, "scopes")}
        if expires_at is not None:
            body["expires_at"] = time_text(expires_at)
        deadline = self._core.deadline()
        while True:
            chosen = quoted(idempotency_key or secrets.token_hex(16), "the idempotency key")
            headers = {"idempotency-key": chosen}
            request = Request("createKey", "POST", "/v1/keys", {}, headers, body, (201,))
            try:
                return (yield from self._core.call_for(request, types.CreatedKey.decode, deadline))
            except GrantdError as error:
                if idempotency_key is not None or error.type != "already-created" or error.key_id is None:
                    raise
                lost = error.key_id
            yield from self.revoke_key(lost, deadline)

    def revoke_key(self, key_id: str, deadline: float | None = None) -> Plan[bool]:
        if key_id in ("", ".", ".."):
            # No path leads to it.
            return False
        check_text(key_id, "key_id")
        request = Request("revokeKey", "DELETE", f"/v1/keys/{quote(key_id, safe='')}", accepts=(204,))
        return (yield from self._remove(request, "key-not-found", deadline))

    def read_rules(self, unless_revision: str | None) -> Plan[Rules | None]:
        request = get("readRules", "/v1/rules")
        if unless_revision is not None:
            headers = {"if-none-match": quoted(unless_revision, "the revision")}
            request = Request("readRules", "GET", "/v1/rules", {}, headers, accepts=(200, 304))
        answer = yield from self._core.call(request)
        return None if answer.status == 304 else rules_of(answer)

    def list_rules_versions(self) -> Plan[list[types.RulesVersion]]:
        request = get("listRulesVersions", "/v1/rules/versions")
        return (yield from self._core.call_for(request, types.RulesVersionList.decode)).versions

    def read_rules_version(self, version: int) -> Plan[Rules]:
        return rules_of((yield from self._core.call(version_request(version))))

    def read_rules_text(self, version: int | None) -> Plan[RulesText]:
        request = get("readRules", "/v1/rules") if version is None else version_request(version)
        answer = yield from self._core.call(replace(request, headers={"accept": RULES_TYPE}))
        return RulesText(decoded(answer, text), revision_of(answer))

    def write_rules(self, rules: WantedRules, revision: str | None, outside_types: str | None) -> Plan[Rules]:
        query = query_of(outside_types=outside_types)
        return rules_of((yield from self._core.call(self._write(rules, revision, query))))

    def preview_rules(
        self, rules: WantedRules, revision: str | None, outside_types: str | None
    ) -> Plan[types.RulesPreview]:
        request = self._write(rules, revision, query_of(outside_types=outside_types, dry_run="true"))
        return (yield from self._core.call_for(request, types.RulesPreview.decode))

    def _write(self, rules: WantedRules, revision: str | None, query: Mapping[str, str]) -> Request:
        headers = {} if revision is None else {"if-match": quoted(revision, "the revision")}
        if not isinstance(rules, (str, Mapping)):
            raise invalid_request(f'"rules" must be a text or a mapping, but is of the type {type(rules).__name__}')
        if not isinstance(rules, str) and "outside_types" in query:
            raise invalid_request('"outside_types" stands beside no text: give it as a member of the rules')
        return Request("writeRules", "PUT", "/v1/rules", query, headers, rules, conditional=revision is not None)

    def changes_page(self, query: dict[str, str]) -> Plan[Page[types.Change]]:
        page = yield from self._core.call_for(get("listChanges", "/v1/changes", query), types.ChangeList.decode)
        return Page(page.changes, page.next_cursor, seq=page.seq)

    def evaluate(self, request: types.EvaluationRequestDict) -> Plan[types.Decision]:
        refuse_unknown(request, EVALUATION, invalid_request)
        call = post("evaluate", "/access/v1/evaluation", request)
        return (yield from self._core.call_for(call, types.Decision.decode))

    def evaluate_many(self, request: Mapping[str, Any]) -> Plan[list[types.Decision]]:
        refuse_unknown(request, EVALUATIONS, invalid_request)
        evaluations = request.get("evaluations") or []
        semantic = (request.get("options") or {}).get("evaluations_semantic")

        def decode(value: Json) -> list[types.Decision]:
            if not evaluations:
                return [types.Decision.decode(value)]
            decisions = required(object_of(value), "evaluations", list_of(types.Decision.decode))
            if not is_complete([each.decision for each in decisions], len(evaluations), semantic):
                raise WrongShape(f"{len(decisions)} decisions for {len(evaluations)} evaluations")
            return decisions

        return (yield from self._core.call_for(post("evaluateMany", "/access/v1/evaluations", request), decode))

    def _search(self, operation: str, kind: str, decode: Callable[[Json], T], body: Body) -> Plan[Page[T]]:
        refuse_unknown(body, SEARCH, invalid_request)
        sent = (body.get("page") or {}).get("token")

        def decode_page(value: Json) -> Page[T]:
            known = object_of(value)
            info = required(known, "page", types.PageInfo.decode)
            if info.next_token != "" and info.next_token == sent:
                raise WrongShape("a page leads to itself")
            return Page(required(known, "results", list_of(decode)), info.next_token or None)

        return (yield from self._core.call_for(post(operation, f"/access/v1/search/{kind}", body), decode_page))

    def read_join(self, namespace: str, name: str, deep: Sequence[str]) -> Plan[Mapping[str, Any]]:
        def decode(value: Json) -> Mapping[str, Any]:
            known = object_of(value)
            required(known, "revision", text)
            return known

        query = query_of(namespace=namespace, name=name, deep=joined(deep, "deep"))
        return (yield from self._core.call_for(get("readJoin", "/v1/join", query), decode))

    def read_sets(
        self, subject: str, namespace: str, name: str, deep: Sequence[str], sent: Body, perhaps: bool
    ) -> Plan[types.SubjectSets]:
        join = {"namespace": namespace, "name": name, "deep": elements_of(deep, "deep")}
        body = {"subject": subject, "join": join, **sent, "perhaps": perhaps}
        return (yield from self._core.call_for(post("readSets", "/v1/sets", body), types.SubjectSets.decode))

    def read_openapi(self) -> Plan[Mapping[str, Any]]:
        def decode(value: Json) -> Mapping[str, Any]:
            known = object_of(value)
            required(known, "openapi", text)
            return known

        return (yield from self._core.call_for(get("readOpenapi", "/openapi.json"), decode))


def same_length(given: Sequence[object], expected: Sequence[object], what: str, of: str) -> None:
    if len(given) != len(expected):
        raise WrongShape(f"{len(given)} {what} for {len(expected)} {of}")


def same_tuple(grant: types.WrittenGrant, wanted: Mapping[str, Any]) -> None:
    if (grant.subject, grant.relation, grant.object) != (wanted["subject"], wanted["relation"], wanted["object"]):
        raise WrongShape("it is the grant of another tuple")


def version_request(version: int) -> Request:
    if type(version) is not int:
        raise invalid_request('"version" is not an integer')
    return get("readRulesVersion", f"/v1/rules/versions/{version}")


def rules_of(answer: Answer) -> Rules:
    return Rules(decoded(answer, types.RuleSet.decode), revision_of(answer))


def revision_of(answer: Answer) -> str:
    tag = answer.headers.get("etag", "")
    if len(tag) < 3 or tag[0] != '"' or tag[-1] != '"':
        raise invalid_response(answer.status, answer.headers, "it has no ETag with a revision")._about(answer.request)
    return tag[1:-1]


def is_complete(decisions: Sequence[bool], count: int, semantic: str | None) -> bool:
    """Whether all are decided, or only the last decision ends the evaluation early."""
    if semantic not in ("deny_on_first_deny", "permit_on_first_permit"):
        return len(decisions) == count
    settles = semantic == "permit_on_first_permit"
    if settles in decisions:
        return decisions.index(settles) == len(decisions) - 1 and len(decisions) <= count
    return len(decisions) == count
