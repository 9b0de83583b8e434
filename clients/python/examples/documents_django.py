"""The application of documents.py with Django. GRANTD_URL and GRANTD_KEY say where grantd is.

GRANTD_URL=… GRANTD_KEY=… python examples/documents_django.py
"""

from __future__ import annotations

import os
from wsgiref.simple_server import WSGIRequestHandler, make_server

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import HttpRequest, HttpResponse
from django.urls import path

from grantd import Grantd
from grantd.django import requires


def subject_of(request: HttpRequest) -> str | None:
    return request.headers.get("x-subject")


def document_of(request: HttpRequest) -> str:
    assert request.resolver_match is not None
    return f"document:{request.resolver_match.kwargs['document_id']}"


@requires("viewer", document_of, client=Grantd(), subject_of=subject_of)
def read_document(request: HttpRequest, document_id: str) -> HttpResponse:
    return HttpResponse(f"This is {document_id}.")


urlpatterns = [path("documents/<str:document_id>", read_document)]


class Quiet(WSGIRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


if __name__ == "__main__":
    settings.configure(ROOT_URLCONF=__name__, ALLOWED_HOSTS=["127.0.0.1"])
    server = make_server("127.0.0.1", int(os.environ.get("PORT", "0")), get_wsgi_application(), handler_class=Quiet)
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
