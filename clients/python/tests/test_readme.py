"""The code of the README runs, each block on a tenant of its own."""

from __future__ import annotations

import asyncio
import inspect
import re
import types
from pathlib import Path

import pytest

import grantd
from grantd import AsyncGrantd, Grantd
from grantd.testing import GrantdService

README = (Path(__file__).parent.parent / "README.md").read_text()
BLOCKS = re.findall(r"^```python\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def test_it_has_blocks() -> None:
    assert len(BLOCKS) >= 9


# Blocks that make a client get one of the service. No proxy of an example exists.
ELSEWHERE = {"proxy": None, "ssl_context": None}


@pytest.mark.parametrize("block", BLOCKS)
def test_a_block_runs(block: str, service: GrantdService, monkeypatch: pytest.MonkeyPatch) -> None:
    key = service.new_key()
    client = service.client(key=key)
    client.create_grant("user:ada", "viewer", "document:plan")
    monkeypatch.setenv("GRANTD_TESTING_URL", service.url)
    for name, kind in (("Grantd", Grantd), ("AsyncGrantd", AsyncGrantd)):
        monkeypatch.setattr(grantd, name, lambda *_, kind=kind, **more: kind(service.url, key, **{**more, **ELSEWHERE}))
    known = {"client": client, "url": "https://grantd.example", "key": key}
    code = compile(block, "README.md", "exec", flags=__import__("ast").PyCF_ALLOW_TOP_LEVEL_AWAIT)
    if not code.co_flags & inspect.CO_COROUTINE:
        exec(code, known)
        return

    async def run() -> None:
        await types.FunctionType(code, {**known, "client": service.async_client(key=key)})()

    asyncio.run(run())
