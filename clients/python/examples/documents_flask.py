"""The application of documents.py with Flask. GRANTD_URL and GRANTD_KEY say where grantd is.

GRANTD_URL=… GRANTD_KEY=… python examples/documents_flask.py
"""

from __future__ import annotations

import logging
import os
from itertools import islice

from flask import Flask, Request, abort, request
from werkzeug.serving import make_server

from grantd import Grantd, GrantdError
from grantd.flask import requires

DOCUMENTS_MAX = 100

client = Grantd(timeout=2)
app = Flask(__name__)


def subject_of(request: Request) -> str | None:
    return request.headers.get("x-subject")


def document_of(request: Request) -> str:
    return f"document:{(request.view_args or {})['document_id']}"


@app.get("/documents/<document_id>")
@requires("viewer", document_of, client=client, subject_of=subject_of)
def read_document(document_id: str) -> str:
    return f"This is {document_id}."


@app.get("/documents")
def list_documents() -> list[str]:
    """What its reader may read, and nothing else."""
    subject = subject_of(request)
    if subject is None:
        abort(401)
    found = islice(client.list_objects(subject, "viewer", namespace="document"), DOCUMENTS_MAX)
    return [document.removeprefix("document:") for document in found]


@app.errorhandler(GrantdError)
def no_answer(error: GrantdError) -> tuple[dict[str, str], int, dict[str, str]]:
    """Neither a yes nor a no: the request is not served, and may be repeated."""
    logging.getLogger(__name__).error("%s", error)
    return {"title": "Service Unavailable"}, 503, {"Retry-After": "1"}


if __name__ == "__main__":
    server = make_server("127.0.0.1", int(os.environ.get("PORT", "0")), app, threaded=True)
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
