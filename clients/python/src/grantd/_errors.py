"""Errors: one class for all that fails, whether the service refused, could not be reached or returned an invalid
response, with a subclass for each kind."""

from __future__ import annotations

import errno
import re
import ssl
from collections.abc import Mapping
from typing import Literal, TypeAlias

from ._decode import WrongShape, object_of, optional, parse_json, required, text

TIMEOUT = "timeout"
CONNECTION_LOST = "connection-lost"
INVALID_RESPONSE = "invalid-response"
OUTCOME_UNKNOWN = "outcome-unknown"

_CAUSES_MAX = 8
_TYPE = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
_RETRYABLE = frozenset({408, 429, 502, 503, 504})
# What would forge the lines of a log, or turn its text around: controls, separators of lines, directions and halves of
# surrogate pairs.
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def visible(text: str) -> str:
    return _UNSEEN.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


# A line of a problem about rules. None begins as an entry of a log does.
_PROBLEM_LINE = re.compile(r'\\u000a {0,2}(?=Line \d|"|And \d)')


def visible_lines(text: str) -> str:
    """The same, with the lines of a problem about rules, indented."""
    return _PROBLEM_LINE.sub("\n  ", visible(text))


class GrantdError(Exception):
    """The error of every method. No error means "not authorized". Its subclasses say what kind of failure it is."""

    def __init__(
        self,
        type_: str,
        detail: str,
        *,
        status: int = 0,
        retryable: bool = False,
        request_id: str | None = None,
        retry_after: int = 0,
        key_id: str | None = None,
        earliest: str | None = None,
        request: str | None = None,
        repeatable: bool = False,
        unknown: bool = False,
    ) -> None:
        """
        type_: the code, such as "invalid-subject", in the attribute `type`. The client adds "timeout",
            "connection-lost", "invalid-response" and "outcome-unknown". Handle an unknown one by its class.
        detail: for people.
        status: the HTTP status, or 0 if there was no answer.
        retryable: whether the same call can succeed later.
        request_id: the id of the request at the service, if it answered.
        retry_after: the seconds of the header Retry-After.
        key_id: of "already-created", the API key that an earlier request created.
        earliest: of "cursor-too-old", the cursor at which the change feed begins now.
        request: the method and the URL of the request, without its query.
        """
        # What comes from the network or from the request is escaped, since logs and terminals show it.
        self.type = visible(type_)
        self.detail = visible_lines(detail)
        super().__init__(self.type, self.detail)
        self.status = status
        self.retryable = retryable
        self.request_id = None if request_id is None else visible(request_id)
        self.retry_after = retry_after
        self.key_id = key_id
        self.earliest = earliest
        self.request = request
        # Whether the client repeats the call.
        self._repeatable = repeatable
        # Whether a write may have taken effect despite the error.
        self._unknown = unknown

    def __str__(self) -> str:
        place = ", ".join(each for each in (self.request, self.request_id) if each is not None)
        return f"{self.type}: {self.detail}" + (f" ({place})" if place else "")

    def _about(self, request: str) -> GrantdError:
        """Says where the request went, unless the error says it already."""
        if self.request is None:
            self.request = request
        return self

    def _for_element(self, detail: str) -> GrantdError:
        """The same error without the place that it had in a bulk check."""
        return type(self)(self.type, detail, status=self.status, request_id=self.request_id, request=self.request)


class InvalidRequest(GrantdError):
    """The service refuses the request as it is: a status of 4xx that has no class of its own."""


class Unauthorized(GrantdError):
    """The API key is unknown, expired or revoked (401)."""


class Forbidden(GrantdError):
    """The API key may not do this, or its tenant is suspended (403)."""


class NotFound(GrantdError):
    """There is no such grant, key, version or tenant (404)."""


class Conflict(GrantdError):
    """The request does not fit what is stored (409), or a condition of it is not met (412)."""


class CursorTooOld(GrantdError):
    """The change feed no longer has the changes after the cursor (410). Read the grants again."""


class RateLimited(GrantdError):
    """There were too many requests, or too many streams (429)."""


class ServerError(GrantdError):
    """The service has failed (5xx)."""


class Unavailable(ServerError):
    """The service, or something in front of it, cannot answer now (502, 503, 504)."""


class Timeout(GrantdError):
    """The deadline of the call passed. Whether a write took effect is not known."""


class ConnectionLost(GrantdError):
    """There was no connection, or it was lost. Whether a write took effect is not known."""


class InvalidResponse(GrantdError):
    """The response is not what the API promises. It is never taken for a decision."""


class OutcomeUnknown(GrantdError):
    """A condition fails in a repeated write whose first attempt may have taken effect. Read before you write again."""


MirrorReason: TypeAlias = Literal["behind", "stale", "other-rules", "not-ready"]
# By SQLSTATE.
MIRROR_REASONS: Mapping[str, MirrorReason] = {
    "GR001": "behind",
    "GR002": "stale",
    "GR003": "other-rules",
    "GR004": "not-ready",
}
_MIRROR_DETAILS: Mapping[MirrorReason, str] = {
    "behind": "the mirror has not come as far as the sets of the subject",
    "stale": "the mirror no longer has the moment of the sets of the subject",
    "other-rules": "the mirror is for other rules than the sets of the subject",
    "not-ready": "the mirror is being made",
}


class MirrorError(GrantdError):
    """The mirror in the application's database gives no answer now. The same call can succeed later."""

    def __init__(self, reason: MirrorReason) -> None:
        super().__init__(f"mirror-{reason}", _MIRROR_DETAILS[reason], retryable=True)
        self.reason = reason


_BY_STATUS: Mapping[int, type[GrantdError]] = {
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    410: CursorTooOld,
    412: Conflict,
    429: RateLimited,
    502: Unavailable,
    503: Unavailable,
    504: Unavailable,
}


def class_of(status: int) -> type[GrantdError]:
    """The class of the exception for an error that the service sends."""
    return _BY_STATUS.get(status, ServerError if status >= 500 else InvalidRequest)


def invalid_request(detail: str) -> GrantdError:
    return InvalidRequest("invalid-request", detail, status=400)


def is_retryable(status: int) -> bool:
    return status in _RETRYABLE


def timeout_error() -> GrantdError:
    return Timeout(TIMEOUT, "the deadline of the call passed", retryable=True, unknown=True)


def _system_code(error: BaseException | None) -> str | None:
    """The code of an error of the operating system, such as "ECONNREFUSED", which libraries wrap in their own."""
    for _ in range(_CAUSES_MAX):
        if error is None:
            return None
        # Numbers of TLS are not those of the system.
        if isinstance(error, OSError) and not isinstance(error, ssl.SSLError) and error.errno is not None:
            return errno.errorcode.get(error.errno)
        error = error.__cause__ or error.__context__
    return None


def connection_error(cause: Exception) -> GrantdError:
    code = _system_code(cause)
    detail = (str(cause) or type(cause).__name__) + (f" ({code})" if code else "")
    return ConnectionLost(CONNECTION_LOST, detail, retryable=True, repeatable=True, unknown=True)


def invalid_response(status: int, headers: Mapping[str, str], what: object, *, retryable: bool = False) -> GrantdError:
    return InvalidResponse(
        INVALID_RESPONSE,
        f"the response is not what the API promises: {what}",
        status=status,
        retryable=retryable,
        request_id=headers.get("x-service-request-id"),
        retry_after=retry_after(headers),
        repeatable=retryable,
        unknown=True,
    )


def garbled_response(status: int, headers: Mapping[str, str], error: Exception) -> GrantdError:
    """For a response corrupted between the service and the client."""
    return invalid_response(status, headers, error, retryable=True)


def outcome_unknown(condition: GrantdError) -> GrantdError:
    return OutcomeUnknown(
        OUTCOME_UNKNOWN,
        f"a condition fails now, but an earlier attempt may have taken effect: {condition.detail}",
        status=condition.status,
        request_id=condition.request_id,
    )


def retry_after(headers: Mapping[str, str]) -> int:
    """Whole seconds, the only form that the API has."""
    given = headers.get("retry-after", "")
    return int(given) if given.isascii() and given.isdigit() and len(given) < 10 else 0


def problem_error(status: int, headers: Mapping[str, str], body: bytes) -> GrantdError:
    """Reads a problem document (RFC 9457). Something between client and service may answer with another body."""
    retryable = is_retryable(status)
    try:
        known = object_of(parse_json(body))
        address, instance = required(known, "type", text), optional(known, "instance", text)
        detail = optional(known, "detail", text) or optional(known, "title", text) or f"status {status}"
        key_id, earliest = optional(known, "key_id", text), optional(known, "earliest", text)
        code = address.rsplit("/", 1)[-1]
        if _TYPE.fullmatch(code) is None:
            raise WrongShape("its type is not a name")
    except WrongShape:
        what = f"status {status} without a problem document"
        return invalid_response(status, headers, what, retryable=retryable)
    return class_of(status)(
        code,
        detail,
        status=status,
        retryable=retryable,
        request_id=instance or headers.get("x-service-request-id"),
        retry_after=retry_after(headers),
        key_id=key_id,
        earliest=earliest,
        repeatable=retryable,
        unknown=status >= 500 and code != "overloaded",
    )
