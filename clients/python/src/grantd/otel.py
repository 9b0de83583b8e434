"""Tracing with OpenTelemetry: a span for each call, and its context in the headers of the request.

client = Grantd(hook=tracing())
"""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlsplit

from opentelemetry import trace
from opentelemetry.propagate import inject
from opentelemetry.trace import SpanKind, StatusCode, Tracer

from ._core import Call, Hook, Outcome


def tracing(tracer: Tracer | None = None) -> Hook:
    """For the argument `hook`. Without a tracer, that of the global provider."""
    chosen = trace.get_tracer("grantd") if tracer is None else tracer

    def hook(call: Call) -> Callable[[Outcome], None]:
        address = urlsplit(call.url)
        attributes: dict[str, str | int] = {
            "grantd.operation": call.operation,
            "http.request.method": call.method,
            "server.address": address.hostname or "",
            "server.port": address.port or (443 if address.scheme == "https" else 80),
        }
        span = chosen.start_span(f"grantd {call.operation}", kind=SpanKind.CLIENT, attributes=attributes)
        inject(call.headers, trace.set_span_in_context(span))

        def ended(outcome: Outcome) -> None:
            if outcome.error is not None:
                span.set_status(StatusCode.ERROR)
                span.set_attribute("error.type", outcome.error.type)
            if outcome.status > 0:
                span.set_attribute("http.response.status_code", outcome.status)
            if outcome.request_id is not None:
                span.set_attribute("grantd.request_id", outcome.request_id)
            if outcome.attempts > 1:
                span.set_attribute("http.request.resend_count", outcome.attempts - 1)
            span.end()

        return ended

    return hook
