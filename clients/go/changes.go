// The change feed: a stream of lines. After a lost connection it resumes at its last cursor, so that no change is
// missed or repeated.

package grantd

import (
	"bufio"
	"context"
	"errors"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/grantd/grantd/clients/go/internal/strictjson"
)

// A line has one change, whose rules may have 128 KiB, twice, and be escaped.
const lineBytesMax = 2 << 20

// ChangesQuery selects where the feed begins and which changes it has. Without Cursor and Since, it begins with the
// oldest stored change.
type ChangesQuery struct {
	// Only changes after it. Optional.
	Cursor string
	// Only changes since this time (RFC 3339), or from "now" on. Not with Cursor. Optional.
	Since string
	// Only grants on objects of these namespaces, the namespaces themselves, and rules. Optional.
	Namespaces []string
	// Only grants of these relations, and rules. Optional.
	Relations []string
	// Only grants of these relations on objects of these namespaces, such as "document:viewer", and rules. Not with
	// Namespaces and Relations. Optional.
	On []string
	// Only these, such as "grant.created". Optional.
	Actions []string
	// Changes also yields checkpoints: one after each batch of changes, and every few seconds without one.
	Checkpoints bool
}

// ChangeEvent is one change, or a checkpoint, and the cursor behind it.
type ChangeEvent struct {
	Cursor string
	// Nil: a checkpoint.
	Change *Change
	// Only of a checkpoint: every change of the entries of the log up to this one that passes the query has been
	// yielded. No entry is half there by this measure.
	Seq int64
}

func (q ChangesQuery) values() (url.Values, *Error) {
	values := queryOf("cursor", q.Cursor, "since", q.Since)
	return values, setLists(values, list{"namespace", q.Namespaces}, list{"relation", q.Relations}, list{"on", q.On},
		list{"action", q.Actions})
}

type list struct {
	name  string
	items []string
}

// setLists: a comma would make two of an item, and an empty one none, which means all.
func setLists(values url.Values, lists ...list) *Error {
	for _, each := range lists {
		for index, item := range each.items {
			if item == "" || strings.Contains(item, ",") {
				return unsendable(`"%s[%d]" is empty or has a comma: %q`, each.name, index, item)
			}
		}
		if len(each.items) > 0 {
			values.Set(each.name, strings.Join(each.items, ","))
		}
	}
	return nil
}

// ListChangesPage reads one page of up to `limit` changes (0: 100). If there is none, it waits for up to `wait` whole
// seconds, at most 30.
func (c *Client) ListChangesPage(
	ctx context.Context, query ChangesQuery, limit int, wait time.Duration,
) (ChangeList, error) {
	parameters, wrong := query.values()
	if wrong != nil {
		return ChangeList{}, wrong
	}
	if limit != 0 {
		parameters.Set("limit", strconv.Itoa(limit))
	}
	if wait > 0 {
		parameters.Set("wait", strconv.Itoa(int(wait/time.Second)))
	}
	return callForAll(ctx, c, listChanges(parameters), decodeChangeList)
}

// Changes yields every change, in order and once, and waits for more until the context ends. It ends after the first
// error that it yields, which a retry cannot resolve.
func (c *Client) Changes(ctx context.Context, query ChangesQuery) iter.Seq2[ChangeEvent, error] {
	return func(yield func(ChangeEvent, error) bool) {
		feed := &feed{client: c, query: query, yield: yield, seq: -1}
		for failures := 1; ; failures++ {
			delivered := feed.delivered
			err := feed.follow(ctx, failures).about(c.nameOf(listChanges(nil)))
			if feed.isOver {
				return
			}
			if !err.Retryable {
				yield(ChangeEvent{}, err)
				return
			}
			if feed.delivered > delivered {
				failures = 1
			}
			if stopped := wait(ctx, c.retries.pauseBefore(failures, err.RetryAfter)); stopped != nil {
				yield(ChangeEvent{}, stopped)
				return
			}
		}
	}
}

type feed struct {
	client *Client
	query  ChangesQuery
	yield  func(ChangeEvent, error) bool
	// The last change.
	seq, index int64
	// The number of lines delivered.
	delivered int
	// The caller has stopped the iteration.
	isOver bool
}

// start fixes what "now" means: after a connection is lost, a second "now" would miss changes in between. The page may
// have a change already.
func (f *feed) start(ctx context.Context) *Error {
	if f.query.Cursor != "" || f.query.Since != "now" {
		return nil
	}
	page, err := f.client.ListChangesPage(ctx, f.query, 1, 0)
	var failed *Error
	if errors.As(err, &failed) {
		return failed
	}
	f.query.Cursor, f.query.Since = page.NextCursor, ""
	for _, change := range page.Changes {
		if f.yieldNew(page.NextCursor, &change); f.isOver {
			return nil
		}
	}
	return nil
}

// yieldNew leaves out what a connection repeats.
func (f *feed) yieldNew(cursor string, change *Change) {
	if change.Seq > f.seq || (change.Seq == f.seq && change.Index > f.index) {
		f.seq, f.index = change.Seq, change.Index
		f.isOver = !f.yield(ChangeEvent{Cursor: cursor, Change: change}, nil)
	}
}

func listChanges(parameters url.Values) request { return get("listChanges", "/v1/changes", parameters) }

var (
	errSilence = errors.New("no data for too long")
	errEnded   = errors.New("the stream has ended")
)

// follow reads one connection to its end. The error says why it ended, unless isOver.
func (f *feed) follow(parent context.Context, attempt int) *Error {
	if err := f.start(parent); err != nil || f.isOver {
		return err
	}
	parameters, err := f.query.values()
	if err != nil {
		return err
	}
	if f.query.Checkpoints {
		parameters.Set("checkpoints", "batch")
	}
	call := listChanges(parameters)
	ready, err := f.client.prepare(call, http.Header{"Accept": {"application/x-ndjson"}})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(parent)
	defer cancel()
	var silent atomic.Bool
	watch := time.AfterFunc(f.client.silence, func() {
		silent.Store(true)
		cancel()
	})
	defer watch.Stop()
	why := func(cause error) *Error {
		if silent.Load() && parent.Err() == nil {
			return connectionError(parent, errSilence)
		}
		return connectionError(ctx, cause)
	}
	begin := time.Now()
	got, err := f.client.send(ctx, call, ready)
	if err != nil && silent.Load() {
		err = why(err)
	}
	if err != nil {
		f.client.logAttempt(ctx, call, attempt, begin, 0, nil, err)
		return err
	}
	f.client.logAttempt(ctx, call, attempt, begin, got.StatusCode, got.Header, nil)
	defer got.Body.Close()
	lines := bufio.NewScanner(got.Body)
	lines.Buffer(nil, lineBytesMax)
	lines.Split(wholeLines)
	for lines.Scan() {
		watch.Reset(f.client.silence)
		if len(lines.Bytes()) == 0 {
			continue
		}
		value, err := strictjson.Parse(lines.Bytes())
		if err != nil {
			return garbledResponse(got.StatusCode, got.Header, err)
		}
		if err := f.deliver(value); err != nil {
			return invalidResponse(got.StatusCode, got.Header, err)
		}
		if f.isOver {
			return nil
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return invalidResponse(got.StatusCode, got.Header, errTooLarge)
	}
	if lines.Err() != nil {
		return why(lines.Err())
	}
	return why(errEnded)
}

// wholeLines drops the part after the last newline: half a line of a lost connection.
func wholeLines(data []byte, atEnd bool) (int, []byte, error) {
	if atEnd && !strings.Contains(string(data), "\n") {
		return len(data), nil, nil
	}
	return bufio.ScanLines(data, false)
}

func (f *feed) deliver(value any) error {
	line, err := decodeChangeLine(value)
	if err != nil {
		return err
	}
	f.delivered++
	f.query.Cursor, f.query.Since = line.Cursor, ""
	switch line.Type {
	case "change":
		if line.Change == nil {
			return errors.New("a line without its change")
		}
		f.yieldNew(line.Cursor, line.Change)
	case "checkpoint":
		if f.query.Checkpoints {
			if line.Seq == nil {
				return errors.New("a checkpoint without its seq")
			}
			f.isOver = !f.yield(ChangeEvent{Cursor: line.Cursor, Seq: *line.Seq}, nil)
		}
	}
	return nil
}
