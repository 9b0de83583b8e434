"""The application of documents.py with Django. GRANTD_URL and GRANTD_KEY say where grantd is.

GRANTD_URL=… GRANTD_KEY=… python examples/documents_django.py
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from itertools import islice
from wsgiref.simple_server import WSGIRequestHandler, make_server

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import path

from grantd import Grantd, GrantdError
from grantd.django import requires

DOCUMENTS_MAX = 100

client = Grantd(timeout=2)


def subject_of(request: HttpRequest) -> str | None:
    return request.headers.get("x-subject")


def document_of(request: HttpRequest) -> str:
    assert request.resolver_match is not None
    return f"document:{request.resolver_match.kwargs['document_id']}"


@requires("viewer", document_of, client=client, subject_of=subject_of)
def read_document(request: HttpRequest, document_id: str) -> HttpResponse:
    return HttpResponse(f"This is {document_id}.")


def list_documents(request: HttpRequest) -> HttpResponse:
    """What its reader may read, and nothing else."""
    subject = subject_of(request)
    if subject is None:
        return HttpResponse(status=401)
    found = islice(client.list_objects(subject, "viewer", namespace="document"), DOCUMENTS_MAX)
    return JsonResponse([document.removeprefix("document:") for document in found], safe=False)


class NoAnswer:
    """Middleware: without an answer, a request is neither allowed nor denied. It is not served, and may be repeated."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, _request: HttpRequest, error: Exception) -> HttpResponse | None:
        if not isinstance(error, GrantdError):
            return None
        logging.getLogger(__name__).error("%s", error)
        return HttpResponse(status=503, headers={"Retry-After": "1"})


urlpatterns = [path("documents/<str:document_id>", read_document), path("documents", list_documents)]


class Quiet(WSGIRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


if __name__ == "__main__":
    settings.configure(ROOT_URLCONF=__name__, ALLOWED_HOSTS=["127.0.0.1"], MIDDLEWARE=[f"{__name__}.NoAnswer"])
    server = make_server("127.0.0.1", int(os.environ.get("PORT", "0")), get_wsgi_application(), handler_class=Quiet)
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
