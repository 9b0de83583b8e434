// The log of a client: an entry for each attempt of a call, at the level "debug". An entry holds no header, body or
// query, so no API key and no subject.

package grantd

import (
	"context"
	"log/slog"
	"net/http"
	"time"
)

// log returns the logger of the Config, or slog.Default as it is now.
func (c *Client) log() *slog.Logger {
	if c.logger != nil {
		return c.logger
	}
	return slog.Default()
}

// logAttempt writes an entry. `failed` is nil of a success.
func (c *Client) logAttempt(
	ctx context.Context, r request, attempt int, start time.Time, status int, header http.Header, failed *Error,
) {
	logger := c.log()
	if !logger.Enabled(ctx, slog.LevelDebug) {
		return
	}
	attributes := []slog.Attr{
		slog.String("operation", r.operation), slog.String("method", r.method), slog.String("path", r.path),
		slog.Int("attempt", attempt), slog.Int64("took_ms", time.Since(start).Milliseconds()),
	}
	requestID := requestIDOf(header)
	if failed != nil {
		status, requestID = failed.Status, failed.RequestID
		attributes = append(attributes, slog.String("error", failed.Type))
	}
	if status != 0 {
		attributes = append(attributes, slog.Int("status", status))
	}
	if requestID != "" {
		attributes = append(attributes, slog.String("request_id", requestID))
	}
	logger.LogAttrs(ctx, slog.LevelDebug, "grantd", attributes...)
}
