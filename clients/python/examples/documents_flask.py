"""The application of documents.py with Flask. GRANTD_URL and GRANTD_KEY say where grantd is.

GRANTD_URL=… GRANTD_KEY=… python examples/documents_flask.py
"""

from __future__ import annotations

import os

from flask import Flask, Request
from werkzeug.serving import make_server

from grantd import Grantd
from grantd.flask import requires

app = Flask(__name__)


def subject_of(request: Request) -> str | None:
    return request.headers.get("x-subject")


def document_of(request: Request) -> str:
    return f"document:{(request.view_args or {})['document_id']}"


@app.get("/documents/<document_id>")
@requires("viewer", document_of, client=Grantd(), subject_of=subject_of)
def read_document(document_id: str) -> str:
    return f"This is {document_id}."


if __name__ == "__main__":
    server = make_server("127.0.0.1", int(os.environ.get("PORT", "0")), app, threaded=True)
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
