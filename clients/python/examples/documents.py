"""An application with documents, each readable by its viewers.

The subject comes from a header here; take it from your session.

    GRANTD_URL=… GRANTD_KEY=… python examples/documents.py
"""

from __future__ import annotations

import os
import socket

import uvicorn
from fastapi import FastAPI, Request

from grantd import AsyncGrantd
from grantd.fastapi import requires

client = AsyncGrantd()
app = FastAPI()


def subject_of(request: Request) -> str | None:
    return request.headers.get("x-subject")


def document_of(request: Request) -> str:
    return f"document:{request.path_params['document_id']}"


viewer = requires("viewer", document_of, client=client, subject_of=subject_of)


@app.get("/documents/{document_id}", dependencies=[viewer])
async def read_document(document_id: str) -> str:
    return f"This is {document_id}."


if __name__ == "__main__":
    listener = socket.create_server(("127.0.0.1", int(os.environ.get("PORT", "0"))))
    print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listener])
