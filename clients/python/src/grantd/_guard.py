"""What the guards of all frameworks decide alike: the status of a refusal. They fail closed."""

from __future__ import annotations

from ._errors import GrantdError

UNAUTHENTICATED = 401
FORBIDDEN = 403
UNKNOWN_OBJECT = 404
NO_ANSWER = 503


def refusal_before(subject: str | None, about: str | None) -> int | None:
    """Before a check: None if there is something to check."""
    if not subject:
        return UNAUTHENTICATED
    return None if about else UNKNOWN_OBJECT


def refusal_after(error: GrantdError) -> int:
    """After a check that has failed."""
    return UNKNOWN_OBJECT if error.type == "invalid-object" else NO_ANSWER
