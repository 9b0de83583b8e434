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

client = AsyncGrantd(os.environ["GRANTD_URL"], os.environ["GRANTD_KEY"])
app = FastAPI()


def subject_of(request: Request) -> str | None:
    return request.headers.get("x-subject")


def document_of(request: Request) -> str:
    return f"document:{request.path_params['id']}"


@app.get("/documents/{id}", dependencies=[requires("viewer", document_of, client=client, subject=subject_of)])
async def read_document(id: str) -> str:
    return f"This is {id}."


if __name__ == "__main__":
    listener = socket.create_server(("127.0.0.1", int(os.environ.get("PORT", "0"))))
    print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listener])
