// How the application behaves, on a real grantd that is started for the tests.
package main

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/grantd/grantd/clients/go"
	"github.com/grantd/grantd/clients/go/grantdtest"
)

func statusFor(t *testing.T, client *grantd.Client, path, subject string) int {
	t.Helper()
	request := httptest.NewRequest(http.MethodGet, path, nil)
	request.Header.Set("X-Subject", subject)
	response := httptest.NewRecorder()
	routes(client).ServeHTTP(response, request)
	return response.Code
}

func TestViewersReadADocument(t *testing.T) {
	client := grantdtest.Start(t).Client()
	grant := grantd.GrantRequest{Subject: "user:ada", Relation: "viewer", Object: "document:plan"}
	if _, err := client.CreateGrant(t.Context(), grant); err != nil {
		t.Fatal(err)
	}
	if status := statusFor(t, client, "/documents/plan", "user:ada"); status != http.StatusOK {
		t.Errorf("a viewer gets %d", status)
	}
	if status := statusFor(t, client, "/documents/plan", "user:bob"); status != http.StatusForbidden {
		t.Errorf("another user gets %d", status)
	}
}

func TestNobodyReadsOneWithoutAnAnswer(t *testing.T) {
	// Nothing listens there.
	away, err := grantd.New(grantd.Config{URL: "http://127.0.0.1:1", Key: "test_a", Timeout: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/documents/plan", "/documents"} {
		if status := statusFor(t, away, path, "user:ada"); status != http.StatusServiceUnavailable {
			t.Errorf("%s gives %d", path, status)
		}
	}
}
