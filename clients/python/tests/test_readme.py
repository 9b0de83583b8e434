"""The code of the README runs, each block on a service of its own."""

from __future__ import annotations

import asyncio
import inspect
import re
import types
from pathlib import Path

import pytest

import grantd
from grantd.testing import FakeGrantd

README = (Path(__file__).parent.parent / "README.md").read_text()
BLOCKS = re.findall(r"^```python\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def test_it_has_blocks() -> None:
    assert len(BLOCKS) >= 9


@pytest.mark.parametrize("block", BLOCKS)
def test_a_block_runs(block: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakeGrantd()
    client = fake.client()
    client.create_grant("user:ada", "viewer", "document:plan")
    # Blocks that make a client get one of the fake.
    monkeypatch.setattr(grantd, "Grantd", lambda *_, **options: fake.client(**options))
    monkeypatch.setattr(grantd, "AsyncGrantd", lambda *_, **options: fake.async_client(**options))
    known = {"client": client, "fake": fake, "url": "https://grantd.example", "key": fake.key}
    code = compile(block, "README.md", "exec", flags=__import__("ast").PyCF_ALLOW_TOP_LEVEL_AWAIT)
    if not code.co_flags & inspect.CO_COROUTINE:
        exec(code, known)
        return

    async def run() -> None:
        await types.FunctionType(code, {**known, "client": fake.async_client()})()

    asyncio.run(run())
