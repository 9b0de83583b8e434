"""The objects of the API, generated from docs/reference/openapi.json by `npm run generate -- types`.

An answer decodes into its dataclass only if it has every field that the API promises, of the promised type. Unknown
fields are ignored. What callers send are typed dictionaries.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias, TypedDict, Union

from ._decode import (
    Json,
    boolean,
    cursor,
    integer,
    list_of,
    mapping,
    nullable,
    object_of,
    optional,
    required,
    text,
    text_or,
    time,
)


@dataclass(frozen=True, slots=True)
class AccessChanges:
    """Who would lose and gain names of the present rules, each subject compared at one moment."""

    lost: AccessSide
    """What is lost."""
    gained: AccessSide
    """What is gained."""
    unknown_because: list[str]
    """Why it is not known who else loses or gains access: `everyone` (each subject of a public namespace may),
    `undecided` (conditions need a context), `bounds` (more than one call compares) or `failed` (the grants changed
    meanwhile). Empty: these are all.
    """

    @classmethod
    def decode(cls, value: Json) -> AccessChanges:
        known = object_of(value)
        return cls(
            lost=required(known, "lost", AccessSide.decode),
            gained=required(known, "gained", AccessSide.decode),
            unknown_because=required(known, "unknown_because", list_of(text)),
        )


@dataclass(frozen=True, slots=True)
class AccessRow:
    """The same names on the same objects."""

    subjects: list[str]
    """The first subjects."""
    subject_count: int
    """How many subjects there are."""
    names: list[str]
    """Names that they lose, or gain."""
    objects: list[str]
    """The first objects."""
    object_count: int
    """How many objects there are."""

    @classmethod
    def decode(cls, value: Json) -> AccessRow:
        known = object_of(value)
        return cls(
            subjects=required(known, "subjects", list_of(text)),
            subject_count=required(known, "subject_count", integer),
            names=required(known, "names", list_of(text)),
            objects=required(known, "objects", list_of(text)),
            object_count=required(known, "object_count", integer),
        )


@dataclass(frozen=True, slots=True)
class AccessSide:
    """What is lost."""

    subjects: int
    """Subjects that lose, or gain, a name."""
    objects: int
    """Objects on which they do."""
    rows: list[AccessRow]
    """Who loses, or gains, which names on which objects."""
    rows_left: int
    """Rows that are left out."""
    by_name: bool
    """Whether there is a row for each name, which its subjects lose, or gain, on some of its objects."""

    @classmethod
    def decode(cls, value: Json) -> AccessSide:
        known = object_of(value)
        return cls(
            subjects=required(known, "subjects", integer),
            objects=required(known, "objects", integer),
            rows=required(known, "rows", list_of(AccessRow.decode)),
            rows_left=required(known, "rows_left", integer),
            by_name=required(known, "by_name", boolean),
        )


@dataclass(frozen=True, slots=True)
class ActionSearchResult:
    """An answer of the service."""

    page: PageInfo
    """Where the search goes on."""
    results: list[FoundAction]
    """Ascending by the bytes of the name."""

    @classmethod
    def decode(cls, value: Json) -> ActionSearchResult:
        known = object_of(value)
        return cls(
            page=required(known, "page", PageInfo.decode),
            results=required(known, "results", list_of(FoundAction.decode)),
        )


@dataclass(frozen=True, slots=True)
class BulkCheckAnswer:
    """An answer of the service."""

    authorized: bool
    """Whether the relationship holds."""

    @classmethod
    def decode(cls, value: Json) -> BulkCheckAnswer:
        known = object_of(value)
        return cls(
            authorized=required(known, "authorized", boolean),
        )


@dataclass(frozen=True, slots=True)
class BulkCheckResult:
    """An answer of the service."""

    results: list[BulkCheckAnswer]
    """One per check, in the order of the request."""
    checked_at: datetime
    """The moment at which all of them were decided. ISO 8601 in UTC with milliseconds."""

    @classmethod
    def decode(cls, value: Json) -> BulkCheckResult:
        known = object_of(value)
        return cls(
            results=required(known, "results", list_of(BulkCheckAnswer.decode)),
            checked_at=required(known, "checked_at", time),
        )


@dataclass(frozen=True, slots=True)
class BulkWriteResult:
    """An answer of the service."""

    grants: list[WrittenGrant]
    """One per grant, in the order of the request."""
    revocations: list[Revocation]
    """One per revocation, in the order of the request."""

    @classmethod
    def decode(cls, value: Json) -> BulkWriteResult:
        known = object_of(value)
        return cls(
            grants=required(known, "grants", list_of(WrittenGrant.decode)),
            revocations=required(known, "revocations", list_of(Revocation.decode)),
        )


@dataclass(frozen=True, slots=True)
class Change:
    """A change of the grants, namespaces or rules of the tenant. Actions on grants have `grant`: as it is after the
    change, or was before its end. `grant.updated` has `former_terms`: until when the grant was to hold before, and
    on which condition. `namespace.created` has `namespace`. `rules.updated` has `rules`, and `former`: the previous
    ones; both only for a key with the scope `admin`, which alone reads rules.
    """

    seq: int
    """The position of the write in the log of the tenant’s slot."""
    index: int
    """The number of the change at its position: (`seq`, `index`) identifies a change and orders them."""
    at: datetime
    """When it was decided. ISO 8601 in UTC with milliseconds."""
    actor: str
    """The id of a key, `operator:` and a name, or `system`."""
    request_id: str
    """The request that caused it."""
    action: str
    """Later versions may add actions."""
    grant: Grant | None = None
    """A stored relationship, unique per (subject, relation, object)."""
    namespace: ChangedNamespace | None = None
    """Only for `namespace.created`."""
    rules: RuleSet | None = None
    former: RuleSet | None = None
    former_terms: FormerTerms | None = None
    """Only for `grant.updated`: the terms that the grant had before. Absent from changes that version 0.2 recorded,
    which did not keep them.
    """

    @classmethod
    def decode(cls, value: Json) -> Change:
        known = object_of(value)
        return cls(
            seq=required(known, "seq", integer),
            index=required(known, "index", integer),
            at=required(known, "at", time),
            actor=required(known, "actor", text),
            request_id=required(known, "request_id", text),
            action=required(known, "action", text),
            grant=optional(known, "grant", Grant.decode),
            namespace=optional(known, "namespace", ChangedNamespace.decode),
            rules=optional(known, "rules", RuleSet.decode),
            former=optional(known, "former", RuleSet.decode),
            former_terms=optional(known, "former_terms", FormerTerms.decode),
        )


@dataclass(frozen=True, slots=True)
class ChangeLine:
    """One line of the stream. A `change` has `change`, a `checkpoint` has `at` and `seq`."""

    type: str
    """Later versions may add types."""
    cursor: str
    """Where to continue: everything up to here that passes the filter has been sent."""
    change: Change | None = None
    """A change of the grants, namespaces or rules of the tenant. Actions on grants have `grant`: as it is after the
    change, or was before its end. `grant.updated` has `former_terms`: until when the grant was to hold before, and
    on which condition. `namespace.created` has `namespace`. `rules.updated` has `rules`, and `former`: the previous
    ones; both only for a key with the scope `admin`, which alone reads rules.
    """
    at: datetime | None = None
    """Only for a `checkpoint`: when everything up to its cursor had been sent."""
    seq: int | None = None
    """An entry of the log: every change of it and of all earlier ones that passes the filter has been sent, on this
    page or before. No entry is half sent: if a page ends within one, this is the one before. At the end of the
    feed, the last entry of the log.
    """

    @classmethod
    def decode(cls, value: Json) -> ChangeLine:
        known = object_of(value)
        return cls(
            type=required(known, "type", text),
            cursor=required(known, "cursor", cursor),
            change=optional(known, "change", Change.decode),
            at=optional(known, "at", time),
            seq=optional(known, "seq", integer),
        )


@dataclass(frozen=True, slots=True)
class ChangeList:
    """An answer of the service."""

    changes: list[Change]
    """In the order in which they were decided."""
    next_cursor: str
    """The `cursor` of the next request. Always there: more may come."""
    seq: int
    """An entry of the log: every change of it and of all earlier ones that passes the filter has been sent, on this
    page or before. No entry is half sent: if a page ends within one, this is the one before. At the end of the
    feed, the last entry of the log.
    """

    @classmethod
    def decode(cls, value: Json) -> ChangeList:
        known = object_of(value)
        return cls(
            changes=required(known, "changes", list_of(Change.decode)),
            next_cursor=required(known, "next_cursor", cursor),
            seq=required(known, "seq", integer),
        )


@dataclass(frozen=True, slots=True)
class ChangedNamespace:
    """Only for `namespace.created`."""

    name: str
    """The part of subjects and objects before the first colon."""

    @classmethod
    def decode(cls, value: Json) -> ChangedNamespace:
        known = object_of(value)
        return cls(
            name=required(known, "name", text),
        )


@dataclass(frozen=True, slots=True)
class CheckResult:
    """An answer of the service."""

    authorized: bool
    """Whether the relationship holds."""
    checked_at: datetime
    """When it was decided. ISO 8601 in UTC with milliseconds."""
    because: list[Grant] | None = None
    """If asked for, and only if authorized: a shortest chain of grants, from the subject to the object, without
    those of `context_grants`, which are in `proof`. Empty: it has no others, or a group is part of itself. Under
    rules with gates, the grants of the proof.
    """
    reason: DenialReason | None = None
    """If asked for, and only if not authorized: the fewest grants found that decide it. Without those in
    `excluded_by`, with the conditions in `unmet` met, and with those in `missing`, the subject would hold the
    relation; each of them is needed.
    """
    proof: Mapping[str, Any] | None = None
    """If asked for, under rules with gates: why, as a tree. Each node says whether `name` holds on `object`, and,
    if it does, `because` of which grants, and which `gate` gave it; if not, what was `looked_for`, and the `gates`
    that did not open. A gate has the proofs of `all_of` and of `but_not`, and that of an `all of N from R` the
    grants of R, its `parents`. A node with `repeated` stands in full elsewhere. A proof takes at most 256 KiB: a
    node or a gate with `cut` lacks what did not fit.
    """

    @classmethod
    def decode(cls, value: Json) -> CheckResult:
        known = object_of(value)
        return cls(
            authorized=required(known, "authorized", boolean),
            checked_at=required(known, "checked_at", time),
            because=optional(known, "because", list_of(Grant.decode)),
            reason=optional(known, "reason", DenialReason.decode),
            proof=optional(known, "proof", mapping),
        )


@dataclass(frozen=True, slots=True)
class ConditionDeclaration:
    """What grants may depend on."""

    name: str
    """By which grants name the condition."""
    parameters: Mapping[str, Any]
    """The type of each parameter, by its name; at most 50."""
    expression: str
    """In CEL, over the parameters; a bool. At most 2048 bytes in UTF-8."""

    @classmethod
    def decode(cls, value: Json) -> ConditionDeclaration:
        known = object_of(value)
        return cls(
            name=required(known, "name", text),
            parameters=required(known, "parameters", mapping),
            expression=required(known, "expression", text),
        )


@dataclass(frozen=True, slots=True)
class CreatedKey:
    """An answer of the service."""

    key_id: str
    """Names the key; not secret."""
    name: str
    """For people; may be empty."""
    scopes: list[str]
    created_at: datetime
    """When the key was created. ISO 8601 in UTC with milliseconds."""
    expires_at: datetime | None
    """The key is refused from this moment on; `null`: never. ISO 8601 in UTC with milliseconds."""
    key: str
    """The API key itself. Shown here once and never again."""

    @classmethod
    def decode(cls, value: Json) -> CreatedKey:
        known = object_of(value)
        return cls(
            key_id=required(known, "key_id", text),
            name=required(known, "name", text),
            scopes=required(known, "scopes", list_of(text)),
            created_at=required(known, "created_at", time),
            expires_at=nullable(known, "expires_at", time),
            key=required(known, "key", text),
        )


@dataclass(frozen=True, slots=True)
class Decision:
    """A decision."""

    decision: bool
    """Whether the access is permitted."""
    context: DenialContext | None = None
    """Only of a denial that rests on no grants."""

    @classmethod
    def decode(cls, value: Json) -> Decision:
        known = object_of(value)
        return cls(
            decision=required(known, "decision", boolean),
            context=optional(known, "context", DenialContext.decode),
        )


@dataclass(frozen=True, slots=True)
class DenialContext:
    """Only of a denial that rests on no grants."""

    reason: str | None = None
    """Why the action is denied whatever the grants are."""
    error: DenialContextError | None = None
    """What is wrong with this element."""

    @classmethod
    def decode(cls, value: Json) -> DenialContext:
        known = object_of(value)
        return cls(
            reason=optional(known, "reason", text),
            error=optional(known, "error", DenialContextError.decode),
        )


@dataclass(frozen=True, slots=True)
class DenialContextError:
    """What is wrong with this element."""

    status: int
    message: str

    @classmethod
    def decode(cls, value: Json) -> DenialContextError:
        known = object_of(value)
        return cls(
            status=required(known, "status", integer),
            message=required(known, "message", text),
        )


@dataclass(frozen=True, slots=True)
class DenialReason:
    """If asked for, and only if not authorized: the fewest grants found that decide it. Without those in
    `excluded_by`, with the conditions in `unmet` met, and with those in `missing`, the subject would hold the
    relation; each of them is needed.
    """

    text: str
    """One sentence, for people."""
    excluded_by: list[ReasonGrant]
    """Grants that exclude the subject."""
    unmet: list[ReasonGrant]
    """Grants whose condition is not met."""
    missing: list[Tuple]
    """Grants that do not exist."""
    cut: bool | None = None
    """True: these are not all, or none could be found."""

    @classmethod
    def decode(cls, value: Json) -> DenialReason:
        known = object_of(value)
        return cls(
            text=required(known, "text", text),
            excluded_by=required(known, "excluded_by", list_of(ReasonGrant.decode)),
            unmet=required(known, "unmet", list_of(ReasonGrant.decode)),
            missing=required(known, "missing", list_of(Tuple.decode)),
            cut=optional(known, "cut", boolean),
        )


@dataclass(frozen=True, slots=True)
class EntitySearchResult:
    """An answer of the service."""

    page: PageInfo
    """Where the search goes on."""
    results: list[FoundEntity]
    """Ascending by the bytes of the id."""

    @classmethod
    def decode(cls, value: Json) -> EntitySearchResult:
        known = object_of(value)
        return cls(
            page=required(known, "page", PageInfo.decode),
            results=required(known, "results", list_of(FoundEntity.decode)),
        )


@dataclass(frozen=True, slots=True)
class ExcludedName:
    """Of `excluded_by`: what the grant takes away from the subject."""

    name: str
    """A name that a rule defines."""
    object: str
    """On what. `namespace:external_id`, split at the first colon, compared byte for byte. The namespace starts with
    a letter and has up to 64 letters, digits, `_`, `.` or `-`; the external id has 1 to 256 Unicode code points
    without control characters or white space.
    """

    @classmethod
    def decode(cls, value: Json) -> ExcludedName:
        known = object_of(value)
        return cls(
            name=required(known, "name", text),
            object=required(known, "object", text),
        )


@dataclass(frozen=True, slots=True)
class FormerTerms:
    """Only for `grant.updated`: the terms that the grant had before. Absent from changes that version 0.2 recorded,
    which did not keep them.
    """

    expires_at: datetime | None
    """The grant holds until just before this moment; `null`: it never expires. ISO 8601 in UTC with milliseconds.
    """
    condition: GrantCondition | None = None
    """The grant holds only where this condition is met. Absent: it has none."""

    @classmethod
    def decode(cls, value: Json) -> FormerTerms:
        known = object_of(value)
        return cls(
            expires_at=nullable(known, "expires_at", time),
            condition=optional(known, "condition", GrantCondition.decode),
        )


@dataclass(frozen=True, slots=True)
class FoundAction:
    """An answer of the service."""

    name: str

    @classmethod
    def decode(cls, value: Json) -> FoundAction:
        known = object_of(value)
        return cls(
            name=required(known, "name", text),
        )


@dataclass(frozen=True, slots=True)
class FoundEntity:
    """A subject or resource that was found."""

    type: str
    """The namespace of the identifier `type:id`."""
    id: str
    """Unique within its type."""
    properties: FoundEntityProperties | None = None
    """Only of the id `*`: whom a gate of the rules takes out of all subjects of the type."""

    @classmethod
    def decode(cls, value: Json) -> FoundEntity:
        known = object_of(value)
        return cls(
            type=required(known, "type", text),
            id=required(known, "id", text),
            properties=optional(known, "properties", FoundEntityProperties.decode),
        )


@dataclass(frozen=True, slots=True)
class FoundEntityProperties:
    """Only of the id `*`: whom a gate of the rules takes out of all subjects of the type."""

    excluded: list[str]
    """Ids of subjects in the place of this page that are not permitted."""

    @classmethod
    def decode(cls, value: Json) -> FoundEntityProperties:
        known = object_of(value)
        return cls(
            excluded=required(known, "excluded", list_of(text)),
        )


@dataclass(frozen=True, slots=True)
class Grant:
    """A stored relationship, unique per (subject, relation, object)."""

    grant_id: str
    """Opaque. A grant created again after its revocation has a new id."""
    subject: str
    """Who. `namespace:external_id`, split at the first colon, compared byte for byte. The namespace starts with a
    letter and has up to 64 letters, digits, `_`, `.` or `-`; the external id has 1 to 256 Unicode code points
    without control characters or white space. Only states have another subject: `*`.
    """
    relation: str
    """One of the built-in relations (owner, admin, manager, editor, commenter, viewer, member, guest, parent), or
    one that the rules of the tenant declare. The rules say what follows from it; without rules, nothing.
    """
    object: str
    """On what. `namespace:external_id`, split at the first colon, compared byte for byte. The namespace starts with
    a letter and has up to 64 letters, digits, `_`, `.` or `-`; the external id has 1 to 256 Unicode code points
    without control characters or white space.
    """
    created_at: datetime
    """When the grant was created. ISO 8601 in UTC with milliseconds."""
    expires_at: datetime | None
    """The grant holds until just before this moment; `null`: it never expires. ISO 8601 in UTC with milliseconds.
    """
    condition: GrantCondition | None = None
    """The grant holds only where this condition is met. Absent: it has none."""

    @classmethod
    def decode(cls, value: Json) -> Grant:
        known = object_of(value)
        return cls(
            grant_id=required(known, "grant_id", text),
            subject=required(known, "subject", text),
            relation=required(known, "relation", text),
            object=required(known, "object", text),
            created_at=required(known, "created_at", time),
            expires_at=nullable(known, "expires_at", time),
            condition=optional(known, "condition", GrantCondition.decode),
        )


@dataclass(frozen=True, slots=True)
class GrantCondition:
    """The grant holds only where this condition is met. Absent: it has none."""

    name: str
    """The name of a condition that the rules of the tenant declare."""
    context: Mapping[str, Any]
    """Values for parameters of the condition, at most 512 bytes as compact JSON. They take precedence over those
    that a call sends. For an int or uint, numbers beyond 2^53 are written as strings of digits.
    """

    @classmethod
    def decode(cls, value: Json) -> GrantCondition:
        known = object_of(value)
        return cls(
            name=required(known, "name", text),
            context=required(known, "context", mapping),
        )


@dataclass(frozen=True, slots=True)
class GrantList:
    """An answer of the service."""

    grants: list[Grant]
    """Ascending by the bytes of the relation, then of the object (or subject). With `on`: of the subject first."""
    next_cursor: str | None
    """The `cursor` of the next request; `null` at the end."""
    seq: int | None = None
    """Only with `on`: no grant of the page is as a later entry of the log made it."""

    @classmethod
    def decode(cls, value: Json) -> GrantList:
        known = object_of(value)
        return cls(
            grants=required(known, "grants", list_of(Grant.decode)),
            next_cursor=nullable(known, "next_cursor", cursor),
            seq=optional(known, "seq", integer),
        )


@dataclass(frozen=True, slots=True)
class Key:
    """An answer of the service."""

    key_id: str
    """Names the key; not secret."""
    name: str
    """For people; may be empty."""
    scopes: list[str]
    created_at: datetime
    """When the key was created. ISO 8601 in UTC with milliseconds."""
    expires_at: datetime | None
    """The key is refused from this moment on; `null`: never. ISO 8601 in UTC with milliseconds."""
    last_used_at: datetime | None
    """When the key was last used, to within a few minutes; `null`: no use is known. ISO 8601 in UTC with
    milliseconds.
    """

    @classmethod
    def decode(cls, value: Json) -> Key:
        known = object_of(value)
        return cls(
            key_id=required(known, "key_id", text),
            name=required(known, "name", text),
            scopes=required(known, "scopes", list_of(text)),
            created_at=required(known, "created_at", time),
            expires_at=nullable(known, "expires_at", time),
            last_used_at=nullable(known, "last_used_at", time),
        )


@dataclass(frozen=True, slots=True)
class KeyList:
    """An answer of the service."""

    keys: list[Key]
    next_cursor: str | None
    """The `cursor` of the next request; `null` at the end."""

    @classmethod
    def decode(cls, value: Json) -> KeyList:
        known = object_of(value)
        return cls(
            keys=required(known, "keys", list_of(Key.decode)),
            next_cursor=nullable(known, "next_cursor", cursor),
        )


@dataclass(frozen=True, slots=True)
class LogMoment:
    """The moment of which the answer is."""

    seq: int
    """A place in the log: the answer has every change up to it, and no other."""
    time: datetime
    """Grants that expire by then have expired. ISO 8601 in UTC with milliseconds."""

    @classmethod
    def decode(cls, value: Json) -> LogMoment:
        known = object_of(value)
        return cls(
            seq=required(known, "seq", integer),
            time=required(known, "time", time),
        )


@dataclass(frozen=True, slots=True)
class Namespace:
    """An answer of the service."""

    name: str
    """The part of subjects and objects before the first colon."""
    created_at: datetime
    """When it was created, explicitly or by the first grant that names it. ISO 8601 in UTC with milliseconds."""

    @classmethod
    def decode(cls, value: Json) -> Namespace:
        known = object_of(value)
        return cls(
            name=required(known, "name", text),
            created_at=required(known, "created_at", time),
        )


@dataclass(frozen=True, slots=True)
class NamespaceList:
    """An answer of the service."""

    namespaces: list[Namespace]

    @classmethod
    def decode(cls, value: Json) -> NamespaceList:
        known = object_of(value)
        return cls(
            namespaces=required(known, "namespaces", list_of(Namespace.decode)),
        )


@dataclass(frozen=True, slots=True)
class NamespaceRelation:
    """A relation on objects of a namespace."""

    namespace: str
    """The part of subjects and objects before the first colon."""
    relation: str
    """One of the built-in relations (owner, admin, manager, editor, commenter, viewer, member, guest, parent), or
    one that the rules of the tenant declare. The rules say what follows from it; without rules, nothing.
    """

    @classmethod
    def decode(cls, value: Json) -> NamespaceRelation:
        known = object_of(value)
        return cls(
            namespace=required(known, "namespace", text),
            relation=required(known, "relation", text),
        )


@dataclass(frozen=True, slots=True)
class ObjectList:
    """An answer of the service."""

    objects: list[str]
    """Ascending by the bytes of the object."""
    next_cursor: str | None
    """The `cursor` of the next request; `null` at the end."""

    @classmethod
    def decode(cls, value: Json) -> ObjectList:
        known = object_of(value)
        return cls(
            objects=required(known, "objects", list_of(text)),
            next_cursor=nullable(known, "next_cursor", cursor),
        )


@dataclass(frozen=True, slots=True)
class PageInfo:
    """Where the search goes on."""

    next_token: str
    """The `page.token` of the next request; empty at the end."""
    count: int
    """Results in this page."""

    @classmethod
    def decode(cls, value: Json) -> PageInfo:
        known = object_of(value)
        return cls(
            next_token=required(known, "next_token", text),
            count=required(known, "count", integer),
        )


@dataclass(frozen=True, slots=True)
class ReasonGrant:
    """A grant of a reason."""

    subject: str
    """Who. `namespace:external_id`, split at the first colon, compared byte for byte. The namespace starts with a
    letter and has up to 64 letters, digits, `_`, `.` or `-`; the external id has 1 to 256 Unicode code points
    without control characters or white space. Only states have another subject: `*`.
    """
    relation: str
    """One of the built-in relations (owner, admin, manager, editor, commenter, viewer, member, guest, parent), or
    one that the rules of the tenant declare. The rules say what follows from it; without rules, nothing.
    """
    object: str
    """On what. `namespace:external_id`, split at the first colon, compared byte for byte. The namespace starts with
    a letter and has up to 64 letters, digits, `_`, `.` or `-`; the external id has 1 to 256 Unicode code points
    without control characters or white space.
    """
    grant_id: str | None = None
    """Opaque. A grant created again after its revocation has a new id."""
    created_at: datetime | None = None
    """When the grant was created. ISO 8601 in UTC with milliseconds."""
    expires_at: datetime | None = None
    """The grant holds until just before this moment; `null`: it never expires. ISO 8601 in UTC with milliseconds.
    """
    condition: GrantCondition | None = None
    """The grant holds only where this condition is met. Absent: it has none."""
    condition_saw: Mapping[str, Any] | None = None
    """The values that its condition saw."""
    context_grant: bool | None = None
    """True: the call sent it."""
    excludes: ExcludedName | None = None
    """Of `excluded_by`: what the grant takes away from the subject."""

    @classmethod
    def decode(cls, value: Json) -> ReasonGrant:
        known = object_of(value)
        return cls(
            subject=required(known, "subject", text),
            relation=required(known, "relation", text),
            object=required(known, "object", text),
            grant_id=optional(known, "grant_id", text),
            created_at=optional(known, "created_at", time),
            expires_at=nullable(known, "expires_at", time),
            condition=optional(known, "condition", GrantCondition.decode),
            condition_saw=optional(known, "condition_saw", mapping),
            context_grant=optional(known, "context_grant", boolean),
            excludes=optional(known, "excludes", ExcludedName.decode),
        )


@dataclass(frozen=True, slots=True)
class Revocation:
    """A revocation of a bulk write."""

    revoked: bool
    """False: there was no such grant."""

    @classmethod
    def decode(cls, value: Json) -> Revocation:
        known = object_of(value)
        return cls(
            revoked=required(known, "revoked", boolean),
        )


@dataclass(frozen=True, slots=True)
class RevokeResult:
    """An answer of the service."""

    revoked: int
    """Grants that this call has revoked; of a dry run, would revoke."""
    complete: bool
    """Whether no grant that matches was left at that moment, or would be."""

    @classmethod
    def decode(cls, value: Json) -> RevokeResult:
        known = object_of(value)
        return cls(
            revoked=required(known, "revoked", integer),
            complete=required(known, "complete", boolean),
        )


@dataclass(frozen=True, slots=True)
class Rule:
    """On objects of the namespace, a subject with one of `any_of` has `name`. One rule per name."""

    namespace: str
    """The part of subjects and objects before the first colon."""
    name: str
    """A relation, built-in or own, whose own grants always count, or a name that is never granted."""
    any_of: list[RuleElement]

    @classmethod
    def decode(cls, value: Json) -> Rule:
        known = object_of(value)
        return cls(
            namespace=required(known, "namespace", text),
            name=required(known, "name", text),
            any_of=required(known, "any_of", list_of(text_or(RuleGate.decode))),
        )


@dataclass(frozen=True, slots=True)
class RuleGate:
    """Either `any_of` or `all_of`, and perhaps `but_not`. At most 5 lie inside of each other."""

    any_of: list[RuleElement] | None = None
    """At least one of these holds."""
    all_of: list[RuleElement] | None = None
    """Each of these holds."""
    but_not: list[RuleElement] | None = None
    """None of these holds."""

    @classmethod
    def decode(cls, value: Json) -> RuleGate:
        known = object_of(value)
        return cls(
            any_of=optional(known, "any_of", list_of(text_or(RuleGate.decode))),
            all_of=optional(known, "all_of", list_of(text_or(RuleGate.decode))),
            but_not=optional(known, "but_not", list_of(text_or(RuleGate.decode))),
        )


@dataclass(frozen=True, slots=True)
class RuleSet:
    """An answer of the service."""

    rules: list[Rule]
    groups: bool
    public: list[str]
    relations: list[str] | None = None
    """Relations of the tenant, which are granted like the built-in ones. Default: none."""
    states: list[str] | None = None
    """States of objects. A state is granted with the subject `*`, and holds for every subject of every namespace.
    No rule has its name, and it stands in no `types` and not behind `from`. Default: none.
    """
    conditions: list[ConditionDeclaration] | None = None
    """Conditions that grants may carry. Default: none."""
    types: list[TypeRestriction] | None = None
    """A relation of a namespace that is not named here may be granted to any subject. Default: none."""

    @classmethod
    def decode(cls, value: Json) -> RuleSet:
        known = object_of(value)
        return cls(
            rules=required(known, "rules", list_of(Rule.decode)),
            groups=required(known, "groups", boolean),
            public=required(known, "public", list_of(text)),
            relations=optional(known, "relations", list_of(text)),
            states=optional(known, "states", list_of(text)),
            conditions=optional(known, "conditions", list_of(ConditionDeclaration.decode)),
            types=optional(known, "types", list_of(TypeRestriction.decode)),
        )


@dataclass(frozen=True, slots=True)
class RulesPreview:
    """An answer of the service."""

    rule_set: RuleSet
    """The rules as they would stand."""
    revision: str
    """The revision that they would have."""
    current_revision: str
    """The revision of the present rules."""
    changed: bool
    """Whether the two revisions differ."""
    group_subjects: int
    """Subjects `ns:id#name` with a grant, whose grants become, or cease to be, ones to a group. 0 if `groups` stays
    as it is.
    """
    public_grants: int
    """Grants to `ns:*` that become, or cease to be, public: those of the namespaces that `public` gains or loses.
    """
    grants_not_followed: int
    """Grants that the rules could never follow: to a group without `groups`, or of a name that nobody can hold; to
    `ns:*` where `ns` is not public; to a group or `ns:*` where rules only follow the relation to entities, as
    `parent` in `viewer from parent`.
    """
    grants_outside_types: int
    """Grants that the types of the rules do not allow: they stay, and count, but can only be revoked."""
    ungranted: list[NamespaceRelation]
    """Relations on which rules rely (as an element, or after `from`), but of which no object of the namespace has a
    grant.
    """
    vanishing: list[VanishingName]
    """Names that the present rules define, and these do not: a check of one would be refused. Those that were asked
    about most recently come first.
    """
    access: AccessChanges
    """Who would lose and gain names of the present rules, each subject compared at one moment."""
    complete: bool
    """Whether all grants that matter to the counts were examined. If not, the counts are lower bounds, and a
    relation in `ungranted` may have grants.
    """
    scanned_grants: int
    """How many grants were examined; one that is examined for two of the counts counts twice."""
    scanned_grants_max: int
    """How many are examined at most; fewer if the store is slow."""

    @classmethod
    def decode(cls, value: Json) -> RulesPreview:
        known = object_of(value)
        return cls(
            rule_set=required(known, "rule_set", RuleSet.decode),
            revision=required(known, "revision", text),
            current_revision=required(known, "current_revision", text),
            changed=required(known, "changed", boolean),
            group_subjects=required(known, "group_subjects", integer),
            public_grants=required(known, "public_grants", integer),
            grants_not_followed=required(known, "grants_not_followed", integer),
            grants_outside_types=required(known, "grants_outside_types", integer),
            ungranted=required(known, "ungranted", list_of(NamespaceRelation.decode)),
            vanishing=required(known, "vanishing", list_of(VanishingName.decode)),
            access=required(known, "access", AccessChanges.decode),
            complete=required(known, "complete", boolean),
            scanned_grants=required(known, "scanned_grants", integer),
            scanned_grants_max=required(known, "scanned_grants_max", integer),
        )


@dataclass(frozen=True, slots=True)
class RulesVersion:
    """A version of the rules: who changed them, and when."""

    version: int
    """Its number: 1 for the first change of the rules, without gaps."""
    revision: str
    """The revision of its rules. Versions with the same rules have the same one."""
    at: datetime
    """When it was decided. ISO 8601 in UTC with milliseconds."""
    actor: str
    """The id of a key, or `operator:` and a name."""
    request_id: str
    """The request that wrote it."""
    added: int
    """How many rules, conditions, types and settings are new, or differ from the version before."""
    removed: int
    """How many of those of the version before are gone, or differ."""

    @classmethod
    def decode(cls, value: Json) -> RulesVersion:
        known = object_of(value)
        return cls(
            version=required(known, "version", integer),
            revision=required(known, "revision", text),
            at=required(known, "at", time),
            actor=required(known, "actor", text),
            request_id=required(known, "request_id", text),
            added=required(known, "added", integer),
            removed=required(known, "removed", integer),
        )


@dataclass(frozen=True, slots=True)
class RulesVersionList:
    """An answer of the service."""

    versions: list[RulesVersion]
    """The newest 100, from the newest back."""

    @classmethod
    def decode(cls, value: Json) -> RulesVersionList:
        known = object_of(value)
        return cls(
            versions=required(known, "versions", list_of(RulesVersion.decode)),
        )


@dataclass(frozen=True, slots=True)
class SubjectList:
    """An answer of the service."""

    subjects: list[str]
    """Ascending by the bytes of the subject."""
    next_cursor: str | None
    """The `cursor` of the next request; `null` at the end."""
    excluded: list[str] | None = None
    """Under rules with gates: subjects whom a gate excludes, although `ns:*` of their namespace, or `*`, holds the
    relation; `ns:*` among them stands for every subject of its namespace. They lie in the range of the page, and
    count against its limit. Absent: there are none in it.
    """

    @classmethod
    def decode(cls, value: Json) -> SubjectList:
        known = object_of(value)
        return cls(
            subjects=required(known, "subjects", list_of(text)),
            next_cursor=nullable(known, "next_cursor", cursor),
            excluded=optional(known, "excluded", list_of(text)),
        )


@dataclass(frozen=True, slots=True)
class SubjectSets:
    """An answer of the service."""

    subjects: list[str]
    """The subject, `ns:*` and `*` where their grants are also its own, and the groups in which it is."""
    held: list[str]
    """`container#name`: what it holds on containers, of what the join asks."""
    perhaps: list[str]
    """Sets of which a parameter is missing. In no other list."""
    own: str
    """The `object#name` that the subject is itself. Empty: none."""
    tenant_id: str
    """The tenant. A mirror of its grants is joined with no other."""
    revision: str
    """That of the rules. The join must have the same."""
    at: LogMoment
    """The moment of which the answer is."""
    through: int
    """A place in the log up to `at.seq`, after which nothing has changed that the join mirrors: a mirror that has
    it is complete for this answer.
    """

    @classmethod
    def decode(cls, value: Json) -> SubjectSets:
        known = object_of(value)
        return cls(
            subjects=required(known, "subjects", list_of(text)),
            held=required(known, "held", list_of(text)),
            perhaps=required(known, "perhaps", list_of(text)),
            own=required(known, "own", text),
            tenant_id=required(known, "tenant_id", text),
            revision=required(known, "revision", text),
            at=required(known, "at", LogMoment.decode),
            through=required(known, "through", integer),
        )


@dataclass(frozen=True, slots=True)
class Tuple:
    """A relationship. Unknown fields are refused."""

    subject: str
    """Who. `namespace:external_id`, split at the first colon, compared byte for byte. The namespace starts with a
    letter and has up to 64 letters, digits, `_`, `.` or `-`; the external id has 1 to 256 Unicode code points
    without control characters or white space. Only states have another subject: `*`.
    """
    relation: str
    """One of the built-in relations (owner, admin, manager, editor, commenter, viewer, member, guest, parent), or
    one that the rules of the tenant declare. The rules say what follows from it; without rules, nothing.
    """
    object: str
    """On what. `namespace:external_id`, split at the first colon, compared byte for byte. The namespace starts with
    a letter and has up to 64 letters, digits, `_`, `.` or `-`; the external id has 1 to 256 Unicode code points
    without control characters or white space.
    """

    @classmethod
    def decode(cls, value: Json) -> Tuple:
        known = object_of(value)
        return cls(
            subject=required(known, "subject", text),
            relation=required(known, "relation", text),
            object=required(known, "object", text),
        )


@dataclass(frozen=True, slots=True)
class TypeRestriction:
    """To which subjects the relation may be granted on objects of the namespace."""

    namespace: str
    """The part of subjects and objects before the first colon."""
    relation: str
    subjects: list[str]
    """Each `NAMESPACE`, `NAMESPACE:*` or, for groups, `NAMESPACE#NAME`; with ` with CONDITION` behind it, grants to
    them carry the condition, without, they carry none.
    """

    @classmethod
    def decode(cls, value: Json) -> TypeRestriction:
        known = object_of(value)
        return cls(
            namespace=required(known, "namespace", text),
            relation=required(known, "relation", text),
            subjects=required(known, "subjects", list_of(text)),
        )


@dataclass(frozen=True, slots=True)
class VanishingName:
    """A name that checks can no longer ask about."""

    name: str
    """The name."""
    asked_at: datetime | None
    """When a key of the tenant last asked about the name, in a check or a listing, to the minute; `null`: not in
    the last day, as far as is known. ISO 8601 in UTC with milliseconds.
    """

    @classmethod
    def decode(cls, value: Json) -> VanishingName:
        known = object_of(value)
        return cls(
            name=required(known, "name", text),
            asked_at=nullable(known, "asked_at", time),
        )


@dataclass(frozen=True, slots=True)
class WrittenGrant:
    """A grant of a bulk write."""

    grant_id: str
    """Opaque. A grant created again after its revocation has a new id."""
    subject: str
    """Who. `namespace:external_id`, split at the first colon, compared byte for byte. The namespace starts with a
    letter and has up to 64 letters, digits, `_`, `.` or `-`; the external id has 1 to 256 Unicode code points
    without control characters or white space. Only states have another subject: `*`.
    """
    relation: str
    """One of the built-in relations (owner, admin, manager, editor, commenter, viewer, member, guest, parent), or
    one that the rules of the tenant declare. The rules say what follows from it; without rules, nothing.
    """
    object: str
    """On what. `namespace:external_id`, split at the first colon, compared byte for byte. The namespace starts with
    a letter and has up to 64 letters, digits, `_`, `.` or `-`; the external id has 1 to 256 Unicode code points
    without control characters or white space.
    """
    created_at: datetime
    """When the grant was created. ISO 8601 in UTC with milliseconds."""
    expires_at: datetime | None
    """The grant holds until just before this moment; `null`: it never expires. ISO 8601 in UTC with milliseconds.
    """
    created: bool
    """False: the grant existed already; at most its expiry or its condition was changed."""
    condition: GrantCondition | None = None
    """The grant holds only where this condition is met. Absent: it has none."""

    @classmethod
    def decode(cls, value: Json) -> WrittenGrant:
        known = object_of(value)
        return cls(
            grant_id=required(known, "grant_id", text),
            subject=required(known, "subject", text),
            relation=required(known, "relation", text),
            object=required(known, "object", text),
            created_at=required(known, "created_at", time),
            expires_at=nullable(known, "expires_at", time),
            created=required(known, "created", boolean),
            condition=optional(known, "condition", GrantCondition.decode),
        )


RuleElement: TypeAlias = Union[str, RuleGate]


class _AccessActionDict(TypedDict):
    name: str


class AccessActionDict(_AccessActionDict, total=False):
    """What the subject would do. Unknown fields are ignored."""

    properties: Mapping[str, Any] | None


class _AccessEntityDict(TypedDict):
    type: str
    id: str


class AccessEntityDict(_AccessEntityDict, total=False):
    """A subject or a resource: the identifier `type:id`. Unknown fields are ignored."""

    properties: Mapping[str, Any] | None


class _ActionSearchDict(TypedDict):
    subject: GivenEntityDict
    resource: GivenEntityDict


class ActionSearchDict(_ActionSearchDict, total=False):
    """Which actions may the subject perform on the resource? An `action` is ignored."""

    context: Mapping[str, Any] | None
    page: SearchPageDict | None


class ConditionDict(TypedDict):
    """A condition on the state before the call."""

    subject: str
    relation: str
    object: str
    exists: bool


class ConditionDeclarationDict(TypedDict):
    """What grants may depend on."""

    name: str
    parameters: Mapping[str, Any]
    expression: str


class _ContextGrantDict(TypedDict):
    subject: str
    relation: str
    object: str


class ContextGrantDict(_ContextGrantDict, total=False):
    """A grant that counts for one call."""

    condition: GrantConditionRequestDict | None


class _EvaluationRequestDict(TypedDict):
    subject: AccessEntityDict
    action: AccessActionDict
    resource: AccessEntityDict


class EvaluationRequestDict(_EvaluationRequestDict, total=False):
    """May the subject perform the action on the resource? Unknown fields are ignored."""

    context: Mapping[str, Any] | None


class _GivenEntityDict(TypedDict):
    type: str
    id: str


class GivenEntityDict(_GivenEntityDict, total=False):
    """A subject or resource that is given."""

    properties: Mapping[str, Any] | None


class _GrantConditionRequestDict(TypedDict):
    name: str


class GrantConditionRequestDict(_GrantConditionRequestDict, total=False):
    """A condition under which a grant holds."""

    context: Mapping[str, Any]


class _GrantRequestDict(TypedDict):
    subject: str
    relation: str
    object: str


class GrantRequestDict(_GrantRequestDict, total=False):
    """A relationship, until when it holds, and on which condition. Unknown fields are refused."""

    expires_at: str | None
    condition: GrantConditionRequestDict | None


class _JoinQueryDict(TypedDict):
    namespace: str
    name: str


class JoinQueryDict(_JoinQueryDict, total=False):
    """A request."""

    deep: list[str]


class QuestionDict(TypedDict):
    """A relationship, granted or following from the rules. Unknown fields are refused."""

    subject: str
    relation: str
    object: str


class _ResourceSearchDict(TypedDict):
    subject: GivenEntityDict
    action: AccessActionDict
    resource: WantedTypeDict


class ResourceSearchDict(_ResourceSearchDict, total=False):
    """On which resources of a type may the subject perform the action?"""

    context: Mapping[str, Any] | None
    page: SearchPageDict | None


class RuleDict(TypedDict):
    """On objects of the namespace, a subject with one of `any_of` has `name`. One rule per name."""

    namespace: str
    name: str
    any_of: list[RuleElementDict]


class RuleGateDict(TypedDict, total=False):
    """Either `any_of` or `all_of`, and perhaps `but_not`. At most 5 lie inside of each other."""

    any_of: list[RuleElementDict]
    all_of: list[RuleElementDict]
    but_not: list[RuleElementDict]


class _RuleSetRequestDict(TypedDict):
    rules: list[RuleDict]


class RuleSetRequestDict(_RuleSetRequestDict, total=False):
    """Unknown fields are refused."""

    relations: list[str]
    states: list[str]
    conditions: list[ConditionDeclarationDict]
    types: list[TypeRestrictionDict]
    groups: bool
    public: list[str]
    outside_types: str


class SearchPageDict(TypedDict, total=False):
    """Which page. Requests for further pages repeat the first one with a token; the limit may be left out."""

    token: str | None
    limit: int | None
    properties: Mapping[str, Any] | None


class _SetsRequestDict(TypedDict):
    subject: str
    join: JoinQueryDict


class SetsRequestDict(_SetsRequestDict, total=False):
    """A request."""

    context: Mapping[str, Any]
    context_grants: list[ContextGrantDict]
    perhaps: bool


class _SubjectSearchDict(TypedDict):
    subject: WantedTypeDict
    action: AccessActionDict
    resource: GivenEntityDict


class SubjectSearchDict(_SubjectSearchDict, total=False):
    """Which subjects of a type may perform the action on the resource?"""

    context: Mapping[str, Any] | None
    page: SearchPageDict | None


class TupleDict(TypedDict):
    """A relationship. Unknown fields are refused."""

    subject: str
    relation: str
    object: str


class TypeRestrictionDict(TypedDict):
    """To which subjects the relation may be granted on objects of the namespace."""

    namespace: str
    relation: str
    subjects: list[str]


class _WantedTypeDict(TypedDict):
    type: str


class WantedTypeDict(_WantedTypeDict, total=False):
    """What is searched for. An `id` is ignored."""

    properties: Mapping[str, Any] | None


RuleElementDict: TypeAlias = Union[str, RuleGateDict]
