"""Tracing with OpenTelemetry: a span for each call."""

from __future__ import annotations

import pytest
from handlers import Asked, Given, client_of, json_of
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from grantd import InvalidRequest
from grantd.otel import tracing

AT = "2026-01-15T09:30:00.000Z"
PROBLEM = {"type": "https://errors.example/invalid-subject", "detail": "no", "instance": "req_1"}


def test_each_call_is_a_span_with_its_outcome() -> None:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    parents: list[str] = []
    responses = [
        Given(502),
        json_of(200, {"authorized": True, "checked_at": AT}, **{"x-service-request-id": "req_0"}),
        json_of(400, PROBLEM),
    ]

    def answer(request: Asked) -> Given:
        parents.append(request.headers["traceparent"])
        return responses.pop(0)

    client = client_of(answer, hook=tracing(provider.get_tracer("test")), backoff_max=0)
    assert client.check("user:ada", "viewer", "document:plan")
    with pytest.raises(InvalidRequest):
        client.check("nobody", "viewer", "document:plan")

    right, wrong = exporter.get_finished_spans()
    assert right.name == wrong.name == "grantd check"
    assert right.kind == SpanKind.CLIENT
    assert dict(right.attributes or {}) == {
        "grantd.operation": "check",
        "http.request.method": "POST",
        "server.address": "grantd.test",
        "server.port": 443,
        "http.response.status_code": 200,
        "grantd.request_id": "req_0",
        "http.request.resend_count": 1,
    }
    assert (wrong.attributes or {})["error.type"] == "invalid-subject"
    assert (right.status.status_code, wrong.status.status_code) == (StatusCode.UNSET, StatusCode.ERROR)
    assert right.context is not None
    assert parents[0] == parents[1] and f"{right.context.trace_id:032x}" in parents[0]
