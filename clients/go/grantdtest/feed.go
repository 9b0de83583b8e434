// The change feed, as pages and as a stream.

package grantdtest

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

const checkpointEvery = 15 * time.Second

var actions = []string{
	"grant.created", "grant.updated", "grant.revoked", "grant.expired", "namespace.created", "rules.updated",
}

func feedCursor(position int) string { return writeCursor("changes", strconv.Itoa(position)) }

type feed struct {
	fake *Fake
	// How many changes lie before it.
	position            int
	namespace, relation any
	actions             []string
	limit               int
	wait                time.Duration
}

func listChanges(c *call) any {
	query := c.queryObject("cursor", "since", "namespace", "relation", "action", "limit", "wait")
	f := &feed{fake: c.fake, namespace: query["namespace"], relation: query["relation"], limit: limitDefault}
	if _, has := query["relation"]; has {
		builtInIn(query, "")
	}
	if text, has := query["action"].(string); has {
		f.actions = strings.Split(text, ",")
		for _, action := range f.actions {
			if !slices.Contains(actions, action) {
				refuse(invalidRequest, "There is no action %q.", action)
			}
		}
	}
	if text, has := query["limit"].(string); has {
		f.limit, _ = strconv.Atoi(text)
	}
	if text, has := query["wait"].(string); has {
		seconds, _ := strconv.Atoi(text)
		f.wait = time.Duration(seconds) * time.Second
	}
	if f.limit < 1 || f.limit > limitMax || f.wait < 0 || f.wait > 30*time.Second {
		refuse(invalidRequest, `"limit" or "wait" is out of bounds`)
	}
	f.begin(query)
	return f
}

func (f *feed) begin(query object) {
	from, hasCursor := query["cursor"].(string)
	since, hasSince := query["since"].(string)
	switch {
	case hasCursor && hasSince:
		refuse(invalidRequest, `"cursor" and "since" are both given`)
	case hasCursor:
		position, err := strconv.Atoi(readCursor("changes", from))
		if err != nil || position < 0 || position > len(f.fake.changes) {
			refuse("invalid-cursor", "The cursor was not issued for this feed.")
		}
		f.position = position
	case since == "now":
		f.position = len(f.fake.changes)
	case hasSince:
		at, err := time.Parse(time.RFC3339Nano, since)
		if err != nil {
			refuse(invalidRequest, `"since" must be a time, or "now"`)
		}
		for f.position < len(f.fake.changes) && f.fake.changes[f.position]["at"].(string) < timeText(at) {
			f.position++
		}
	}
}

func (f *feed) passes(change object) bool {
	action := change["action"].(string)
	if f.actions != nil && !slices.Contains(f.actions, action) {
		return false
	}
	if grant, isGrant := change["grant"].(object); isGrant {
		return (f.relation == nil || f.relation == grant["relation"]) &&
			(f.namespace == nil || f.namespace == namespaceOf(grant["object"].(string)))
	}
	if namespace, isNamespace := change["namespace"].(object); isNamespace {
		return f.relation == nil && (f.namespace == nil || f.namespace == namespace["name"])
	}
	return true
}

// next returns the next change that passes the filter, or nil and a channel to wait on.
func (f *feed) next() (object, <-chan struct{}) {
	f.fake.mutex.Lock()
	defer f.fake.mutex.Unlock()
	f.fake.expire()
	for f.position < len(f.fake.changes) {
		change := f.fake.changes[f.position]
		f.position++
		if f.passes(change) {
			return change, nil
		}
	}
	return nil, f.fake.news
}

func (f *feed) page(ctx context.Context) any {
	end := time.NewTimer(f.wait)
	defer end.Stop()
	changes := []any{}
	for len(changes) < f.limit {
		change, news := f.next()
		if change != nil {
			changes = append(changes, change)
			continue
		}
		if len(changes) > 0 || f.wait == 0 {
			break
		}
		select {
		case <-news:
		case <-end.C:
			f.wait = 0
		case <-ctx.Done():
			f.wait = 0
		}
	}
	return object{"changes": changes, "next_cursor": feedCursor(f.position)}
}

func (f *feed) stream(ctx context.Context, w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/x-ndjson")
	w.WriteHeader(http.StatusOK)
	flush, _ := w.(http.Flusher)
	for {
		line := object{"type": "change"}
		change, news := f.next()
		if change != nil {
			line["change"] = change
		} else {
			checkpoint := time.NewTimer(checkpointEvery)
			select {
			case <-news:
				checkpoint.Stop()
				continue
			case <-ctx.Done():
				checkpoint.Stop()
				return
			case <-checkpoint.C:
				line = object{"type": "checkpoint", "at": timeText(f.fake.now())}
			}
		}
		line["cursor"] = feedCursor(f.position)
		if json.NewEncoder(w).Encode(line) != nil {
			return
		}
		if flush != nil {
			flush.Flush()
		}
	}
}
