package grantd

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"testing"
)

func changeLine(cursor string, seq int) string {
	return fmt.Sprintf(`{"type": "change", "cursor": %q, "change": {"seq": %d, "index": 0, "at": "2026-01-15T09:30:00.000Z",
		"actor": "system", "request_id": "req_1", "action": "grant.created"}}`, cursor, seq)
}

// oneLine: a line of the stream has no line breaks.
func oneLine(text string) string {
	return string(slices.DeleteFunc([]byte(text), func(b byte) bool { return b == '\n' || b == '\t' })) + "\n"
}

func TestAFeedFromNowLeavesNothingOutWhenItsConnectionIsLost(t *testing.T) {
	var streams []string
	client := clientOf(t, Config{}, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Accept") == "application/json" {
			answer(w, `{"changes": [], "next_cursor": "now-1", "seq": 1}`)
			return
		}
		streams = append(streams, r.URL.RawQuery)
		if len(streams) == 1 {
			panic(http.ErrAbortHandler)
		}
		w.Header().Set("Content-Type", "application/x-ndjson")
		_, _ = io.WriteString(w, oneLine(changeLine("c1", 1)))
	})
	var cursors []string
	for event, err := range client.Changes(t.Context(), ChangesQuery{Since: "now"}) {
		if err != nil {
			t.Fatal(err)
		}
		cursors = append(cursors, event.Cursor)
		break
	}
	if !slices.Equal(streams, []string{"cursor=now-1", "cursor=now-1"}) || !slices.Equal(cursors, []string{"c1"}) {
		t.Errorf("%q, %q", streams, cursors)
	}
}

func TestAFeedGoesOnBehindTheLastWholeLine(t *testing.T) {
	var streams []string
	client := clientOf(t, Config{}, func(w http.ResponseWriter, r *http.Request) {
		streams = append(streams, r.URL.RawQuery)
		w.Header().Set("Content-Type", "application/x-ndjson")
		// Each connection ends within its second line.
		_, _ = io.WriteString(w, oneLine(changeLine(fmt.Sprintf("c%d", len(streams)), len(streams)))+`{"type": "cha`)
	})
	var cursors []string
	for event, err := range client.Changes(t.Context(), ChangesQuery{Cursor: "c0"}) {
		if err != nil {
			t.Fatal(err)
		}
		if cursors = append(cursors, event.Cursor); len(cursors) == 3 {
			break
		}
	}
	if !slices.Equal(cursors, []string{"c1", "c2", "c3"}) ||
		!slices.Equal(streams, []string{"cursor=c0", "cursor=c1", "cursor=c2"}) {
		t.Errorf("%q, %q", streams, cursors)
	}
}
