// Warnings: hints for developers that the service sends in a header. The client logs each text at most once, with
// nothing but the header.

package grantd

import (
	"log/slog"
	"net/http"
	"strings"
	"sync"
)

const (
	// Bounds the log and the memory if every text differs.
	warningsMax     = 100
	warningBytesMax = 1024
)

type warnings struct {
	mutex  sync.Mutex
	logged map[string]bool
}

func newWarnings() *warnings { return &warnings{logged: map[string]bool{}} }

// logFrom logs the warnings of a response.
func (w *warnings) logFrom(header http.Header, logger *slog.Logger) {
	text := strings.Join(header.Values("X-Service-Warning"), ", ")
	if !isWarning(text) || !w.remember(text) {
		return
	}
	logger.Warn("grantd", "warning", text)
}

// isWarning: printable ASCII, which any log shows as it is.
func isWarning(text string) bool {
	return text != "" && len(text) <= warningBytesMax && isPrintable(text)
}

// remember reports whether the text is new and fits.
func (w *warnings) remember(text string) bool {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.logged[text] || len(w.logged) >= warningsMax {
		return false
	}
	w.logged[text] = true
	return true
}
