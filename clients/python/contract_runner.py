"""The runner of the contract of the clients (clients/contract/README.md): performs the steps of cases and reports the
outcomes. It judges nothing. With `--sync`, the client is the one without an event loop.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import logging
import re
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from datetime import datetime, timezone
from typing import Any

import grantd

AT_ONCE = 8
THREADS = 64
IS_SYNC = "--sync" in sys.argv
# Log entries of the current case, whose tasks and threads inherit this variable.
SHOWN: ContextVar[dict[str, list[str]]] = ContextVar("SHOWN")

Json = Any


def plain(value: object) -> Json:
    """The JSON of a result, with times as the API writes them."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, datetime):
        return value.astimezone(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list) else value


def error_outcome(error: grantd.GrantdError) -> Json:
    names = ("type", "status", "retryable", "request_id", "detail", "key_id", "earliest")
    return {"error": {**{name: getattr(error, name) for name in names}, "text": str(error)}}


class Caller:
    """Calls either client in the same way."""

    def __init__(self, client: Any) -> None:
        self.client = client

    async def call(self, method: str, *args: Any, **named: Any) -> Any:
        if IS_SYNC:
            return await asyncio.to_thread(getattr(self.client, method), *args, **named)
        return await getattr(self.client, method)(*args, **named)

    async def items(self, take: int, method: str, *args: Any, **named: Any) -> list[Any]:
        found: list[Any] = []
        iteration = getattr(self.client, method)(*args, **named)
        if IS_SYNC:
            return await asyncio.to_thread(taken, iteration, take)
        many: AsyncIterator[Any] = iteration
        async for item in many:
            found.append(item)
            if len(found) == take:
                break
        await iteration.aclose()
        return found


def taken(iteration: Iterator[Any], take: int) -> list[Any]:
    found = []
    for item in iteration:
        found.append(item)
        if len(found) == take:
            break
    return found


LISTS = {
    "listObjects": "list_objects",
    "listSubjects": "list_subjects",
    "listGrants": "list_grants",
    "listKeys": "list_keys",
}
WHOLE_LISTS = {"listNamespaces": "list_namespaces", "listRulesVersions": "list_rules_versions"}
SEARCHES = {
    "searchSubjects": "search_subjects",
    "searchResources": "search_resources",
    "searchActions": "search_actions",
}
CALLS: dict[str, Callable[[dict[str, Any]], tuple[str, dict[str, Any]]]] = {
    "checkBulk": lambda args: ("check_bulk", {"questions": args.pop("checks"), **args}),
    "createGrant": lambda args: ("create_grant", args),
    "revokeGrant": lambda args: ("revoke_grant", args),
    "writeBulk": lambda args: (
        "write_bulk",
        {("conditions" if name == "if" else name): part for name, part in args.items()},
    ),
    "revokeGrants": lambda args: ("revoke_grants", args),
    "createNamespace": lambda args: ("create_namespace", args),
    "createKey": lambda args: ("create_key", args),
    "revokeKey": lambda args: ("revoke_key", args),
    "evaluate": lambda args: ("evaluate", {"request": args}),
    "evaluateMany": lambda args: ("evaluate_many", {"request": args}),
    "readJoin": lambda args: ("read_join", args),
    "readSets": lambda args: ("read_sets", {**args.pop("join"), **args}),
    "readOpenapi": lambda args: ("read_openapi", {}),
}


def rules_json(rules: grantd.Rules | None) -> Json:
    return None if rules is None else {"rule_set": plain(rules.rule_set), "revision": rules.revision}


def page_json(page: grantd.Page[Any]) -> Json:
    outcome = {"items": plain(page.items), "cursor": page.cursor, "seq": page.seq}
    if page.excluded:
        outcome["excluded"] = page.excluded
    return {"page": outcome if page.feed_cursor is None else {**outcome, "feed_cursor": page.feed_cursor}}


# Their methods take the object of the request under another name than its field has.
NAMED_OBJECT = ("check", "createGrant", "revokeGrant", "revokeGrants", "listSubjects", "listGrants")


async def perform(caller: Caller, step: dict[str, Any], args: dict[str, Any]) -> Json:
    if step["call"] in NAMED_OBJECT:
        args = {("object_" if name == "object" else name): value for name, value in args.items()}
    call, page, take = step["call"], step.get("page", False), step.get("take", 0)
    if call == "check":
        explain = args.pop("explain", False)
        result = await caller.call("explain" if explain else "check", **args)
        return {"value": plain(result)}
    if call == "snapshotGrants":
        return page_json(await caller.call("snapshot_grants_page", **args))
    if call in LISTS and page:
        return page_json(await caller.call(f"{LISTS[call]}_page", **args))
    if call in LISTS:
        return {"items": plain(await caller.items(take, LISTS[call], **args))}
    if call in SEARCHES and page:
        return page_json(await caller.call(f"{SEARCHES[call]}_page", args))
    if call in SEARCHES:
        return {"items": plain(await caller.items(take, SEARCHES[call], args))}
    if call in WHOLE_LISTS:
        items = plain(await caller.call(WHOLE_LISTS[call]))
        return {"page": {"items": items, "cursor": None}} if page else {"items": items}
    if call == "listChanges":
        action = args.pop("action", None)
        args |= {"checkpoints": True} if args.pop("checkpoints", None) == "batch" else {}
        args["actions"] = [] if action is None else action.split(",")
        if page:
            return page_json(await caller.call("changes_page", **args))
        return {"items": plain(await caller.items(take, "changes", **args))}
    if call in ("readRules", "readRulesVersion") and args.pop("text", False):
        return {"value": plain(await caller.call("read_rules_text", **args))}
    if call == "readRules" and "unless_revision" in args:
        unless = args.pop("unless_revision")
        return {"value": rules_json(await caller.call("read_rules_unless", unless, **args))}
    if call == "readRules":
        return {"value": rules_json(await caller.call("read_rules", **args))}
    if call == "readRulesVersion":
        return {"value": rules_json(await caller.call("read_rules_version", **args))}
    if call == "writeRules":
        is_preview = args.pop("dry_run", False)
        given = {"rules": args.pop("rule_set"), **args}
        if is_preview:
            return {"value": plain(await caller.call("preview_rules", **given))}
        return {"value": rules_json(await caller.call("write_rules", **given))}
    method, named = CALLS[call](args)
    return {"value": plain(await caller.call(method, **named))}


class Run:
    def __init__(self, case: dict[str, Any]) -> None:
        self.case = case
        self.settings = case.get("client") or {}
        self.callers: dict[str, Caller] = {}
        self.saved: dict[str, str] = {}

    @property
    def gathers(self) -> bool:
        return bool(self.settings.get("batching", True))

    def caller(self, key: str | None) -> Caller:
        chosen = key or self.case.get("key") or ""
        if chosen not in self.callers:
            options: dict[str, Any] = {}
            if "timeout_ms" in self.settings:
                options["timeout"] = self.settings["timeout_ms"] / 1000
            if "silence_ms" in self.settings:
                options["silence"] = self.settings["silence_ms"] / 1000
            for name in ("backoff_first", "backoff_max"):
                if f"{name}_ms" in self.settings:
                    options[name] = self.settings[f"{name}_ms"] / 1000
            # The others are passed on as they are.
            mapped = ("timeout_ms", "silence_ms", "backoff_first_ms", "backoff_max_ms", "batching")
            options.update({name: value for name, value in self.settings.items() if name not in mapped})
            if not IS_SYNC:
                options["batching"] = self.gathers
            self.callers[chosen] = Caller(self.client(chosen, options))
        return self.callers[chosen]

    def client(self, key: str, options: dict[str, Any]) -> Any:
        return (grantd.Grantd if IS_SYNC else grantd.AsyncGrantd)(self.case.get("url"), key or None, **options)

    def fill(self, value: Json) -> Json:
        if isinstance(value, str):
            return re.sub(r"\$\{(\w+)\}", lambda match: self.saved.get(match[1], match[0]), value)
        if isinstance(value, list):
            return [self.fill(item) for item in value]
        if isinstance(value, dict) and "$bytes" in value:
            return bytes.fromhex(value["$bytes"]).decode("utf-8", "surrogateescape")
        if isinstance(value, dict) and "$members" in value:
            return {self.fill(name): self.fill(item) for name, item in value["$members"]}
        return {name: self.fill(item) for name, item in value.items()} if isinstance(value, dict) else value

    async def one(self, caller: Caller, step: dict[str, Any], args: Json) -> Json:
        timeout_ms = (step.get("options") or {}).get("timeout_ms")
        if timeout_ms is not None:
            caller = Caller(caller.client.with_timeout(timeout_ms / 1000))
        try:
            return await perform(caller, step, self.fill(args))
        except grantd.GrantdError as error:
            return error_outcome(error)
        except TypeError as error:
            return {"refused": str(error)}

    async def each(self, caller: Caller, step: dict[str, Any]) -> list[Json]:
        # Threads have no common moment, so gathered checks are those of check_each.
        if IS_SYNC and self.gathers and step["call"] == "check":
            questions = [self.fill(args) for args in step["each"]]
            answers = await caller.call("check_each", questions)
            return [
                error_outcome(each) if isinstance(each, grantd.GrantdError) else {"value": each} for each in answers
            ]
        return list(await asyncio.gather(*(self.one(caller, step, args) for args in step["each"])))

    async def step(self, step: dict[str, Any]) -> Json:
        key = step.get("key")
        try:
            caller = self.caller(None if key is None else self.fill(key))
        except (TypeError, ValueError) as error:
            return {"refused": str(error)}
        outcome: Json
        if "each" in step:
            outcome = {"each": await self.each(caller, step)}
        elif "repeat" in step:
            outcome = {"each": [await self.one(caller, step, step["args"]) for _ in range(step["repeat"])]}
        else:
            outcome = await self.one(caller, step, step["args"])
        for name, path in (step.get("save") or {}).items():
            found = outcome
            for part in path.split("."):
                found = found[int(part)] if isinstance(found, list) else found[part]
            self.saved[name] = str(found)
        return outcome

    async def report(self) -> Json:
        shown: dict[str, list[str]] = {"warnings": [], "log": []}
        SHOWN.set(shown)
        try:
            outcomes = [await self.step(step) for step in self.case["steps"]]
            return {"name": self.case["name"], "outcomes": outcomes, **shown}
        except Exception as error:
            return {"name": self.case["name"], "failure": repr(error)}


class Shown(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        SHOWN.get()["log" if record.levelno == logging.DEBUG else "warnings"].append(record.getMessage())


async def main() -> None:
    logging.getLogger("grantd").addHandler(Shown())
    logging.getLogger("grantd").setLevel(logging.DEBUG)
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(THREADS))
    slots = asyncio.Semaphore(AT_ONCE)

    async def run(line: str) -> None:
        async with slots:
            report = await Run(json.loads(line)).report()
            print(json.dumps(report), flush=True)

    await asyncio.gather(*(run(line) for line in filter(None, sys.stdin.read().split("\n"))))


asyncio.run(main())
