// Errors: one type for everything that fails, whether the service refused, could not be reached or returned an invalid
// response.

package grantd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/grantd/grantd/clients/go/internal/strictjson"
)

// Types of errors that the client itself finds. All others come from the service.
const (
	// The deadline of the call passed. Whether a write took effect is not known.
	TypeTimeout = "timeout"
	// The caller's context was cancelled. Whether a write took effect is not known.
	TypeCancelled = "cancelled"
	// The connection could not be made, or was lost. Whether a write took effect is not known.
	TypeConnectionLost = "connection-lost"
	// The response violates the API. It is never taken for a decision.
	TypeInvalidResponse = "invalid-response"
	// A condition fails in a repeated write whose first attempt may have taken effect. Read before you write again.
	TypeOutcomeUnknown = "outcome-unknown"
)

// Error is the error of every method of a Client.
type Error struct {
	// The code, such as "invalid-subject". Match on it, and handle an unknown one by its status.
	Type string
	// The HTTP status, or 0 if there was no answer.
	Status int
	// The id of the request at the service, if it answered.
	RequestID string
	// Whether the same call can succeed later.
	Retryable bool
	// For people.
	Detail string
	// The service's Retry-After, or 0.
	RetryAfter time.Duration
	// Set for "already-created": the API key that an earlier request created.
	KeyID string
	// Set for "cursor-too-old": the cursor at which the change feed begins now.
	Earliest string
	// The method and the URL of the request, without its query.
	Request string

	cause error
	// Whether the client repeats the call.
	repeatable bool
	// Whether a write may have taken effect despite the error.
	unknown bool
}

func (e *Error) Error() string {
	text := "grantd: " + e.Type
	if e.Detail != "" {
		text += ": " + e.Detail
	}
	switch {
	case e.Request != "" && e.RequestID != "":
		text += " (" + e.Request + ", " + e.RequestID + ")"
	case e.Request+e.RequestID != "":
		text += " (" + e.Request + e.RequestID + ")"
	}
	return printableLines(text)
}

// printable escapes what would forge lines of a log, steer a terminal, or show a text in another order.
func printable(text string) string {
	var built strings.Builder
	for _, r := range text {
		switch {
		case unicode.IsControl(r), r == 0x2028, r == 0x2029, unicode.Is(unicode.Bidi_Control, r):
			fmt.Fprintf(&built, `\u%04x`, r)
		default:
			built.WriteRune(r)
		}
	}
	return built.String()
}

// problemLine begins a line of a problem about rules. No entry of a log begins so.
var problemLine = regexp.MustCompile(`\\u000a {0,2}(Line \d|"|And \d)`)

// printableLines keeps the lines of a problem about rules, indented.
func printableLines(text string) string {
	return problemLine.ReplaceAllString(printable(text), "\n  $1")
}

func requestIDOf(header http.Header) string { return printable(header.Get("X-Service-Request-Id")) }

// about says where the request of the error went.
func (e *Error) about(request string) *Error {
	if e != nil && e.Request == "" {
		e.Request = request
	}
	return e
}

// Unwrap leads to context.DeadlineExceeded, context.Canceled, or the error of the connection.
func (e *Error) Unwrap() error { return e.cause }

// ErrorType is the type of an *Error in err's chain, or "".
func ErrorType(err error) string {
	var found *Error
	if errors.As(err, &found) {
		return found.Type
	}
	return ""
}

func contextError(ctx context.Context) *Error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &Error{
			Type: TypeTimeout, Retryable: true, Detail: "the deadline of the call passed",
			cause: context.DeadlineExceeded, unknown: true,
		}
	}
	return &Error{Type: TypeCancelled, Detail: "the call was cancelled", cause: context.Canceled, unknown: true}
}

func connectionError(ctx context.Context, cause error) *Error {
	if ctx.Err() != nil {
		return contextError(ctx)
	}
	text := cause.Error()
	var failed *url.Error
	if errors.As(cause, &failed) {
		// Its own text has the query.
		text = failed.Err.Error()
	}
	return &Error{
		Type: TypeConnectionLost, Retryable: true, Detail: printable(text),
		cause: cause, repeatable: true, unknown: true,
	}
}

func invalidResponse(status int, header http.Header, cause error) *Error {
	return &Error{
		Type: TypeInvalidResponse, Status: status, RequestID: requestIDOf(header),
		Detail: printable("the response is not what the API promises: " + cause.Error()), cause: cause, unknown: true,
	}
}

// garbledResponse is for a response corrupted between the service and the client.
func garbledResponse(status int, header http.Header, cause error) *Error {
	garbled := invalidResponse(status, header, cause)
	garbled.Retryable, garbled.repeatable = true, true
	return garbled
}

func outcomeUnknown(condition *Error) *Error {
	return &Error{
		Type: TypeOutcomeUnknown, Status: condition.Status, RequestID: condition.RequestID, cause: condition,
		Detail: "a condition fails now, but an earlier attempt may have taken effect: " + condition.Detail,
	}
}

func isRetryable(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusBadGateway,
		http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// retryAfter reads whole seconds, the only form that the API has. What is longer than a time can be is as long as it can.
func retryAfter(header http.Header) time.Duration {
	seconds, err := strconv.ParseUint(header.Get("Retry-After"), 10, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return 0
	}
	return time.Duration(min(seconds, math.MaxInt32)) * time.Second
}

var typeSegment = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,63}$`)

// problemError reads a problem document (RFC 9457). Something between client and service may answer with another body.
func problemError(status int, header http.Header, body []byte) *Error {
	value, err := strictjson.Parse(body)
	o := objectOf(value)
	address, title := required(o, "type", decodeText), orZero(o, "title", decodeText)
	detail, instance := orZero(o, "detail", decodeText), orZero(o, "instance", decodeText)
	kind := address[strings.LastIndexByte(address, '/')+1:]
	if err != nil || o.err != nil || !typeSegment.MatchString(kind) {
		failed := invalidResponse(status, header, fmt.Errorf("status %d without a problem document", status))
		failed.Retryable = isRetryable(status)
		failed.repeatable = failed.Retryable
		failed.RetryAfter = retryAfter(header)
		return failed
	}
	failed := &Error{
		Type: kind, Status: status, RequestID: cmp.Or(printable(instance), requestIDOf(header)),
		Retryable: isRetryable(status), Detail: printableLines(cmp.Or(detail, title)), RetryAfter: retryAfter(header),
		KeyID: orZero(o, "key_id", decodeText), Earliest: orZero(o, "earliest", decodeText),
	}
	failed.repeatable = failed.Retryable
	failed.unknown = status >= http.StatusInternalServerError && failed.Type != TypeOverloaded
	return failed
}
