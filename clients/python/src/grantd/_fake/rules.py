"""What follows from grants under rules: a search from the name on the object, back to the subjects that hold it."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

RELATIONS = ("owner", "admin", "manager", "editor", "commenter", "viewer", "member", "guest", "parent")
_GROUP = re.compile(r"([^:]*:.+)#([A-Za-z][A-Za-z0-9_.-]{0,63})", re.DOTALL)

Tuple: TypeAlias = tuple[str, str, str]
"""A subject, a relation and an object."""
Fact: TypeAlias = tuple[str, str]
"""A name on an object."""


def namespace_of(identifier: str) -> str:
    return identifier.split(":", 1)[0]


def revision_of(rules: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(rules).encode()).hexdigest()[:32]


@dataclass(frozen=True)
class FakeRule:
    namespace: str
    name: str
    any_of: tuple[str, ...]


@dataclass(frozen=True)
class FakeRules:
    rules: tuple[FakeRule, ...] = ()
    groups: bool = False
    public: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        rules = [{"namespace": r.namespace, "name": r.name, "any_of": list(r.any_of)} for r in self.rules]
        return {"rules": rules, "groups": self.groups, "public": list(self.public)}

    @property
    def revision(self) -> str:
        return revision_of(self.to_json())

    def defines(self, name: str) -> bool:
        return any(rule.name == name for rule in self.rules)

    def knows(self, name: str) -> bool:
        return name in RELATIONS or self.defines(name)

    def group_of(self, subject: str) -> Fact | None:
        match = _GROUP.fullmatch(subject) if self.groups else None
        return None if match is None else (match[2], match[1])

    def is_wildcard(self, subject: str) -> bool:
        namespace = namespace_of(subject)
        return subject == f"{namespace}:*" and namespace in self.public


def is_group_text(subject: str) -> bool:
    return _GROUP.fullmatch(subject) is not None


@dataclass(frozen=True)
class Step:
    """A fact from which the wanted one follows: through the grant, if any, and then through the previous step."""

    fact: Fact
    grant: Tuple | None = None
    source: Step | None = field(default=None, repr=False)

    def chain(self, first: Tuple | None) -> list[Tuple]:
        grants = [] if first is None else [first]
        step: Step | None = self
        while step is not None:
            if step.grant is not None:
                grants.append(step.grant)
            step = step.source
        return grants


def search(rules: FakeRules, tuples: Iterable[Tuple], wanted: Fact, visit: Callable[[Step], bool]) -> None:
    """Visits every fact from which the wanted one follows, those with the fewest grants between first, until `visit`
    returns True."""
    ordered = sorted(tuples, key=lambda each: (each[1], each[2], each[0]))
    seen: set[Fact] = set()
    now = [Step(wanted)]
    while now:
        following: list[Step] = []
        for step in now:
            if step.fact in seen:
                continue
            seen.add(step.fact)
            if visit(step):
                return
            name, target = step.fact
            for rule in rules.rules:
                if rule.name != name or rule.namespace != namespace_of(target):
                    continue
                for element in rule.any_of:
                    other, _, relation = element.partition(" from ")
                    if relation == "":
                        # It costs no grant, so it is visited in this very round.
                        now.append(Step((other, target), None, step))
                        continue
                    for each in ordered:
                        is_entity = rules.group_of(each[0]) is None and not rules.is_wildcard(each[0])
                        if each[1:] == (relation, target) and is_entity:
                            following.append(Step((other, each[0]), each, step))
            for each in ordered:
                group = rules.group_of(each[0])
                if group is not None and each[1:] == (name, target):
                    following.append(Step(group, each, step))
        now = following


def holds(rules: FakeRules, tuples: Iterable[Tuple], question: Tuple) -> list[Tuple] | None:
    """A shortest chain of grants from the subject to the object, or None."""
    known = set(tuples)
    subject, name, target = question
    own = rules.group_of(subject)
    standing_for = [subject]
    wildcard = f"{namespace_of(subject)}:*"
    if own is None and rules.is_wildcard(wildcard):
        standing_for.append(wildcard)
    found: list[list[Tuple]] = []

    def visit(step: Step) -> bool:
        if own is not None and own == step.fact:
            found.append(step.chain(None))
            return True
        for by in standing_for:
            if (by, *step.fact) in known:
                found.append(step.chain((by, *step.fact)))
                return True
        return False

    search(rules, known, (name, target), visit)
    return found[0] if found else None


def subjects_of(
    rules: FakeRules, tuples: Iterable[Tuple], wanted: Fact, *, direct: bool = False, with_self: bool = False
) -> list[str]:
    """The subjects that hold the name on the object, ascending, including groups from which it follows; its own only
    `with_self`."""
    known = list(tuples)
    found: set[str] = set()

    def visit(step: Step) -> bool:
        name, target = step.fact
        if rules.groups and not direct and (with_self or target != wanted[1]):
            found.add(f"{target}#{name}")
        found.update(subject for subject, relation, object_ in known if (relation, object_) == step.fact)
        return direct

    search(rules, known, wanted, visit)
    return sorted(found, key=lambda each: each.encode())


def objects_of(rules: FakeRules, tuples: Iterable[Tuple], subject: str, name: str, direct: bool) -> list[str]:
    """The objects on which the subject holds the name, ascending."""
    known = set(tuples)
    own = rules.group_of(subject)
    candidates = {each[2] for each in known}
    if own is not None and not direct:
        candidates.add(own[1])
    found = [
        each
        for each in candidates
        if (subject, name, each) in known or (not direct and holds(rules, known, (subject, name, each)) is not None)
    ]
    return sorted(found, key=lambda each: each.encode())
