"""Guards views of Django with checks. It fails closed: a view runs only after the service has said yes.

viewer = requires("viewer", document_of, client=client, subject_of=subject_of)

@viewer
def read_document(request: HttpRequest, document_id: str) -> HttpResponse: ...
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar, cast

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse

from ._async_client import AsyncGrantd
from ._client import Grantd
from ._errors import GrantdError
from ._guard import FORBIDDEN, UNKNOWN_OBJECT, refusal_after, refusal_before

View = TypeVar("View", bound=Callable[..., Any])


def _response(status: int) -> HttpResponse:
    """A 403 and a 404 have pages of their own in Django."""
    if status == FORBIDDEN:
        raise PermissionDenied
    if status == UNKNOWN_OBJECT:
        raise Http404
    return HttpResponse(status=status)


def requires(
    relation: str,
    object_of: Callable[[HttpRequest], str | None],
    *,
    client: Grantd | AsyncGrantd,
    subject_of: Callable[[HttpRequest], str | None],
    on_error: Callable[[HttpRequest, GrantdError], None] | None = None,
) -> Callable[[View], View]:
    """A decorator of views that lets a request through if its subject has the relation, or the derived name, on the
    object.

    Otherwise the response is a 401 if there is no subject, a 403 if the check says no or the subject cannot be the name
    of one, a 404 if the request is about no object, or about what cannot be the name of one, and a 503 if there is no
    answer.

    object_of: the object that a request is about; the parts of its path are in `resolver_match.kwargs`.
    client: a Grantd for views that are functions, an AsyncGrantd for those that are coroutine functions.
    subject_of: the authenticated subject of a request, such as "user:ada".
    on_error: called with the error of a failed check, before the response.
    """

    def question_of(request: HttpRequest) -> tuple[str, str, str] | int:
        subject, about = subject_of(request), object_of(request)
        return refusal_before(subject, about) or (str(subject), relation, str(about))

    def refusal_of(request: HttpRequest, error: GrantdError, subject: str, about: str) -> HttpResponse:
        if on_error is not None:
            on_error(request, error)
        return _response(refusal_after(error, subject, about))

    def decorate(view: View) -> View:
        if inspect.iscoroutinefunction(view) != isinstance(client, AsyncGrantd):
            raise TypeError("a coroutine function needs an AsyncGrantd, and any other view a Grantd")

        @functools.wraps(view)
        def guarded(request: HttpRequest, *args: Any, **named: Any) -> Any:
            question = question_of(request)
            if isinstance(question, int):
                return _response(question)
            try:
                allowed = cast(Grantd, client).check(*question)
            except GrantdError as error:
                return refusal_of(request, error, question[0], question[2])
            return view(request, *args, **named) if allowed is True else _response(FORBIDDEN)

        @functools.wraps(view)
        async def guarded_async(request: HttpRequest, *args: Any, **named: Any) -> Any:
            question = question_of(request)
            if isinstance(question, int):
                return _response(question)
            try:
                allowed = await cast(AsyncGrantd, client).check(*question)
            except GrantdError as error:
                return refusal_of(request, error, question[0], question[2])
            return await view(request, *args, **named) if allowed is True else _response(FORBIDDEN)

        return cast(View, guarded_async if isinstance(client, AsyncGrantd) else guarded)

    return decorate
