// One call of the API: a request, its retries within the deadline and the budget, and an answer that is either the
// promised status with JSON, or an *Error.

package grantd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/grantd/grantd/clients/go/internal/strictjson"
)

const (
	jsonType = "application/json"
	// The text form of rules.
	rulesType = "text/vnd.grantd.rules"
)

// A page of 1,000 grants with the longest identifiers has 3 MB.
const responseBytesMax = 16 << 20

type request struct {
	operation string
	method    string
	path      string
	query     url.Values
	header    http.Header
	// Rules in the text form if it is a string, otherwise JSON. Nil: none.
	body any
	// The statuses of a success.
	accepts []int
	// It has a condition, which a repeat may fail because of the effect of the first attempt.
	conditional bool
}

type response struct {
	// For an Error about the response.
	request string
	status  int
	header  http.Header
	// Parsed JSON, or the text that was asked for; nil if there is no body.
	value any
}

func (r *response) invalid(cause error) *Error {
	return invalidResponse(r.status, r.header, cause).about(r.request)
}

// nameOf is how an Error names the request.
func (c *Client) nameOf(r request) string { return r.method + " " + c.base + r.path }

func (c *Client) call(ctx context.Context, r request) (*response, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	header := http.Header{}
	for name, values := range r.header {
		header[name] = values
	}
	ended := func(Outcome) {}
	if c.hook != nil {
		call := Call{Operation: r.operation, Method: r.method, URL: c.base + r.path, Header: header}
		var done func(Outcome)
		if ctx, done = c.hook(ctx, &call); done != nil {
			ended = done
		}
	}
	answer, attempts, err := c.repeat(ctx, r, header)
	if err != nil {
		err = err.about(c.nameOf(r))
		ended(Outcome{Status: err.Status, RequestID: err.RequestID, Attempts: attempts, Err: err})
		return nil, err
	}
	requestID := requestIDOf(answer.header)
	ended(Outcome{Status: answer.status, RequestID: requestID, Attempts: attempts})
	return answer, nil
}

func (c *Client) repeat(ctx context.Context, r request, header http.Header) (*response, int, *Error) {
	ready, wrong := c.prepare(r, header)
	if wrong != nil {
		return nil, 0, wrong
	}
	c.budget.earn()
	unknown := false
	for attempt := 1; ; attempt++ {
		start := time.Now()
		answer, err := c.attempt(ctx, r, ready)
		if err == nil {
			c.logAttempt(ctx, r, attempt, start, answer.status, answer.header, nil)
			return answer, attempt, nil
		}
		c.logAttempt(ctx, r, attempt, start, 0, nil, err)
		if unknown && r.conditional && err.Type == TypePreconditionFailed {
			return nil, attempt, outcomeUnknown(err)
		}
		unknown = unknown || err.unknown
		pause := c.retries.pauseBefore(attempt, err.RetryAfter)
		deadline, _ := ctx.Deadline()
		if !err.repeatable || attempt > c.retries.most || time.Until(deadline) <= pause || !c.budget.spend() {
			return nil, attempt, err
		}
		if stopped := wait(ctx, pause); stopped != nil {
			return nil, attempt, stopped
		}
	}
}

func wait(ctx context.Context, pause time.Duration) *Error {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return contextError(ctx)
	}
}

// send resolves with any response whose status is among the accepted ones; its body is open.
func (c *Client) send(ctx context.Context, r request, ready *encodedRequest) (*http.Response, *Error) {
	var reader io.Reader
	if ready.body != nil {
		reader = bytes.NewReader(ready.body)
	}
	own, isAsked := asking(ctx)
	sent, err := http.NewRequestWithContext(own, r.method, ready.address, reader)
	if err != nil {
		return nil, unsendable("%v", err)
	}
	// Without it, net/http repeats nothing by itself that has a body: retries are counted in one place.
	sent.GetBody = nil
	for _, each := range []http.Header{ready.header, c.header} {
		for name, values := range each {
			if sent.Header[name] == nil {
				sent.Header[name] = values
			}
		}
	}
	// What the service never does, nothing in between should do: net/http would ask for gzip.
	sent.Header.Set("Accept-Encoding", "identity")
	sent.Header.Set("Authorization", "Bearer "+c.key)
	sent.Header.Set("User-Agent", c.header.Get("User-Agent"))
	if sent.Header.Get("Accept") == "" {
		sent.Header.Set("Accept", jsonType)
	}
	if ready.body != nil {
		sent.Header.Set("Content-Type", ready.contentType)
	}
	got, err := c.http.Do(sent)
	if err != nil {
		return nil, connectionError(ctx, err)
	}
	if !isAsked(got) {
		got.Body.Close()
		return nil, connectionError(ctx, errUnasked)
	}
	c.warnings.logFrom(got.Header, c.log())
	if !slices.Contains(r.accepts, got.StatusCode) {
		defer got.Body.Close()
		return nil, refusal(ctx, got)
	}
	if wrong := wrongMediaType(got, sent.Header.Get("Accept")); wrong != nil {
		got.Body.Close()
		return nil, wrong
	}
	return got, nil
}

func isEmpty(status int) bool {
	return status == http.StatusNoContent || status == http.StatusNotModified
}

// isEncoded: the client asks for no encoding.
func isEncoded(got *http.Response) bool {
	encoding := got.Header.Get("Content-Encoding")
	return encoding != "" && !strings.EqualFold(encoding, "identity")
}

func wrongMediaType(got *http.Response, wanted string) *Error {
	if isEmpty(got.StatusCode) {
		return nil
	}
	if isEncoded(got) {
		cause := fmt.Errorf("its encoding is %q", got.Header.Get("Content-Encoding"))
		return invalidResponse(got.StatusCode, got.Header, cause)
	}
	given := got.Header.Get("Content-Type")
	if mediaType, _, err := mime.ParseMediaType(given); err == nil && mediaType == wanted {
		return nil
	}
	return invalidResponse(got.StatusCode, got.Header, fmt.Errorf("its media type is %q", given))
}

func refusal(ctx context.Context, got *http.Response) *Error {
	text, err := readBody(got)
	if got.StatusCode < http.StatusBadRequest {
		return invalidResponse(got.StatusCode, got.Header, fmt.Errorf("status %d", got.StatusCode))
	}
	if err != nil && !errors.Is(err, errTooLarge) {
		return connectionError(ctx, err)
	}
	if isEncoded(got) {
		text = nil
	}
	return problemError(got.StatusCode, got.Header, text)
}

func (c *Client) attempt(ctx context.Context, r request, ready *encodedRequest) (*response, *Error) {
	got, failed := c.send(ctx, r, ready)
	if failed != nil {
		return nil, failed
	}
	defer got.Body.Close()
	text, err := readBody(got)
	if errors.Is(err, errTooLarge) {
		return nil, invalidResponse(got.StatusCode, got.Header, err)
	}
	if err != nil {
		return nil, connectionError(ctx, err)
	}
	answer := &response{request: c.nameOf(r), status: got.StatusCode, header: got.Header}
	if isEmpty(got.StatusCode) {
		return answer, nil
	}
	parse := strictjson.Parse
	if r.header.Get("Accept") == rulesType {
		parse = plainText
	}
	if answer.value, err = parse(text); err != nil {
		return nil, garbledResponse(got.StatusCode, got.Header, err)
	}
	return answer, nil
}

func plainText(text []byte) (any, error) {
	if !utf8.Valid(text) {
		return nil, errors.New("it is not UTF-8")
	}
	return string(text), nil
}

var errTooLarge = errors.New("it is too large")

func readBody(got *http.Response) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(got.Body, responseBytesMax+1))
	if err == nil && len(text) > responseBytesMax {
		return nil, errTooLarge
	}
	return text, err
}

// callFor calls, and decodes the answer.
func callFor[T any](ctx context.Context, c *Client, r request, decode func(any) (T, error)) (T, *response, error) {
	var none T
	answer, err := c.call(ctx, r)
	if err != nil {
		return none, nil, err
	}
	decoded, wrong := decode(answer.value)
	if wrong != nil {
		return none, nil, answer.invalid(wrong)
	}
	return decoded, answer, nil
}

func get(operation, path string, query url.Values) request {
	return request{operation: operation, method: http.MethodGet, path: path, query: query, accepts: []int{http.StatusOK}}
}

func post(operation, path string, body any, accepts ...int) request {
	if len(accepts) == 0 {
		accepts = []int{http.StatusOK}
	}
	return request{operation: operation, method: http.MethodPost, path: path, body: body, accepts: accepts}
}
