package grantd_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log"
	"net/http"
	"testing"
	"time"

	"github.com/grantd/grantd/clients/go"
	"github.com/grantd/grantd/clients/go/grantdhttp"
	"github.com/grantd/grantd/clients/go/grantdtest"
)

var (
	ctx     = context.Background()
	service = startService()
	key     = service.NewKey()
	client  = service.ClientWith(grantd.Config{Key: key})
)

func Example() {
	setAddress()
	client, err := grantd.New(grantd.Config{})
	if err != nil {
		log.Fatal(err)
	}
	ada := grantd.GrantRequest{Subject: "user:ada", Relation: "viewer", Object: "document:plan"}
	if _, err := client.CreateGrant(ctx, ada); err != nil {
		log.Fatal(err)
	}
	allowed, err := client.Check(ctx, "user:ada", "viewer", "document:plan")
	fmt.Println(allowed, err)
	for object, err := range client.ListObjects(ctx, grantd.ObjectsQuery{Subject: "user:ada", Relation: "viewer"}) {
		fmt.Println(object, err)
	}
	// Output:
	// true <nil>
	// document:plan <nil>
}

func ExampleError() {
	_, err := client.Check(ctx, "ada", "viewer", "document:plan")
	var failed *grantd.Error
	if errors.As(err, &failed) {
		fmt.Println(failed.Type, failed.Status, failed.Retryable)
	}
	fmt.Println(grantd.ErrorType(err) == grantd.TypeInvalidSubject)
	// Output:
	// invalid-subject 400 false
	// true
}

func newestDocuments(db *sql.DB) (*sql.Rows, error) {
	filter, err := client.Filter(ctx, db, "user:ada", "document.can_read", grantd.FilterOptions{
		ID: "d.id", IDType: "bigint", FirstParameter: 2,
	})
	if err != nil {
		return nil, err
	}
	query := "SELECT d.title FROM documents d WHERE d.archived = $1 AND " + filter.SQL +
		" ORDER BY d.updated_at DESC LIMIT 50"
	return db.QueryContext(ctx, query, append([]any{false}, filter.Args...)...)
}

func ExampleClient_Filter() {
	var db *sql.DB // With the mirror that "grantd sync" keeps.
	rows, err := newestDocuments(db)
	fmt.Println(rows, err)
}

func ExampleClient_SnapshotGrants() {
	on := []string{"document:viewer", "folder:parent"}
	cursor, complete := "", int64(0)
	for page, err := range client.SnapshotGrants(ctx, grantd.SnapshotQuery{On: on}) {
		if err != nil {
			log.Fatal(err)
		}
		// Store page.Grants.
		if cursor == "" {
			cursor = page.FeedCursor
		}
		complete = max(complete, page.Seq)
	}
	query := grantd.ChangesQuery{Cursor: cursor, On: on, Checkpoints: true}
	for event, err := range client.Changes(ctx, query) {
		if err != nil {
			log.Fatal(err)
		}
		// Apply event.Change, if there is one.
		if event.Change == nil && event.Seq >= complete {
			break // The mirror is exactly the grants after this entry.
		}
	}
	// Output:
}

func ExampleClient_WriteRulesText() {
	client := service.Client()
	const rules = `
namespace document
  viewer: user, user:*
  can_read = viewer or owner
`
	preview, err := client.PreviewRulesText(ctx, rules, "")
	if err == nil && preview.Changed {
		_, err = client.WriteRulesText(ctx, rules, "")
	}
	present, err := client.ReadRulesText(ctx, 0)
	fmt.Println(present.Revision == preview.Revision, err)
	// Output:
	// true <nil>
}

func ExampleConfig_Timeout() {
	setAddress()
	client, err := grantd.New(grantd.Config{Timeout: 2 * time.Second, MaxRetries: 3, BackoffMax: time.Second})
	if err != nil {
		log.Fatal(err)
	}
	soon, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	_, err = client.Check(soon, "user:ada", "viewer", "document:plan")
	if errors.Is(err, context.DeadlineExceeded) {
		fmt.Println("no answer in time")
	}
	// Output:
}

func ExampleConfig_Header() {
	setAddress()
	client, err := grantd.New(grantd.Config{
		Header:    http.Header{"X-Team": {"documents"}},
		UserAgent: "documents/1.2",
	})
	fmt.Println(client != nil, err)
	// Output:
	// true <nil>
}

func ExampleConfig_hTTPClient() {
	setAddress()
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.Proxy = http.ProxyFromEnvironment
	client, err := grantd.New(grantd.Config{HTTPClient: &http.Client{Transport: transport}})
	fmt.Println(client != nil, err)
	// Output: true <nil>
}

func ExampleClient_CheckEach() {
	questions := []grantd.Question{
		{Subject: "user:bob", Relation: "owner", Object: "folder:a"},
		{Subject: "bob", Relation: "owner", Object: "folder:b"},
	}
	for _, answer := range client.CheckEach(ctx, questions) {
		fmt.Println(answer.Authorized, answer.Err != nil)
	}
	// Output:
	// false false
	// false true
}

func ExampleClient_Changes() {
	cursor := "" // Where an earlier run stopped.
	query := grantd.ChangesQuery{Cursor: cursor, Actions: []string{"grant.created", "grant.revoked"}}
	for event, err := range client.Changes(ctx, query) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(event.Change.Action, event.Change.Grant.Object)
		cursor = event.Cursor // Store it together with your own changes.
		break
	}
	// Output:
	// grant.created document:plan
}

func ExampleHook() {
	client := service.ClientWith(grantd.Config{
		Hook: func(ctx context.Context, call *grantd.Call) (context.Context, func(grantd.Outcome)) {
			call.Header.Set("X-Request-Id", "mine")
			return ctx, func(outcome grantd.Outcome) {
				fmt.Println(call.Operation, outcome.Status, outcome.Attempts, outcome.Err)
			}
		},
	})
	_, _ = client.Check(ctx, "user:ada", "viewer", "document:plan")
	// Output:
	// check 200 1 <nil>
}

func TestOfAProgram(t *testing.T) {
	t.Setenv("GRANTD_TESTING_URL", service.URL)
	client := grantdtest.Start(t).Client()
	ada := grantd.GrantRequest{Subject: "user:ada", Relation: "viewer", Object: "document:plan"}
	if _, err := client.CreateGrant(t.Context(), ada); err != nil {
		t.Fatal(err)
	}
	allowed, err := client.Check(t.Context(), "user:ada", "viewer", "document:plan")
	if !allowed || err != nil {
		t.Error(allowed, err)
	}
}

func Example_middleware() {
	guard := grantdhttp.Guard{
		Client:  client,
		Subject: func(r *http.Request) string { return r.Header.Get("X-Subject") },
	}
	mux := http.NewServeMux()
	mux.Handle("GET /documents/{id}", guard.Requires("viewer", func(r *http.Request) string {
		return "document:" + r.PathValue("id")
	})(http.NotFoundHandler()))
	// Output:
}
