"""An application with documents, each readable by its viewers.

The subject comes from a header here; take it from your session.

    GRANTD_URL=… GRANTD_KEY=… python examples/documents.py
"""

from __future__ import annotations

import logging
import os
import socket

import uvicorn
from fastapi import FastAPI, HTTPException, Request
from fastapi.responses import JSONResponse

from grantd import AsyncGrantd, GrantdError
from grantd.fastapi import requires

DOCUMENTS_MAX = 100

client = AsyncGrantd(timeout=2)
app = FastAPI()


def subject_of(request: Request) -> str | None:
    return request.headers.get("x-subject")


def document_of(request: Request) -> str:
    return f"document:{request.path_params['document_id']}"


viewer = requires("viewer", document_of, client=client, subject_of=subject_of)


@app.get("/documents/{document_id}", dependencies=[viewer])
async def read_document(document_id: str) -> str:
    return f"This is {document_id}."


@app.get("/documents")
async def list_documents(request: Request) -> list[str]:
    """What its reader may read, and nothing else."""
    subject = subject_of(request)
    if subject is None:
        raise HTTPException(401)
    found: list[str] = []
    async for document in client.list_objects(subject, "viewer", namespace="document"):
        found.append(document.removeprefix("document:"))
        if len(found) == DOCUMENTS_MAX:
            break
    return found


@app.exception_handler(GrantdError)
async def no_answer(request: Request, error: GrantdError) -> JSONResponse:
    """Neither a yes nor a no: the request is not served, and may be repeated."""
    logging.getLogger(__name__).error("%s", error)
    return JSONResponse({"detail": "Service Unavailable"}, 503, {"Retry-After": "1"})


if __name__ == "__main__":
    listener = socket.create_server(("127.0.0.1", int(os.environ.get("PORT", "0"))))
    print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listener])
