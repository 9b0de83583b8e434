"""What the guards of all frameworks decide alike: the status of a refusal. They fail closed."""

from __future__ import annotations

from ._encode import is_text
from ._errors import GrantdError

UNAUTHENTICATED = 401
FORBIDDEN = 403
UNKNOWN_OBJECT = 404
NO_ANSWER = 503

# No identifier has as many characters.
IDENTIFIER_MAX = 1024


def refusal_before(subject: str | None, about: str | None) -> int | None:
    """Before a check: None if there is something to check."""
    if not subject:
        return UNAUTHENTICATED
    return None if about else UNKNOWN_OBJECT


def refusal_after(error: GrantdError, subject: str, about: str) -> int:
    """The status after a check that has failed. Where the request had an invalid identifier, the object is unknown, or
    the subject cannot be allowed. All other failures give no answer."""
    if error.type == "invalid-object" or not is_text(about):
        return UNKNOWN_OBJECT
    if error.type == "invalid-subject" or not is_text(subject):
        return FORBIDDEN
    if error.status == 413 and len(about) > IDENTIFIER_MAX:
        return UNKNOWN_OBJECT
    return FORBIDDEN if error.status == 413 and len(subject) > IDENTIFIER_MAX else NO_ANSWER
