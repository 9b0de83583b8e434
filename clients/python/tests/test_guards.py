"""The decorators of Flask and Django: a view runs only after a yes."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable

import django
import flask
import pytest
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.test import AsyncClient, Client
from django.urls import path
from handlers import unavailable

import grantd.django
import grantd.flask
from grantd import AsyncGrantd, Grantd, GrantdError
from grantd.testing import GrantdService

# Path, subject and status of each request. The service does not answer the last one.
REQUESTS = [
    ("/documents/plan", "user:ada", 200),
    ("/documents/plan", "user:bob", 403),
    ("/documents/plan", None, 401),
    ("/documents/a%20plan", "user:ada", 404),
    ("/documents/plan", "ill-formed", 403),
    ("/documents/plan", "user:" + "a" * 3000, 403),
    ("/documents/" + "a" * 3000, "user:ada", 404),
    ("/documents/plan", "user:ada", 503),
]
ERRORS = ["invalid-object", "invalid-subject", "invalid-subject", "invalid-object", "unavailable"]

Ask = Callable[[str, "str | None"], int]


def judge(client: Grantd | AsyncGrantd, ask: Ask, errors: list[str]) -> None:
    errors.clear()
    for index, (address, subject, status) in enumerate(REQUESTS):
        with unavailable(client) if index == len(REQUESTS) - 1 else contextlib.nullcontext():
            assert ask(address, subject) == status, (address, subject)
    assert errors == ERRORS


@pytest.fixture
def key(service: GrantdService) -> str:
    key = service.new_key()
    service.client(key=key).create_grant("user:ada", "viewer", "document:plan")
    return key


def test_flask(service: GrantdService, key: str) -> None:
    client = service.client(key=key, retry_budget=0)
    errors: list[str] = []

    def note(_: flask.Request, error: GrantdError) -> None:
        errors.append(error.type)

    app = flask.Flask("app")
    viewer = grantd.flask.requires(
        "viewer",
        lambda request: f"document:{(request.view_args or {})['document_id']}",
        client=client,
        subject_of=lambda request: request.headers.get("x-subject"),
        on_error=note,
    )

    @app.get("/documents/<document_id>")
    @viewer
    def read_document(document_id: str) -> str:
        return document_id

    browser = app.test_client()

    def ask(address: str, subject: str | None) -> int:
        headers = {} if subject is None else {"x-subject": subject}
        return browser.get(address, headers=headers).status_code

    judge(client, ask, errors)


def read_document(request: HttpRequest, document_id: str) -> HttpResponse:
    return HttpResponse(document_id)


async def read_document_later(request: HttpRequest, document_id: str) -> HttpResponse:
    return HttpResponse(document_id)


def subject_of(request: HttpRequest) -> str | None:
    return request.headers.get("x-subject")


def document_of(request: HttpRequest) -> str:
    assert request.resolver_match is not None
    return f"document:{request.resolver_match.kwargs['document_id']}"


# Django finds the routes of a program in a module.
urlpatterns: list[object] = []


def test_django(service: GrantdService, key: str) -> None:
    errors: list[str] = []

    def note(_: HttpRequest, error: GrantdError) -> None:
        errors.append(error.type)

    settings.configure(ROOT_URLCONF=__name__, ALLOWED_HOSTS=["*"])
    django.setup()
    client = service.client(key=key, retry_budget=0)
    async_client = service.async_client(key=key, retry_budget=0)
    viewer = grantd.django.requires("viewer", document_of, client=client, subject_of=subject_of, on_error=note)
    later = grantd.django.requires("viewer", document_of, client=async_client, subject_of=subject_of, on_error=note)
    urlpatterns.append(path("documents/<str:document_id>", viewer(read_document)))
    urlpatterns.append(path("later/<str:document_id>", later(read_document_later)))

    def ask(address: str, subject: str | None) -> int:
        headers = {} if subject is None else {"x-subject": subject}
        return Client(raise_request_exception=False).get(address, headers=headers).status_code

    def ask_later(address: str, subject: str | None) -> int:
        async def status() -> int:
            headers = {} if subject is None else {"x-subject": subject}
            address_later = address.replace("/documents/", "/later/")
            return (await AsyncClient(raise_request_exception=False).get(address_later, headers=headers)).status_code

        return asyncio.run(status())

    judge(client, ask, errors)
    judge(async_client, ask_later, errors)
    with pytest.raises(TypeError):
        viewer(read_document_later)
    with pytest.raises(TypeError):
        later(read_document)
