"""The client for programs without an event loop. Generated from `_async_client.py`: edit that file."""

from __future__ import annotations

import copy
import ssl
import time
from collections.abc import Iterator, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, TypeVar

from . import _types as types
from ._core import Core, Hook, Plan
from ._encode import elements_of
from ._errors import GrantdError
from ._feed import Feed, feed_query
from ._filter import OBJECTS_MAX, PAUSE_S, WAIT_S, Query, Filter, FilterCall
from ._operations import (
    BULK_CHECKS_MAX,
    Context,
    ContextGrants,
    Expiry,
    GrantCondition,
    Operations,
    Question,
    WantedRules,
    context_of,
    pairs_of,
    query_of,
)
from ._options import BACKOFF_MAX_S, MAX_RETRIES, RETRIES_IN_STOCK, SILENCE_S, TIMEOUT_S, core_of, route_of
from ._results import UNSET, ChangeEvent, CreatedNamespace, Page, Rules, RulesText
from ._transport import SocketNetwork, Transport

T = TypeVar("T")


class Grantd(Transport):
    """Calls the service. Create it once, and use it from as many threads as you like."""

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        timeout: float = TIMEOUT_S,
        max_retries: int = MAX_RETRIES,
        retry_budget: int = RETRIES_IN_STOCK,
        backoff_first: float | None = None,
        backoff_max: float = BACKOFF_MAX_S,
        silence: float = SILENCE_S,
        headers: Mapping[str, str] | None = None,
        user_agent: str | None = None,
        hook: Hook | None = None,
        ssl_context: ssl.SSLContext | None = None,
        proxy: str | None = None,
    ) -> None:
        """Raises a ValueError for settings that cannot work. Does not connect.

        url, key: where the service is, and the API key. Without both, GRANTD_URL and GRANTD_KEY of the environment.
        timeout: seconds for a call with all its retries.
        max_retries: how often one call is repeated at most.
        retry_budget: the initial and maximum stock of retries; each call adds a tenth of one. 0: no retries.
        backoff_first, backoff_max: seconds, the bounds of the random pause before a retry: of the first (by default
            0.05), which doubles from retry to retry, and of any.
        silence: seconds without data after which a connection of the change feed counts as lost.
        headers: sent with each request. Those that the client sets itself are refused.
        user_agent: added to the header User-Agent, such as "documents/1.2".
        hook: called before each call, and its result is called with the outcome. For tracing and metrics.
        ssl_context: for certificates. By default, the authorities are those of SSL_CERT_FILE and SSL_CERT_DIR in the
            environment, or else those of the package certifi.
        proxy: the address of an HTTP proxy. Those that the environment names are not used.

        The logger "grantd" of the module `logging` gets hints of the service for developers, each text once, and an
        entry for each attempt of a call at the level DEBUG.
        """
        core = core_of(
            url,
            key,
            timeout=timeout,
            max_retries=max_retries,
            retry_budget=retry_budget,
            backoff_first=backoff_first,
            backoff_max=backoff_max,
            headers=headers or {},
            user_agent=user_agent,
            hook=hook,
        )
        self._set_core(core)
        self._silence = silence
        self._network = SocketNetwork(route_of(core, ssl_context, proxy))

    def _set_core(self, core: Core) -> None:
        self._core = core
        self._operations = Operations(core)

    def with_timeout(self, timeout: float) -> Grantd:
        """The same client, with another time for each call."""
        other = copy.copy(self)
        other._set_core(replace(self._core, timeout=timeout))
        return other

    def __repr__(self) -> str:
        return f"Grantd({self._core.url!r})"

    def __enter__(self) -> Grantd:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections that no call uses."""
        self._network.close()

    def _check_batch(self, questions: Sequence[Question]) -> list[bool | GrantdError]:
        return self._run(self._operations.ask(questions))

    def _pages(
        self,
        list_page: Callable[[dict[str, str]], Plan[Page[T]]],
        query: dict[str, str],
    ) -> Iterator[T]:
        while True:
            page = self._run(list_page(query))
            for item in page.items:
                yield item
            if page.cursor is None:
                return
            query["cursor"] = page.cursor

    def _found(
        self,
        search_page: Callable[[Mapping[str, Any]], Plan[Page[T]]],
        request: Mapping[str, Any],
    ) -> Iterator[T]:
        body = {**request}
        while True:
            page = self._run(search_page(body))
            for item in page.items:
                yield item
            if page.cursor is None:
                return
            body["page"] = {**(body.get("page") or {}), "token": page.cursor}

    def check(
        self,
        subject: str,
        relation: str,
        object_: str,
        *,
        context: Context = None,
        context_grants: ContextGrants = None,
    ) -> bool:
        """Whether the subject has the relation, or the derived name, on the object.

        context: values for parameters of conditions. context_grants: grants that count for this call alone.
        """
        sent = context_of(context, context_grants)
        return self._run(self._operations.check((subject, relation, object_), sent))

    def explain(
        self,
        subject: str,
        relation: str,
        object_: str,
        *,
        context: Context = None,
        context_grants: ContextGrants = None,
    ) -> types.CheckResult:
        """A check that also returns a shortest chain of grants behind an "authorized".

        Under rules with gates, it returns a proof of either answer.
        """
        sent = context_of(context, context_grants)
        return self._run(self._operations.explain((subject, relation, object_), sent))

    def check_bulk(
        self, questions: Sequence[Question], *, context: Context = None, context_grants: ContextGrants = None
    ) -> list[bool]:
        """Up to 100 checks, decided at one moment, in order. One invalid check fails the whole call."""
        return self._run(self._operations.check_bulk(questions, context_of(context, context_grants)))

    def check_each(self, questions: Sequence[Question]) -> list[bool | GrantdError]:
        """Any number of checks, in bulk checks of up to 100, in order. An invalid one yields its own error."""
        questions = elements_of(questions, "questions")
        answers: list[bool | GrantdError] = []
        for start in range(0, len(questions), BULK_CHECKS_MAX):
            answers += self._check_batch(questions[start : start + BULK_CHECKS_MAX])
        return answers

    def create_grant(
        self,
        subject: str,
        relation: str,
        object_: str,
        *,
        expires_at: Expiry = UNSET,
        condition: GrantCondition = UNSET,
    ) -> types.WrittenGrant:
        """Creates a grant, or returns the existing one; `created` says which. It is durable when this returns.

        An existing grant keeps its expiry and its condition unless others are given; None removes them.
        """
        return self._run(self._operations.create_grant(subject, relation, object_, expires_at, condition))

    def revoke_grant(self, subject: str, relation: str, object_: str) -> bool:
        """Revokes the grant of one tuple; returns whether it existed.

        After a lost response, the retry may find none although this call has removed it.
        """
        return self._run(self._operations.revoke_grant(subject, relation, object_))

    def write_bulk(
        self,
        grants: Sequence[types.GrantRequestDict] = (),
        revocations: Sequence[types.TupleDict] = (),
        conditions: Sequence[types.ConditionDict] = (),
    ) -> types.BulkWriteResult:
        """Up to 100 changes at one moment, or none of them, if all conditions on the state before are met."""
        return self._run(self._operations.write_bulk(grants, revocations, conditions))

    def revoke_grants(
        self, *, subject: str | None = None, object_: str | None = None, relation: str | None = None
    ) -> int:
        """Revokes all grants of a subject, or on an object, until none is left, and counts them."""
        return self._run(self._operations.revoke_grants(subject, object_, relation))

    def list_namespaces(self) -> list[types.Namespace]:
        """All namespaces, ascending by name."""
        return self._run(self._operations.list_namespaces())

    def create_namespace(self, name: str) -> CreatedNamespace:
        """Creates a namespace, or returns the existing one."""
        return self._run(self._operations.create_namespace(name))

    def create_key(
        self,
        scopes: Sequence[str],
        *,
        name: str = "",
        expires_at: datetime | str | None = None,
        idempotency_key: str | None = None,
    ) -> types.CreatedKey:
        """Creates an API key. Only this result contains it.

        If a response is lost, its key was never delivered: the client revokes it and creates another.
        With an idempotency key of yours, the error has the type "already-created" and the `key_id` instead.
        """
        return self._run(self._operations.create_key(scopes, name, expires_at, idempotency_key))

    def revoke_key(self, key_id: str) -> bool:
        """Revokes a key; returns whether it existed."""
        return self._run(self._operations.revoke_key(key_id))

    def read_rules(self) -> Rules:
        """The present rules. A tenant that has never set any has empty ones."""
        rules = self._run(self._operations.read_rules(None))
        assert rules is not None
        return rules

    def read_rules_unless(self, revision: str) -> Rules | None:
        """None if the rules still have the revision."""
        return self._run(self._operations.read_rules(revision))

    def list_rules_versions(self) -> list[types.RulesVersion]:
        """The versions of the rules that are kept, from the newest back."""
        return self._run(self._operations.list_rules_versions())

    def read_rules_version(self, version: int) -> Rules:
        """The rules of a version. Raises `rules-version-not-found` if it is not kept."""
        return self._run(self._operations.read_rules_version(version))

    def read_rules_text(self, version: int | None = None) -> RulesText:
        """The rules in the text form, with their comments: the present ones, or those of a version that is kept."""
        return self._run(self._operations.read_rules_text(version))

    def write_rules(
        self,
        rules: WantedRules,
        *,
        revision: str | None = None,
        outside_types: str | None = None,
    ) -> Rules:
        """Replaces the rules by a text, or by the mapping that JSON has: with a revision, only if they still have it.

        outside_types: beside a text, "keep" for stored grants that stricter types exclude. They stay, and count.
        """
        return self._run(self._operations.write_rules(rules, revision, outside_types))

    def preview_rules(
        self,
        rules: WantedRules,
        *,
        revision: str | None = None,
        outside_types: str | None = None,
    ) -> types.RulesPreview:
        """What `write_rules` would change."""
        return self._run(self._operations.preview_rules(rules, revision, outside_types))

    def evaluate(self, request: types.EvaluationRequestDict) -> types.Decision:
        """AuthZEN: may the subject perform the action on the resource?"""
        return self._run(self._operations.evaluate(request))

    def evaluate_many(self, request: Mapping[str, Any]) -> list[types.Decision]:
        """AuthZEN: several evaluations at one moment, in order."""
        return self._run(self._operations.evaluate_many(request))

    def read_join(self, namespace: str, name: str, *, deep: Sequence[str] = ()) -> Mapping[str, Any]:
        """How a list of objects on which a subject holds the name follows from mirrored grants.

        Of the namespaces in `deep`, the grants on containers are mirrored too.
        """
        return self._run(self._operations.read_join(namespace, name, deep))

    def read_sets(
        self,
        subject: str,
        namespace: str,
        name: str,
        *,
        deep: Sequence[str] = (),
        context: Context = None,
        context_grants: ContextGrants = None,
        perhaps: bool = False,
    ) -> types.SubjectSets:
        """The sets of a subject: with the grants that the join mirrors, they say on which objects it holds the name.

        perhaps: sets whose conditions lack a parameter are in `perhaps`, in place of an error.
        """
        sent = context_of(context, context_grants)
        return self._run(self._operations.read_sets(subject, namespace, name, deep, sent, perhaps))

    def filter(
        self,
        subject: str,
        name: str,
        *,
        query: Query,
        id_: str = "id",
        id_type: str = "text",
        deep: Sequence[str] = (),
        context: Context = None,
        context_grants: ContextGrants = None,
        candidates: bool = False,
        schema: str = "grantd",
        objects_max: int = OBJECTS_MAX,
        wait: float = WAIT_S,
    ) -> Filter:
        """The condition by which a query of the application passes exactly the objects on which the subject holds the
        name, such as "document.can_read", with the mirror that `grantd sync` keeps in its Postgres.

        query: runs a query of that database with placeholders `%s`, and returns its rows.
        id_, id_type: SQL for the id in the application's table, which objects have behind `document:`, and its type.
        deep: those of the join that is mirrored.
        candidates: objects pass where a condition decides, too: for a bulk check with the context.
        schema: where the mirror is.
        objects_max: with more objects than this, the database asks the mirror for each row.
        wait: seconds to wait for the mirror.

        Raises a MirrorError if the mirror has no answer; other errors of the database pass through as they are.
        """
        call = FilterCall(
            name,
            id_=id_,
            id_type=id_type,
            deep=deep,
            candidates=candidates,
            schema=schema,
            objects_max=objects_max,
            wait=wait,
        )
        sent = context_of(context, context_grants)
        while True:
            read = self._operations.read_sets(subject, call.namespace, call.relation, deep, sent, candidates)
            sets = self._run(read)
            try:
                return call.filter(sets, query(*call.question(sets)))
            except Exception as error:
                if not call.asks_again(error):
                    raise
            time.sleep(PAUSE_S)

    def read_openapi(self) -> Mapping[str, Any]:
        """The description of the API that the service serves."""
        return self._run(self._operations.read_openapi())

    def list_objects(
        self,
        subject: str,
        relation: str,
        *,
        namespace: str | None = None,
        via: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        context: Context = None,
        context_grants: ContextGrants = None,
    ) -> Iterator[str]:
        """The objects on which the subject has the relation, ascending. Over all pages."""
        query = query_of(subject=subject, relation=relation, namespace=namespace, via=via, limit=limit, cursor=cursor)
        sent = context_of(context, context_grants)
        return self._pages(lambda page: self._operations.list_objects(page, sent), query)

    def list_objects_page(
        self,
        subject: str,
        relation: str,
        *,
        namespace: str | None = None,
        via: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        context: Context = None,
        context_grants: ContextGrants = None,
    ) -> Page[str]:
        """One page of `list_objects`."""
        query = query_of(subject=subject, relation=relation, namespace=namespace, via=via, limit=limit, cursor=cursor)
        return self._run(self._operations.list_objects(query, context_of(context, context_grants)))

    def list_subjects(
        self,
        object_: str,
        relation: str,
        *,
        namespace: str | None = None,
        via: str | None = None,
        include: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        context: Context = None,
        context_grants: ContextGrants = None,
    ) -> Iterator[str]:
        """The subjects that have the relation on the object, ascending. Over all pages.

        include: "self": also the groups `object#name` of the object itself whose members have it by definition.
        """
        query = query_of(
            object=object_,
            relation=relation,
            namespace=namespace,
            via=via,
            include=include,
            limit=limit,
            cursor=cursor,
        )
        sent = context_of(context, context_grants)
        return self._pages(lambda page: self._operations.list_subjects(page, sent), query)

    def list_subjects_page(
        self,
        object_: str,
        relation: str,
        *,
        namespace: str | None = None,
        via: str | None = None,
        include: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        context: Context = None,
        context_grants: ContextGrants = None,
    ) -> Page[str]:
        """One page of `list_subjects`."""
        query = query_of(
            object=object_,
            relation=relation,
            namespace=namespace,
            via=via,
            include=include,
            limit=limit,
            cursor=cursor,
        )
        return self._run(self._operations.list_subjects(query, context_of(context, context_grants)))

    def list_grants(
        self,
        *,
        subject: str | None = None,
        object_: str | None = None,
        relation: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Iterator[types.Grant]:
        """The grants of a subject, or on an object. Over all pages."""
        query = query_of(subject=subject, object=object_, relation=relation, limit=limit, cursor=cursor)
        return self._pages(self._operations.list_grants, query)

    def list_grants_page(
        self,
        *,
        subject: str | None = None,
        object_: str | None = None,
        relation: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[types.Grant]:
        """One page of `list_grants`."""
        query = query_of(subject=subject, object=object_, relation=relation, limit=limit, cursor=cursor)
        return self._run(self._operations.list_grants(query))

    def snapshot_grants_page(
        self, on: Sequence[str], *, limit: int | None = None, cursor: str | None = None
    ) -> Page[types.Grant]:
        """One page of all grants of some relations on objects of some namespaces, each as "namespace:relation".

        Follow the change feed with the same `on` from the feed cursor of the first page. What it makes of all pages is
        exact once its seq has reached that of each page.
        """
        query = query_of(on=pairs_of(on), limit=limit, cursor=cursor)
        return self._run(self._operations.list_grants(query))

    def list_keys(self, *, limit: int | None = None, cursor: str | None = None) -> Iterator[types.Key]:
        """All keys that are not revoked, without the keys themselves. Over all pages."""
        query = query_of(limit=limit, cursor=cursor)
        return self._pages(self._operations.list_keys, query)

    def list_keys_page(self, *, limit: int | None = None, cursor: str | None = None) -> Page[types.Key]:
        """One page of `list_keys`."""
        query = query_of(limit=limit, cursor=cursor)
        return self._run(self._operations.list_keys(query))

    def search_subjects(self, request: types.SubjectSearchDict) -> Iterator[types.FoundEntity]:
        """AuthZEN: Which subjects of a type may perform the action on the resource? Over all pages."""
        return self._found(self._operations.search_subjects, request)

    def search_subjects_page(self, request: types.SubjectSearchDict) -> Page[types.FoundEntity]:
        """One page of `search_subjects`."""
        return self._run(self._operations.search_subjects(request))

    def search_resources(self, request: types.ResourceSearchDict) -> Iterator[types.FoundEntity]:
        """AuthZEN: On which resources of a type may the subject perform the action? Over all pages."""
        return self._found(self._operations.search_resources, request)

    def search_resources_page(self, request: types.ResourceSearchDict) -> Page[types.FoundEntity]:
        """One page of `search_resources`."""
        return self._run(self._operations.search_resources(request))

    def search_actions(self, request: types.ActionSearchDict) -> Iterator[types.FoundAction]:
        """AuthZEN: Which actions may the subject perform on the resource? Over all pages."""
        return self._found(self._operations.search_actions, request)

    def search_actions_page(self, request: types.ActionSearchDict) -> Page[types.FoundAction]:
        """One page of `search_actions`."""
        return self._run(self._operations.search_actions(request))

    def changes_page(
        self,
        *,
        cursor: str | None = None,
        since: datetime | str | None = None,
        namespace: str | None = None,
        relation: str | None = None,
        on: Sequence[str] | None = None,
        actions: Sequence[str] = (),
        limit: int | None = None,
        wait: int | None = None,
    ) -> Page[types.Change]:
        """One page of the change feed, always with a cursor and a seq. Waits up to `wait` seconds for a change."""
        query = feed_query(cursor, since, namespace, relation, on, actions)
        return self._run(self._operations.changes_page({**query, **query_of(limit=limit, wait=wait)}))

    def changes(
        self,
        *,
        cursor: str | None = None,
        since: datetime | str | None = None,
        namespace: str | None = None,
        relation: str | None = None,
        on: Sequence[str] | None = None,
        actions: Sequence[str] = (),
        checkpoints: bool = False,
    ) -> Iterator[ChangeEvent]:
        """Every change of grants, namespaces and rules, once and in order, without end.

        Resumes after the last cursor if the connection is lost, and raises errors that are not retryable.
        on: only these relations on objects of these namespaces, each as "namespace:relation".
        checkpoints: also yields events without a change: after each batch, and every few seconds without one. They have
            a cursor to resume from, and a seq.
        """
        query = feed_query(cursor, since, namespace, relation, on, actions)
        feed = Feed(self._core, query, self._silence, checkpoints)
        while True:
            try:
                if feed.begins_now:
                    page = self._run(self._operations.changes_page({**query, "limit": "1"}))
                    for event in feed.first(page):
                        yield event
                for event in self._follow(feed):
                    yield event
            except GrantdError as error:
                pause = feed.pause(error)
            time.sleep(pause)
