// Package grantdhttp guards net/http handlers with checks.
//
//	guard := grantdhttp.Guard{Client: client, Subject: subjectOfSession}
//	mux.Handle("GET /documents/{id}", guard.Requires("viewer", func(r *http.Request) string {
//		return "document:" + r.PathValue("id")
//	})(handler))
//
// It fails closed: a handler runs only after the service has said yes.
package grantdhttp

import (
	"context"
	"net/http"
	"unicode/utf8"

	"github.com/grantd/grantd/clients/go"
)

// Checker is the part of a client that a guard uses; *grantd.Client implements it.
type Checker interface {
	Check(ctx context.Context, subject, relation, object string) (bool, error)
}

// Guard authenticates the subject of a request.
type Guard struct {
	Client Checker
	// The subject of a request that has been authenticated, such as "user:ada"; "": it has not.
	Subject func(r *http.Request) string
	// Called with the error of a failed check, before the response. Optional.
	OnError func(r *http.Request, err error)
}

// Requires lets a request through if its subject has the relation, or the derived name, on the object that it is about.
// Otherwise the response is a 401 if there is no subject, a 403 if the check says no or the subject is ill-formed, a 404 if
// the request is about no object ("") or an ill-formed one, and a 503 if there is no answer.
func (g Guard) Requires(relation string, object func(r *http.Request) string) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if status := g.decide(r, relation, object); status != http.StatusOK {
				http.Error(w, http.StatusText(status), status)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

func (g Guard) decide(r *http.Request, relation string, object func(r *http.Request) string) int {
	subject := g.Subject(r)
	if subject == "" {
		return http.StatusUnauthorized
	}
	about := object(r)
	if about == "" {
		return http.StatusNotFound
	}
	allowed, err := g.Client.Check(r.Context(), subject, relation, about)
	switch {
	case err == nil && allowed:
		return http.StatusOK
	case err == nil:
		return http.StatusForbidden
	}
	if g.OnError != nil {
		g.OnError(r, err)
	}
	switch grantd.ErrorType(err) {
	case grantd.TypeInvalidSubject:
		return http.StatusForbidden
	case grantd.TypeInvalidObject:
		return http.StatusNotFound
	case grantd.TypeInvalidRequest:
		// What the client itself refuses to send.
		if !utf8.ValidString(subject) {
			return http.StatusForbidden
		}
		if !utf8.ValidString(about) {
			return http.StatusNotFound
		}
	}
	return http.StatusServiceUnavailable
}
