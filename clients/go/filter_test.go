package grantd

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net/http"
	"testing"
)

// brokenMirror is a database in which each query has one object, and then the next error.
type brokenMirror struct{ errs []error }

func (m *brokenMirror) Connect(context.Context) (driver.Conn, error) { return m, nil }
func (m *brokenMirror) Driver() driver.Driver                        { return nil }
func (m *brokenMirror) Prepare(string) (driver.Stmt, error)          { return nil, errors.ErrUnsupported }
func (m *brokenMirror) Close() error                                 { return nil }
func (m *brokenMirror) Begin() (driver.Tx, error)                    { return nil, errors.ErrUnsupported }

func (m *brokenMirror) QueryContext(context.Context, string, []driver.NamedValue) (driver.Rows, error) {
	rows := &brokenRows{err: m.errs[0]}
	m.errs = m.errs[1:]
	return rows, nil
}

type brokenRows struct {
	err  error
	read int
}

func (r *brokenRows) Columns() []string { return []string{"object", "sure"} }
func (r *brokenRows) Close() error      { return nil }
func (r *brokenRows) Next(row []driver.Value) error {
	if r.read++; r.read > 1 {
		return r.err
	}
	row[0], row[1] = "document:plan", true
	return nil
}

type sqlError string

func (e sqlError) Error() string    { return "an error of the database" }
func (e sqlError) SQLState() string { return string(e) }

func TestAFilterOfHalfAnAnswerPassesNothing(t *testing.T) {
	client := clientOf(t, Config{}, func(w http.ResponseWriter, r *http.Request) {
		answer(w, `{"subjects": ["user:ada"], "held": [], "perhaps": [], "own": "user:ada#self", "tenant_id": "ten_a", "revision": "r",
			"at": {"seq": 7, "time": "2026-01-15T09:30:00.000Z"}, "through": 7}`)
	})
	lost := errors.New("the connection is lost")
	for wanted, errs := range map[string][]error{
		"":                   {lost},
		"mirror-behind":      {sqlError("GR001")},
		"mirror-other-rules": {sqlError("GR002"), sqlError("GR003"), sqlError("GR003")},
		// A transaction that has ended only says so.
		"mirror-stale": {sqlError("GR002"), sqlError("25P02")},
	} {
		mirror := &brokenMirror{errs}
		filter, err := client.Filter(t.Context(), sql.OpenDB(mirror), "user:ada", "document.can_read", FilterOptions{})
		if filter.SQL != "false" || filter.Args != nil || len(mirror.errs) != 0 {
			t.Errorf("%+v, %d errors are left", filter, len(mirror.errs))
		}
		if ErrorType(err) != wanted || (wanted == "" && !errors.Is(err, lost)) {
			t.Errorf("%v is not %q", err, wanted)
		}
	}
	mirror := &brokenMirror{[]error{sqlError("GR003"), io.EOF}}
	filter, err := client.Filter(t.Context(), sql.OpenDB(mirror), "user:ada", "document.can_read", FilterOptions{})
	if err != nil || filter.SQL != "id = ANY($1::text[])" || filter.Args[0] != `{"plan"}` {
		t.Errorf("%+v, %v", filter, err)
	}
}
