"""Guards routes of FastAPI with checks. It fails closed: a route runs only after the service has said yes.

viewer = requires("viewer", document_of, client=client, subject_of=subject_of)

@app.get("/documents/{document_id}", dependencies=[viewer])
async def read_document(document_id: str) -> str: ...
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import Depends, HTTPException, Request

from ._async_client import AsyncGrantd
from ._errors import GrantdError
from ._guard import FORBIDDEN, refusal_after, refusal_before


def requires(
    relation: str,
    object_of: Callable[[Request], str | None],
    *,
    client: AsyncGrantd | Callable[[Request], AsyncGrantd],
    subject_of: Callable[[Request], str | Awaitable[str | None] | None],
    on_error: Callable[[Request, GrantdError], None] | None = None,
) -> Any:
    """A dependency that lets a request through if its subject has the relation, or the derived name, on the object.

    Otherwise the response is a 401 if there is no subject, a 403 if the check says no or the subject cannot be the name
    of one, a 404 if the request is about no object, or about what cannot be the name of one, and a 503 if there is no
    answer.

    subject_of: the authenticated subject of a request, such as "user:ada"; may be a coroutine function.
    on_error: called with the error of a failed check, before the response.
    """

    async def guard(request: Request) -> None:
        found = subject_of(request)
        subject = await found if inspect.isawaitable(found) else found
        about = object_of(request)
        refusal = refusal_before(subject, about)
        if refusal is not None:
            raise HTTPException(refusal)
        chosen = client if isinstance(client, AsyncGrantd) else client(request)
        try:
            allowed = await chosen.check(str(subject), relation, str(about))
        except GrantdError as error:
            if on_error is not None:
                on_error(request, error)
            raise HTTPException(refusal_after(error, str(subject), str(about))) from error
        if allowed is not True:
            raise HTTPException(FORBIDDEN)

    return Depends(guard)
