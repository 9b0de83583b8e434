"""Errors: one class for all that fails, whether the service refused, could not be reached or returned an invalid
response."""

from __future__ import annotations

from collections.abc import Mapping

from ._decode import WrongShape, object_of, optional, parse_json, required, text

TIMEOUT = "timeout"
CONNECTION_LOST = "connection-lost"
INVALID_RESPONSE = "invalid-response"
OUTCOME_UNKNOWN = "outcome-unknown"

_RETRYABLE = frozenset({408, 429, 502, 503, 504})


class GrantdError(Exception):
    """The error of every method. No error means "not authorized".

    type: the code, such as "invalid-subject". The client adds "timeout", "connection-lost", "invalid-response" and
        "outcome-unknown". Match on it, and handle an unknown one by its status.
    status: the HTTP status, or 0 if there was no answer.
    retryable: whether the same call can succeed later.
    request_id: the id of the request at the service, if it answered.
    detail: for people.
    retry_after: the seconds of the header Retry-After.
    key_id: of "already-created", the API key that an earlier request created.
    earliest: of "cursor-too-old", the cursor at which the change feed begins now.
    """

    def __init__(
        self,
        type: str,
        detail: str,
        *,
        status: int = 0,
        retryable: bool = False,
        request_id: str | None = None,
        retry_after: int = 0,
        key_id: str | None = None,
        earliest: str | None = None,
        repeatable: bool = False,
        unknown: bool = False,
    ) -> None:
        super().__init__(f"{type}: {detail}" + (f" ({request_id})" if request_id else ""))
        self.type = type
        self.detail = detail
        self.status = status
        self.retryable = retryable
        self.request_id = request_id
        self.retry_after = retry_after
        self.key_id = key_id
        self.earliest = earliest
        # Whether the client repeats the call.
        self._repeatable = repeatable
        # Whether a write may have taken effect despite the error.
        self._unknown = unknown

    def _for_element(self, detail: str) -> GrantdError:
        """The same error without the place that it had in a bulk check."""
        return GrantdError(self.type, detail, status=self.status, request_id=self.request_id)


def timeout_error() -> GrantdError:
    return GrantdError(TIMEOUT, "the deadline of the call passed", retryable=True, unknown=True)


def connection_error(cause: Exception) -> GrantdError:
    detail = str(cause) or type(cause).__name__
    return GrantdError(CONNECTION_LOST, detail, retryable=True, repeatable=True, unknown=True)


def invalid_response(status: int, headers: Mapping[str, str], what: object, *, retryable: bool = False) -> GrantdError:
    return GrantdError(
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
    return GrantdError(
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
    retryable = status in _RETRYABLE
    try:
        known = object_of(parse_json(body))
        type_, detail = required(known, "type", text), required(known, "detail", text)
        instance = required(known, "instance", text)
        key_id, earliest = optional(known, "key_id", text), optional(known, "earliest", text)
    except WrongShape:
        what = f"status {status} without a problem document"
        return invalid_response(status, headers, what, retryable=retryable)
    code = type_.rsplit("/", 1)[-1]
    return GrantdError(
        code,
        detail,
        status=status,
        retryable=retryable,
        request_id=instance,
        retry_after=retry_after(headers),
        key_id=key_id,
        earliest=earliest,
        repeatable=retryable,
        unknown=status >= 500 and code != "overloaded",
    )
