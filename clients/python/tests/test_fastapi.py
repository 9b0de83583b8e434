"""The dependency of FastAPI: a route runs only after a yes."""

from __future__ import annotations

import asyncio

import httpx
from fastapi import FastAPI, Request
from handlers import unavailable

from grantd import GrantdError
from grantd.fastapi import requires
from grantd.testing import GrantdService


def test_a_route_runs_only_after_a_yes(service: GrantdService) -> None:
    asyncio.run(run(service))


async def run(service: GrantdService) -> None:
    client = service.async_client(retry_budget=0)
    errors: list[str] = []

    def note(_: Request, error: GrantdError) -> None:
        errors.append(error.type)

    viewer = requires(
        "viewer",
        lambda request: f"document:{request.path_params['document_id']}",
        client=client,
        subject_of=lambda request: request.headers.get("x-subject"),
        on_error=note,
    )
    app = FastAPI()

    @app.get("/documents/{document_id}", dependencies=[viewer])
    async def read_document(document_id: str) -> str:
        return document_id

    await client.create_grant("user:ada", "viewer", "document:plan")
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://app.test") as browser:

        async def status(path: str, subject: str | None) -> int:
            headers = {} if subject is None else {"x-subject": subject}
            return (await browser.get(path, headers=headers)).status_code

        assert await status("/documents/plan", "user:ada") == 200
        assert await status("/documents/plan", "user:bob") == 403
        assert await status("/documents/plan", None) == 401
        assert await status("/documents/a%20plan", "user:ada") == 404
        assert await status("/documents/plan", "ill-formed") == 403
        with unavailable(client):
            assert await status("/documents/plan", "user:ada") == 503
    assert errors == ["invalid-object", "invalid-subject", "unavailable"]
