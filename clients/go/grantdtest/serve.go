// Serves a request: authentication, route, scope, body, and a JSON answer or a problem document.

package grantdtest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/grantd/grantd/clients/go/internal/strictjson"
)

// problem is the panic of an operation; serve turns it into a problem document.
type problem struct {
	kind    string
	detail  string
	members map[string]any
}

var statuses = map[string]int{
	invalidRequest: 400, "invalid-subject": 400, "invalid-relation": 400, "invalid-object": 400, "invalid-cursor": 400,
	"invalid-condition": 400,
	"bulk-too-large":    400, "unauthorized": 401, "insufficient-scope": 403, "grant-not-found": 404, "key-not-found": 404, "rules-version-not-found": 404,
	"not-found": 404, "method-not-allowed": 405, "already-created": 409, "precondition-failed": 412,
	"idempotency-key-reused": 422, "unavailable": 503,
}

const invalidRequest = "invalid-request"

func refuse(kind, detail string, values ...any) {
	panic(problem{kind: kind, detail: fmt.Sprintf(detail, values...)})
}

type call struct {
	fake   *Fake
	caller *key
	id     string
	query  url.Values
	header http.Header
	body   map[string]any
	raw    string
	path   string
	// Of the answer.
	status int
	answer http.Header
}

func (c *call) operation() *operation {
	return &operation{fake: c.fake, actor: c.caller.record.KeyID, requestID: c.id}
}

type route struct {
	scope string
	// With the lock held. Nil: no body.
	serve func(*call) any
}

var routes = map[string]route{
	"POST /v1/check":                  {"check:read", check},
	"POST /v1/check/bulk":             {"check:read", checkBulk},
	"GET /v1/grants":                  {"check:read", listGrants},
	"POST /v1/grants":                 {"grant:write", createGrant},
	"DELETE /v1/grants":               {"grant:write", revokeGrant},
	"POST /v1/grants/bulk":            {"grant:write", writeBulk},
	"POST /v1/grants/revoke":          {"grant:write", revokeGrants},
	"GET /v1/objects":                 {"check:read", listObjects},
	"POST /v1/objects":                {"check:read", inContext(listObjects)},
	"GET /v1/subjects":                {"check:read", listSubjects},
	"POST /v1/subjects":               {"check:read", inContext(listSubjects)},
	"GET /v1/namespaces":              {"check:read", listNamespaces},
	"POST /v1/namespaces":             {"grant:write", createNamespace},
	"GET /v1/keys":                    {"admin", listKeys},
	"POST /v1/keys":                   {"admin", createKey},
	"DELETE /v1/keys/":                {"admin", revokeKey},
	"GET /v1/rules":                   {"admin", readRules},
	"PUT /v1/rules":                   {"admin", writeRules},
	"GET /v1/rules/versions":          {"admin", listRulesVersions},
	"GET /v1/rules/versions/":         {"admin", readRulesVersion},
	"GET /v1/changes":                 {"check:read", listChanges},
	"POST /access/v1/evaluation":      {"check:read", evaluate},
	"POST /access/v1/evaluations":     {"check:read", evaluateMany},
	"POST /access/v1/search/subject":  {"check:read", searchSubjects},
	"POST /access/v1/search/resource": {"check:read", searchResources},
	"POST /access/v1/search/action":   {"check:read", searchActions},
}

// ServeHTTP answers as the service does.
func (f *Fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := &call{
		fake: f, id: newID("req"), query: r.URL.Query(), header: r.Header,
		path: r.URL.Path, status: http.StatusOK, answer: w.Header(),
	}
	w.Header().Set("X-Service-Request-Id", c.id)
	w.Header().Set("Content-Type", "application/json")
	defer func() {
		switch failed := recover().(type) {
		case nil:
		case problem:
			c.writeProblem(w, failed)
		default:
			panic(failed)
		}
	}()
	body, _ := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	answer := c.serve(r.Method, body)
	if feed, isFeed := answer.(*feed); isFeed && r.Header.Get("Accept") == "application/x-ndjson" {
		feed.stream(r.Context(), w)
		return
	} else if isFeed {
		answer = feed.page(r.Context())
	}
	if answer == nil {
		w.Header().Del("Content-Type")
		w.WriteHeader(c.status)
		return
	}
	w.WriteHeader(c.status)
	_ = json.NewEncoder(w).Encode(answer)
}

func (c *call) writeProblem(w http.ResponseWriter, failed problem) {
	status := statuses[failed.kind]
	w.Header().Set("Content-Type", "application/problem+json")
	if failed.kind == "unavailable" {
		w.Header().Set("Retry-After", "1")
	}
	document := map[string]any{
		"type": "http://grantd.test/errors/" + failed.kind, "title": failed.kind, "status": status,
		"detail": failed.detail, "instance": c.id,
	}
	for name, value := range failed.members {
		document[name] = value
	}
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(document)
}

func (c *call) serve(method string, body []byte) any {
	f := c.fake
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if f.unavailable {
		refuse("unavailable", "The service cannot answer right now.")
	}
	f.expire()
	token := strings.TrimPrefix(c.header.Get("Authorization"), "Bearer ")
	for _, one := range f.keys {
		if one.text == token && (one.record.ExpiresAt == nil || one.record.ExpiresAt.After(f.now())) {
			c.caller = one
		}
	}
	if c.caller == nil {
		refuse("unauthorized", "The bearer token is no key of this tenant.")
	}
	path := c.path
	for _, prefix := range []string{"/v1/keys/", "/v1/rules/versions/"} {
		if strings.HasPrefix(path, prefix) {
			path = prefix
		}
	}
	to, isKnown := routes[method+" "+path]
	if !isKnown {
		refuse("not-found", "There is nothing at %s %s.", method, c.path)
	}
	if !slices.Contains(c.caller.record.Scopes, to.scope) {
		refuse("insufficient-scope", "The key does not have the scope %s.", to.scope)
	}
	refuseBytes(c.path, "The path")
	for name, values := range c.query {
		refuseBytes(strings.Join(append(values, name), ""), "The query parameter")
	}
	if len(body) > 0 {
		c.raw = string(body)
		read, err := strictjson.Parse(body)
		object, isObject := read.(map[string]any)
		if err != nil || !isObject {
			refuse(invalidRequest, "The body is no JSON object.")
		}
		c.body = object
	}
	return to.serve(c)
}

// refuseBytes: encoding and patterns would take what is not UTF-8 for U+FFFD.
func refuseBytes(text, what string) {
	if !utf8.ValidString(text) {
		refuse(invalidRequest, "%s is not UTF-8: %q.", what, text)
	}
}

// transport calls the fake without a network.
type transport struct{ fake *Fake }

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body == nil {
		r.Body = http.NoBody
	}
	reader, writer := io.Pipe()
	w := &pipeWriter{header: http.Header{}, body: writer, ready: make(chan int, 1)}
	ctx, cancel := context.WithCancel(r.Context())
	go func() {
		defer cancel()
		t.fake.ServeHTTP(w, r.WithContext(ctx))
		w.WriteHeader(http.StatusOK)
		writer.Close()
	}()
	context.AfterFunc(ctx, func() {
		if r.Context().Err() != nil {
			reader.CloseWithError(r.Context().Err())
		}
	})
	select {
	case status := <-w.ready:
		return &http.Response{
			StatusCode: status, Status: http.StatusText(status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
			Header: w.sent, Body: &pipeBody{reader, cancel}, ContentLength: -1, Request: r,
		}, nil
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
}

// pipeBody ends the call when the caller closes it.
type pipeBody struct {
	*io.PipeReader
	cancel context.CancelFunc
}

func (b *pipeBody) Close() error {
	b.cancel()
	return b.PipeReader.Close()
}

type pipeWriter struct {
	header http.Header
	// The header as it was when the status was written.
	sent  http.Header
	body  *io.PipeWriter
	ready chan int
}

func (w *pipeWriter) Header() http.Header { return w.header }

func (w *pipeWriter) WriteHeader(status int) {
	if w.sent == nil {
		w.sent = w.header.Clone()
		w.ready <- status
	}
}

func (w *pipeWriter) Write(text []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(text)
}

// Flush does nothing: written data can be read at once.
func (w *pipeWriter) Flush() {}
