"""Guards views of Flask with checks. It fails closed: a view runs only after the service has said yes.

viewer = requires("viewer", document_of, client=client, subject_of=subject_of)

@app.get("/documents/<document_id>")
@viewer
def read_document(document_id: str) -> str: ...
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

from flask import Request, abort, current_app, request

from ._client import Grantd
from ._errors import GrantdError
from ._guard import FORBIDDEN, refusal_after, refusal_before

View = TypeVar("View", bound=Callable[..., Any])


def requires(
    relation: str,
    object_of: Callable[[Request], str | None],
    *,
    client: Grantd | Callable[[Request], Grantd],
    subject_of: Callable[[Request], str | None],
    on_error: Callable[[Request, GrantdError], None] | None = None,
) -> Callable[[View], View]:
    """A decorator of views that lets a request through if its subject has the relation, or the derived name, on the
    object.

    Otherwise the response is a 401 if there is no subject, a 403 if the check says no or the subject cannot be the name
    of one, a 404 if the request is about no object, or about what cannot be the name of one, and a 503 if there is no
    answer.

    object_of: the object that a request is about; the parts of its path are in `view_args`.
    subject_of: the authenticated subject of a request, such as "user:ada".
    on_error: called with the error of a failed check, before the response.
    """

    def guard() -> None:
        subject, about = subject_of(request), object_of(request)
        refusal = refusal_before(subject, about)
        if refusal is not None:
            abort(refusal)
        chosen = client if isinstance(client, Grantd) else client(request)
        try:
            allowed = chosen.check(str(subject), relation, str(about))
        except GrantdError as error:
            if on_error is not None:
                on_error(request, error)
            abort(refusal_after(error, str(subject), str(about)))
        if allowed is not True:
            abort(FORBIDDEN)

    def decorate(view: View) -> View:
        @functools.wraps(view)
        def guarded(*args: Any, **named: Any) -> Any:
            guard()
            return current_app.ensure_sync(view)(*args, **named)

        return cast(View, guarded)

    return decorate
