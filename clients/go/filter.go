// Filters: what an application puts into the WHERE of its own query on Postgres, beside a mirror that "grantd sync"
// keeps there. A filter passes exactly what the subject could list at one moment; without an answer there is an error,
// and no filter that passes more.

package grantd

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
)

const (
	filterObjectsMax = 10_000
	filterWait       = 200 * time.Millisecond
	// Sets that are too old, or of other rules than those of the mirror, are asked for again.
	filterAttempts = 3
	filterPause    = 50 * time.Millisecond
	// Postgres cuts longer names, and ":objects" comes behind.
	functionNameMax = 55

	transactionAborted = "25P02"
)

// Why a mirror gives no filter: the reasons of a MirrorError.
const (
	// It has not come as far as the sets of the subject. Try again, or look at "grantd sync".
	MirrorBehind = "behind"
	// It no longer has the moment of the sets.
	MirrorStale = "stale"
	// It is for other rules: these have changed, and it is about to follow.
	MirrorOtherRules = "other-rules"
	// It has not been made yet.
	MirrorNotReady = "not-ready"
)

// By SQLSTATE.
var mirrorReasons = map[string]string{
	"GR001": MirrorBehind, "GR002": MirrorStale, "GR003": MirrorOtherRules, "GR004": MirrorNotReady,
}

// MirrorError says that the mirror has no answer now.
type MirrorError struct {
	// Such as MirrorBehind.
	Reason string
	// Of the database.
	Err error
}

func (e *MirrorError) Error() string {
	return "grantd: the mirror is " + e.Reason + ": " + printable(e.Err.Error())
}

// Unwrap leads to an *Error of the type "mirror-" and the reason, and to the error of the database.
func (e *MirrorError) Unwrap() []error {
	return []error{&Error{Type: "mirror-" + e.Reason, Retryable: true, Detail: printable(e.Err.Error())}, e.Err}
}

// Queryer asks a database: a *sql.DB, *sql.Conn or *sql.Tx.
type Queryer interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// FilterOptions say what is filtered and how. Everything is optional.
type FilterOptions struct {
	// The column with the ids of the objects: what is behind "document:". It is SQL of the application, and becomes a
	// part of the filter as it is. Default: id.
	ID string
	// The type of ID, as in "bigint". SQL, too. Default: text.
	IDType string
	// As the mirror was made with.
	Deep []string
	// Conditions are met with it.
	CallContext
	// The filter also passes objects for which a condition lacks a parameter: check them.
	Candidates bool
	// Of the mirror. Default: grantd.
	Schema string
	// Up to so many objects, the filter is a list of ids; above, a function of each row. Default: 10,000.
	ObjectsMax int
	// How long the mirror may take to catch up. Default: 200 ms. Negative: it may not.
	Wait time.Duration
	// The number of the first parameter of the filter: 4 if the query has $1 to $3. Default: 1.
	FirstParameter int
}

// Filter is a condition for a query.
type Filter struct {
	// For the WHERE. With an error it is "false".
	SQL string
	// The values of its parameters, from FirstParameter on.
	Args []any
	// "objects": of a list of ids. "rows": of a function of each row, which the application's query may end with an error
	// of the SQLSTATE GR002 or GR003 if it comes late: ask for another filter then.
	Form string
	// The moment of the list.
	At LogMoment
	// That of the rules.
	Revision string
}

var joinedName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]{0,63}$`)

// plainColumn has one meaning behind every operator.
var plainColumn = regexp.MustCompile(`^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$`)

type filterCall struct {
	db       Queryer
	sets     SetsRequest
	options  FilterOptions
	function string
}

// Filter asks for the sets of a subject and a mirror in the database, and returns the condition that exactly the
// objects on which the subject holds the name meet: "document.can_read" is the name can_read of objects "document:…".
// Errors of the mirror are a *MirrorError, other ones of the database are as they are. In a transaction, an error of
// the mirror ends it, as any error of Postgres does.
func (c *Client) Filter(
	ctx context.Context, db Queryer, subject, name string, options FilterOptions,
) (Filter, error) {
	call, err := newFilterCall(db, subject, name, options)
	if err != nil {
		return Filter{SQL: "false"}, err
	}
	var last *MirrorError
	for attempt := 1; ; attempt++ {
		sets, err := c.ReadSets(ctx, call.sets)
		if err != nil {
			return Filter{SQL: "false"}, err
		}
		filter, err := call.ask(ctx, sets)
		if err == nil {
			return filter, nil
		}
		// The first error of a transaction says why it has no more answers.
		if last != nil && sqlState(err) == transactionAborted {
			return Filter{SQL: "false"}, last
		}
		if !errors.As(err, &last) || attempt == filterAttempts || !isWorthAsking(last) {
			return Filter{SQL: "false"}, err
		}
		if stopped := wait(ctx, filterPause); stopped != nil {
			return Filter{SQL: "false"}, stopped
		}
	}
}

// isWorthAsking: newer sets may help.
func isWorthAsking(last *MirrorError) bool {
	return last.Reason == MirrorStale || last.Reason == MirrorOtherRules
}

// sqlState: every driver that is maintained has it in its errors.
func sqlState(err error) string {
	var failed interface{ SQLState() string }
	if errors.As(err, &failed) {
		return failed.SQLState()
	}
	return ""
}

func newFilterCall(db Queryer, subject, name string, options FilterOptions) (*filterCall, error) {
	dot := strings.LastIndexByte(name, '.')
	if dot < 0 {
		return nil, unsendable("%q is not of the form namespace.name", name)
	}
	join := JoinQuery{Namespace: name[:dot], Name: name[dot+1:], Deep: options.Deep}
	parts := append([]string{join.Namespace, join.Name}, join.Deep...)
	for _, part := range parts {
		if !joinedName.MatchString(part) {
			return nil, unsendable("%q is not a name", part)
		}
	}
	function := strings.Join(append([]string{name}, join.Deep...), "+")
	if len(function) > functionNameMax {
		return nil, unsendable("the mirror has no function of a name as long as %q", function)
	}
	orDefault(&options.ID, "id")
	orDefault(&options.IDType, "text")
	orDefault(&options.Schema, "grantd")
	orDefault(&options.ObjectsMax, filterObjectsMax)
	orDefault(&options.Wait, filterWait)
	orDefault(&options.FirstParameter, 1)
	if strings.ContainsRune(options.ID+options.IDType+options.Schema, 0) {
		return nil, unsendable("a text of SQL has a NUL")
	}
	if !plainColumn.MatchString(options.ID) {
		options.ID = "(" + options.ID + ")"
	}
	return &filterCall{
		db: db,
		sets: SetsRequest{
			Subject: subject, Join: join, Context: options.Context, ContextGrants: options.ContextGrants,
			Perhaps: options.Candidates,
		},
		options:  options,
		function: function,
	}, nil
}

func orDefault[T comparable](option *T, value T) {
	var none T
	if *option == none {
		*option = value
	}
}

func quotedIdentifier(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// arrayText is a text[] that every driver can send: the text of one.
func arrayText(items []string) string {
	quoted := make([]string, len(items))
	for index, item := range items {
		quoted[index] = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(item) + `"`
	}
	return "{" + strings.Join(quoted, ",") + "}"
}

// arguments are the sets as the functions take them, and their types.
func arguments(sets SubjectSets) (args []any, types []string) {
	own := max(strings.LastIndexByte(sets.Own, '#'), 0)
	return []any{
		arrayText(sets.Subjects), arrayText(sets.Held), arrayText(sets.Perhaps), sets.Own[:own],
		strings.TrimPrefix(sets.Own[own:], "#"), sets.At.Seq, sets.At.Time.UnixMilli(), sets.Through,
		sets.TenantID + ":" + sets.Revision,
	}, strings.Fields("text[] text[] text[] text text bigint bigint bigint text")
}

func (f *filterCall) called(suffix string, parameters ...string) string {
	return fmt.Sprintf("%s.%s(%s)", quotedIdentifier(f.options.Schema), quotedIdentifier(f.function+suffix),
		strings.Join(parameters, ", "))
}

// parameters are $n with a type, from the first on, each in a query of its own: it is read once, and not for each row.
func parameters(first int, types []string) []string {
	texts := make([]string, len(types))
	for index, each := range types {
		texts[index] = fmt.Sprintf("(SELECT $%d::%s)", first+index, each)
	}
	return texts
}

// ask waits for the mirror, and finds out whether there are few objects or many.
func (f *filterCall) ask(ctx context.Context, sets SubjectSets) (Filter, error) {
	args, types := arguments(sets)
	query := "SELECT object, sure FROM " +
		f.called(":objects", parameters(1, append(types, "integer", "integer"))...)
	limits := []any{f.options.ObjectsMax, max(f.options.Wait, 0).Milliseconds()}
	ids, isAll, err := f.objects(ctx, query, append(args, limits...))
	if err != nil {
		if reason := mirrorReasons[sqlState(err)]; reason != "" {
			err = &MirrorError{Reason: reason, Err: err}
		}
		return Filter{}, err
	}
	filter := Filter{Form: "objects", At: sets.At, Revision: sets.Revision}
	first := f.options.FirstParameter
	if isAll {
		filter.SQL = fmt.Sprintf("%s = ANY($%d::%s[])", f.options.ID, first, f.options.IDType)
		filter.Args = []any{arrayText(ids)}
		return filter, nil
	}
	object := fmt.Sprintf("'%s:' || %s", f.sets.Join.Namespace, f.options.ID)
	truth := "IS TRUE"
	if f.options.Candidates {
		truth = "IS NOT FALSE"
	}
	filter.Form, filter.Args = "rows", args
	filter.SQL = f.called("", append([]string{object}, parameters(first, types)...)...) + " " + truth
	return filter, nil
}

// objects returns the ids of all objects, unless there are too many.
func (f *filterCall) objects(ctx context.Context, query string, args []any) (ids []string, isAll bool, err error) {
	rows, err := f.db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, false, err
	}
	defer rows.Close()
	prefix := f.sets.Join.Namespace + ":"
	isAll = true
	for rows.Next() {
		var object sql.NullString
		var sure sql.NullBool
		if err := rows.Scan(&object, &sure); err != nil {
			return nil, false, err
		}
		id, isKnown := strings.CutPrefix(object.String, prefix)
		switch {
		case !object.Valid:
			isAll = false
		case !isKnown:
			return nil, false, fmt.Errorf("grantd: the mirror has %q among objects of %q", object.String, prefix)
		case sure.Bool, f.options.Candidates && !sure.Valid:
			ids = append(ids, id)
		}
	}
	return ids, isAll, rows.Err()
}
