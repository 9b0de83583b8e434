// Package grantdotel traces calls of a grantd.Client with OpenTelemetry: a span for each call with all its retries, and
// its context in the headers of the requests. It is a module of its own, so that the client has no dependencies.
//
//	client, err := grantd.New(grantd.Config{Hook: grantdotel.Tracing()})
package grantdotel

import (
	"context"
	"net/url"
	"strconv"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/grantd/grantd/clients/go"
)

const name = "github.com/grantd/grantd/clients/go/grantdotel"

// Tracing uses the global provider and propagator, as they are at each call.
func Tracing() grantd.Hook {
	return func(ctx context.Context, call *grantd.Call) (context.Context, func(grantd.Outcome)) {
		return begin(ctx, otel.Tracer(name), call)
	}
}

// TracingWith uses a tracer of yours, and the global propagator.
func TracingWith(tracer trace.Tracer) grantd.Hook {
	return func(ctx context.Context, call *grantd.Call) (context.Context, func(grantd.Outcome)) {
		return begin(ctx, tracer, call)
	}
}

func begin(ctx context.Context, tracer trace.Tracer, call *grantd.Call) (context.Context, func(grantd.Outcome)) {
	ctx, span := tracer.Start(ctx, "grantd "+call.Operation, trace.WithSpanKind(trace.SpanKindClient),
		trace.WithAttributes(append(addressOf(call.URL),
			attribute.String("grantd.operation", call.Operation),
			attribute.String("http.request.method", call.Method))...))
	otel.GetTextMapPropagator().Inject(ctx, propagation.HeaderCarrier(call.Header))
	return ctx, func(outcome grantd.Outcome) {
		if outcome.Err != nil {
			span.SetStatus(codes.Error, "")
			span.SetAttributes(attribute.String("error.type", grantd.ErrorType(outcome.Err)))
		}
		if outcome.Status > 0 {
			span.SetAttributes(attribute.Int("http.response.status_code", outcome.Status))
		}
		if outcome.RequestID != "" {
			span.SetAttributes(attribute.String("grantd.request_id", outcome.RequestID))
		}
		if outcome.Attempts > 1 {
			span.SetAttributes(attribute.Int("http.request.resend_count", outcome.Attempts-1))
		}
		span.End()
	}
}

func addressOf(text string) []attribute.KeyValue {
	address, err := url.Parse(text)
	if err != nil {
		return nil
	}
	port, err := strconv.Atoi(address.Port())
	if err != nil {
		port = 80
		if address.Scheme == "https" {
			port = 443
		}
	}
	return []attribute.KeyValue{
		attribute.String("server.address", address.Hostname()), attribute.Int("server.port", port),
	}
}
