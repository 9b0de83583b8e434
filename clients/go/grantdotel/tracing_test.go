package grantdotel_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/grantd/grantd/clients/go"
	"github.com/grantd/grantd/clients/go/grantdotel"
	"github.com/grantd/grantd/clients/go/grantdtest"
)

func valueOf(span tracetest.SpanStub, key attribute.Key) string {
	for _, each := range span.Attributes {
		if each.Key == key {
			return each.Value.Emit()
		}
	}
	return ""
}

func TestEachCallIsASpanWithItsOutcome(t *testing.T) {
	exporter := tracetest.NewInMemoryExporter()
	provider := trace.NewTracerProvider(trace.WithSyncer(exporter))
	defer func() { _ = provider.Shutdown(context.Background()) }()
	otel.SetTextMapPropagator(propagation.TraceContext{})
	service, err := grantdtest.Run(grantdtest.Options{Command: []string{"../../../bin/grantd", "testing"}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = service.Stop() }()
	address, _ := url.Parse(service.URL)
	passed := httputil.NewSingleHostReverseProxy(address)
	var parents []string
	failures := 1
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		parents = append(parents, r.Header.Get("Traceparent"))
		if failures > 0 {
			failures--
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		passed.ServeHTTP(w, r)
	}))
	defer server.Close()
	client, err := grantd.New(grantd.Config{
		URL: server.URL, Key: service.NewKey(), NoGathering: true, Hook: grantdotel.TracingWith(provider.Tracer("test")),
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Check(t.Context(), "user:ada", "viewer", "document:plan"); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Check(t.Context(), "nobody", "viewer", "document:plan"); err == nil {
		t.Fatal("it succeeded")
	}
	spans := exporter.GetSpans()
	if len(spans) != 2 || spans[0].Name != "grantd check" || spans[1].Name != "grantd check" {
		t.Fatalf("%v", spans)
	}
	right, wrong := spans[0], spans[1]
	for _, each := range []struct{ have, want string }{
		{valueOf(right, "http.response.status_code"), "200"},
		{valueOf(right, "http.request.resend_count"), "1"},
		{valueOf(right, "server.address"), "127.0.0.1"},
		{valueOf(wrong, "http.response.status_code"), "400"},
		{valueOf(wrong, "error.type"), "invalid-subject"},
	} {
		if each.have != each.want {
			t.Errorf("%q, not %q", each.have, each.want)
		}
	}
	if right.Status.Code != codes.Unset || wrong.Status.Code != codes.Error {
		t.Errorf("%v, %v", right.Status, wrong.Status)
	}
	if len(parents) != 3 || parents[0] != parents[1] || !strings.Contains(parents[0], right.SpanContext.TraceID().String()) {
		t.Errorf("%q", parents)
	}
	for _, span := range spans {
		for _, each := range span.Attributes {
			if strings.Contains(each.Value.Emit(), "user:") {
				t.Errorf("%s names a subject", each.Key)
			}
		}
	}
}
