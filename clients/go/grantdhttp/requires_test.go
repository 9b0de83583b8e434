package grantdhttp_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/grantd/grantd/clients/go"
	"github.com/grantd/grantd/clients/go/grantdhttp"
	"github.com/grantd/grantd/clients/go/grantdtest"
)

func subjectOf(r *http.Request) string { return r.Header.Get("X-Subject") }

func documentOf(r *http.Request) string { return "document:" + r.PathValue("id") }

func server(guard grantdhttp.Guard) *httptest.Server {
	mux := http.NewServeMux()
	mux.Handle("GET /documents/{id}", guard.Requires("viewer", documentOf)(http.HandlerFunc(
		func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "the plan") },
	)))
	return httptest.NewServer(mux)
}

func statusOf(t *testing.T, url, subject string) int {
	t.Helper()
	request, _ := http.NewRequest(http.MethodGet, url, nil)
	if subject != "" {
		request.Header.Set("X-Subject", subject)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	return response.StatusCode
}

func TestAHandlerRunsOnlyAfterAYes(t *testing.T) {
	service, err := grantdtest.Run(grantdtest.Options{Command: []string{"../../../bin/grantd", "testing"}})
	if err != nil {
		t.Fatal(err)
	}
	client := service.ClientWith(grantd.Config{RetryBudget: -1})
	errors := 0
	app := server(grantdhttp.Guard{
		Client: client, Subject: subjectOf, OnError: func(*http.Request, error) { errors++ },
	})
	defer app.Close()
	grant := grantd.GrantRequest{Subject: "user:ada", Relation: "viewer", Object: "document:plan"}
	if _, err := client.CreateGrant(t.Context(), grant); err != nil {
		t.Fatal(err)
	}
	for _, each := range []struct {
		path, subject string
		status        int
	}{
		{"/documents/plan", "user:ada", http.StatusOK},
		{"/documents/plan", "user:bob", http.StatusForbidden},
		{"/documents/plan", "", http.StatusUnauthorized},
		{"/documents/a%20plan", "user:ada", http.StatusNotFound},
		{"/documents/plan", "ill-formed", http.StatusForbidden},
		{"/documents/plan", "user:\xff", http.StatusForbidden},
		{"/documents/%ff", "user:ada", http.StatusNotFound},
	} {
		if status := statusOf(t, app.URL+each.path, each.subject); status != each.status {
			t.Errorf("%s of %q: %d, not %d", each.path, each.subject, status, each.status)
		}
	}
	if err := service.Stop(); err != nil {
		t.Fatal(err)
	}
	if status := statusOf(t, app.URL+"/documents/plan", "user:ada"); status != http.StatusServiceUnavailable {
		t.Errorf("without an answer: %d", status)
	}
	if errors != 5 {
		t.Errorf("OnError was called for %d errors, not 5", errors)
	}
}
