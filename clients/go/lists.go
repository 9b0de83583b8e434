// Listings: iterators over all pages, and single pages for callers that show them. An iterator requests a page when it
// needs one, and ends after the first error that it yields.

package grantd

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"net/http"
	"net/url"
	"strconv"
)

func queryOf(pairs ...string) url.Values {
	query := url.Values{}
	for index := 0; index < len(pairs); index += 2 {
		if pairs[index+1] != "" {
			query.Set(pairs[index], pairs[index+1])
		}
	}
	return query
}

func limitText(limit int) string {
	if limit == 0 {
		return ""
	}
	return strconv.Itoa(limit)
}

var errEndless = errors.New("a page leads to itself")

// pages yields the items of all pages. `page` reads one: its items, and the cursor of the next one, or "".
func pages[T any](first string, page func(cursor string) ([]T, string, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for cursor := first; ; {
			items, next, err := page(cursor)
			if err == nil && next != "" && next == cursor {
				err = invalidResponse(http.StatusOK, http.Header{}, errEndless)
			}
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, item := range items {
				if !yield(item, nil) {
					return
				}
			}
			if next == "" {
				return
			}
			cursor = next
		}
	}
}

// listing is a GET with a query, or with a context the same as a POST.
func listing(operation, path string, parameters url.Values, with CallContext) request {
	if with.isEmpty() {
		return get(operation, path, parameters)
	}
	body := map[string]any{}
	for name := range parameters {
		body[name] = parameters.Get(name)
	}
	if limit, err := strconv.Atoi(parameters.Get("limit")); err == nil {
		body["limit"] = limit
	}
	if with.Context != nil {
		body["context"] = with.Context
	}
	if with.ContextGrants != nil {
		body["context_grants"] = with.ContextGrants
	}
	return post(operation+"InContext", path, body)
}

func cursorOf(next *string) string {
	if next == nil {
		return ""
	}
	return *next
}

// ObjectsQuery selects the objects on which a subject has a relation or derived name.
type ObjectsQuery struct {
	Subject  string
	Relation string
	// Only objects of this namespace. Optional.
	Namespace string
	// "direct": without what follows from the rules. Optional.
	Via string
	// Items of a page, up to 1,000. Default: 100.
	Limit int
	// Where to resume. Optional.
	Cursor string
	// Optional.
	CallContext
}

// ListObjects yields all objects, ascending by bytes.
func (c *Client) ListObjects(ctx context.Context, query ObjectsQuery) iter.Seq2[string, error] {
	return pages(query.Cursor, func(cursor string) ([]string, string, error) {
		query.Cursor = cursor
		page, err := c.ListObjectsPage(ctx, query)
		return page.Objects, cursorOf(page.NextCursor), err
	})
}

// ListObjectsPage reads one page.
func (c *Client) ListObjectsPage(ctx context.Context, query ObjectsQuery) (ObjectList, error) {
	parameters := queryOf("namespace", query.Namespace, "via", query.Via, "limit", limitText(query.Limit), "cursor", query.Cursor)
	parameters.Set("subject", query.Subject)
	parameters.Set("relation", query.Relation)
	return callForAll(ctx, c, listing("listObjects", "/v1/objects", parameters, query.CallContext), decodeObjectList)
}

// SubjectsQuery selects the subjects that have a relation or derived name on an object.
type SubjectsQuery struct {
	Object   string
	Relation string
	// Only subjects of this namespace. Optional.
	Namespace string
	// "direct": without what follows from the rules. Optional.
	Via string
	// "self": also the groups "object#name" of the object itself whose members hold the relation by definition. Optional.
	Include string
	// Items of a page, up to 1,000. Default: 100.
	Limit int
	// Where to resume. Optional.
	Cursor string
	// Optional.
	CallContext
}

// ListSubjects yields all subjects, ascending by bytes.
func (c *Client) ListSubjects(ctx context.Context, query SubjectsQuery) iter.Seq2[string, error] {
	return pages(query.Cursor, func(cursor string) ([]string, string, error) {
		query.Cursor = cursor
		page, err := c.ListSubjectsPage(ctx, query)
		return page.Subjects, cursorOf(page.NextCursor), err
	})
}

// ListSubjectsPage reads one page.
func (c *Client) ListSubjectsPage(ctx context.Context, query SubjectsQuery) (SubjectList, error) {
	parameters := queryOf("namespace", query.Namespace, "via", query.Via, "include", query.Include,
		"limit", limitText(query.Limit), "cursor", query.Cursor)
	parameters.Set("object", query.Object)
	parameters.Set("relation", query.Relation)
	return callForAll(ctx, c, listing("listSubjects", "/v1/subjects", parameters, query.CallContext), decodeSubjectList)
}

// GrantsQuery selects the grants of a subject, or on an object: one of the two.
type GrantsQuery struct {
	Subject string
	Object  string
	// Only this relation. Optional.
	Relation string
	// Items of a page, up to 1,000. Default: 100.
	Limit int
	// Where to resume. Optional.
	Cursor string
}

// GrantPage is one page of grants.
type GrantPage struct {
	GrantList
	// Where the change feed stood before the page was read: follow it from that of the first page.
	FeedCursor string
}

// ListGrants yields the stored grants, ascending by relation, then by object or subject.
func (c *Client) ListGrants(ctx context.Context, query GrantsQuery) iter.Seq2[Grant, error] {
	return pages(query.Cursor, func(cursor string) ([]Grant, string, error) {
		query.Cursor = cursor
		page, err := c.ListGrantsPage(ctx, query)
		return page.Grants, cursorOf(page.NextCursor), err
	})
}

// ListGrantsPage reads one page.
func (c *Client) ListGrantsPage(ctx context.Context, query GrantsQuery) (GrantPage, error) {
	parameters := queryOf("subject", query.Subject, "object", query.Object, "relation", query.Relation,
		"limit", limitText(query.Limit), "cursor", query.Cursor)
	page, answer, err := callFor(ctx, c, get("listGrants", "/v1/grants", parameters), decodeGrantList)
	if err != nil {
		return GrantPage{}, err
	}
	return GrantPage{page, answer.header.Get("X-Service-Cursor")}, nil
}

// SnapshotQuery selects the grants of some relations on objects of some namespaces.
type SnapshotQuery struct {
	// Such as "document:viewer".
	On []string
	// Items of a page, up to 1,000. Default: 100.
	Limit int
	// Where to resume. Optional.
	Cursor string
}

// SnapshotPage is one page of a snapshot.
type SnapshotPage struct {
	Grants []Grant `json:"grants"`
	// Of the next page. Nil at the end.
	NextCursor *string `json:"next_cursor"`
	// Follow the change feed from that of the first page, with the same On.
	FeedCursor string `json:"feed_cursor"`
	// Once the feed has come so far on every page, snapshot and feed together are exactly the grants after that entry.
	Seq int64 `json:"seq"`
}

var errNoFeedCursor = errors.New("it has no X-Service-Cursor")

// SnapshotGrants yields the pages of a snapshot, from which the change feed leads on.
func (c *Client) SnapshotGrants(ctx context.Context, query SnapshotQuery) iter.Seq2[SnapshotPage, error] {
	return pages(query.Cursor, func(cursor string) ([]SnapshotPage, string, error) {
		query.Cursor = cursor
		page, err := c.SnapshotGrantsPage(ctx, query)
		return []SnapshotPage{page}, cursorOf(page.NextCursor), err
	})
}

// SnapshotGrantsPage reads one page.
func (c *Client) SnapshotGrantsPage(ctx context.Context, query SnapshotQuery) (SnapshotPage, error) {
	parameters := queryOf("limit", limitText(query.Limit), "cursor", query.Cursor)
	if wrong := setLists(parameters, list{"on", query.On}); wrong != nil {
		return SnapshotPage{}, wrong
	}
	call := get("listGrants", "/v1/grants", parameters)
	page, answer, err := callFor(ctx, c, call, func(value any) (SnapshotPage, error) {
		list, err := decodeGrantList(value)
		o := objectOf(value)
		seq := required(o, "seq", decodeInteger)
		return SnapshotPage{Grants: list.Grants, NextCursor: list.NextCursor, Seq: seq}, cmp.Or(err, o.err)
	})
	if err != nil {
		return SnapshotPage{}, err
	}
	if page.FeedCursor = answer.header.Get("X-Service-Cursor"); page.FeedCursor == "" {
		return SnapshotPage{}, answer.invalid(errNoFeedCursor)
	}
	return page, nil
}
