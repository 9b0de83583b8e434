package grantd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// received keeps the texts of the requests that are sent, as a service reads them.
type received struct{ texts []string }

func (r *received) add(value any) {
	switch value := value.(type) {
	case string:
		r.texts = append(r.texts, value)
	case []any:
		for _, item := range value {
			r.add(item)
		}
	case map[string]any:
		for name, member := range value {
			r.add(name)
			r.add(member)
		}
	}
}

func (r *received) RoundTrip(request *http.Request) (*http.Response, error) {
	// There is something, even if it is nothing that a test looks for.
	r.texts = append(r.texts, request.Method)
	query, err := url.ParseQuery(request.URL.RawQuery)
	if err != nil {
		return nil, err
	}
	for _, values := range query {
		r.texts = append(r.texts, values...)
	}
	r.texts = append(r.texts, strings.TrimPrefix(request.URL.Path, "/v1/keys/"))
	for _, name := range []string{"Idempotency-Key", "If-Match", "If-None-Match"} {
		r.texts = append(r.texts, strings.Trim(request.Header.Get(name), `"`))
	}
	if request.Header.Get("Content-Type") == rulesType {
		text, err := io.ReadAll(request.Body)
		if err != nil {
			return nil, err
		}
		r.texts = append(r.texts, string(text))
	} else if request.Body != nil {
		var body any
		if err := json.NewDecoder(request.Body).Decode(&body); err != nil {
			return nil, err
		}
		r.add(body)
	}
	return &http.Response{StatusCode: http.StatusServiceUnavailable, Body: http.NoBody, Request: request}, nil
}

func firstOf[T any](items func(func(T, error) bool)) error {
	for _, err := range items {
		return err
	}
	return nil
}

func second[T any](_ T, err error) error { return err }

// isHeader: the text goes as a header, which cannot have every text.
type sender struct {
	name     string
	isHeader bool
	send     func(t *testing.T, c *Client, text string) error
}

// senders has every place of every call that takes a text.
func senders() []sender {
	tuple := Tuple{Subject: "user:a", Relation: "viewer", Object: "document:a"}
	contexts := func(text string) []CallContext {
		return []CallContext{
			{Context: map[string]any{"a": text}},
			{Context: map[string]any{text: "a"}},
			{Context: map[string]any{"a": []any{1, map[string]any{"b": &text}}}},
			{Context: map[string]any{"a": map[string]string{text: "b"}}},
			{Context: map[string]any{"a": struct{ B []string }{[]string{"c", text}}}},
			{ContextGrants: []ContextGrant{{Subject: text, Relation: "viewer", Object: "document:a"}}},
			{ContextGrants: []ContextGrant{{Subject: "user:a", Relation: text, Object: "document:a"}}},
			{ContextGrants: []ContextGrant{{Subject: "user:a", Relation: "viewer", Object: text}}},
		}
	}
	tuples := func(text string) []Tuple {
		return []Tuple{{text, tuple.Relation, tuple.Object}, {tuple.Subject, text, tuple.Object}, {tuple.Subject, tuple.Relation, text}}
	}
	entity := AccessEntity{Type: "user", ID: "a"}
	gate := func(text string) []RuleElement { return []RuleElement{{Gate: &RuleGate{AllOf: Names("a", text)}}} }
	all := []sender{
		{"createNamespace", false, func(t *testing.T, c *Client, text string) error { return second(c.CreateNamespace(t.Context(), text)) }},
		{"listKeys", false, func(t *testing.T, c *Client, text string) error {
			return firstOf(c.ListKeys(t.Context(), KeysQuery{Cursor: text}))
		}},
		{"createKey name", false, func(t *testing.T, c *Client, text string) error {
			return second(c.CreateKey(t.Context(), KeyRequest{Name: text}))
		}},
		{"createKey scopes", false, func(t *testing.T, c *Client, text string) error {
			return second(c.CreateKey(t.Context(), KeyRequest{Scopes: []string{text}}))
		}},
		{"createKey idempotency", true, func(t *testing.T, c *Client, text string) error {
			return second(c.CreateKey(t.Context(), KeyRequest{IdempotencyKey: text}))
		}},
		{"revokeKey", false, func(t *testing.T, c *Client, text string) error { return second(c.RevokeKey(t.Context(), text)) }},
		{"readRules", true, func(t *testing.T, c *Client, text string) error { return second(c.ReadRulesUnless(t.Context(), text)) }},
		{"writeRules revision", true, func(t *testing.T, c *Client, text string) error {
			return second(c.WriteRules(t.Context(), RuleSetRequest{}, text))
		}},
		{"condition name", false, func(t *testing.T, c *Client, text string) error {
			given := GrantRequest{Subject: "user:a", Condition: &GrantConditionRequest{Name: text}}
			return second(c.CreateGrant(t.Context(), given))
		}},
		{"condition context", false, func(t *testing.T, c *Client, text string) error {
			context := map[string]any{"a": []any{text}}
			given := GrantRequest{Subject: "user:a", Condition: &GrantConditionRequest{Name: "b", Context: context}}
			return second(c.CreateGrant(t.Context(), given))
		}},
		{"writeRules text", false, func(t *testing.T, c *Client, text string) error {
			return second(c.WriteRulesText(t.Context(), text, ""))
		}},
		{"writeRules public", false, func(t *testing.T, c *Client, text string) error {
			return second(c.WriteRules(t.Context(), RuleSetRequest{Public: []string{text}}, ""))
		}},
		{"writeRules element", false, func(t *testing.T, c *Client, text string) error {
			return second(c.WriteRules(t.Context(), RuleSetRequest{Rules: []Rule{{Namespace: "a", Name: "b", AnyOf: Names(text)}}}, ""))
		}},
		{"previewRules gate", false, func(t *testing.T, c *Client, text string) error {
			return second(c.PreviewRules(t.Context(), RuleSetRequest{Rules: []Rule{{Namespace: "a", Name: "b", AnyOf: gate(text)}}}, ""))
		}},
		{"previewRules name", false, func(t *testing.T, c *Client, text string) error {
			return second(c.PreviewRules(t.Context(), RuleSetRequest{Rules: []Rule{{Namespace: "a", Name: text}}}, ""))
		}},
		{"listGrants subject", false, func(t *testing.T, c *Client, text string) error {
			return firstOf(c.ListGrants(t.Context(), GrantsQuery{Subject: text}))
		}},
		{"listGrants object", false, func(t *testing.T, c *Client, text string) error {
			return firstOf(c.ListGrants(t.Context(), GrantsQuery{Object: text, Cursor: "a"}))
		}},
		{"listGrants relation", false, func(t *testing.T, c *Client, text string) error {
			return firstOf(c.ListGrants(t.Context(), GrantsQuery{Relation: text}))
		}},
		{"changes", false, func(t *testing.T, c *Client, text string) error {
			return second(c.ListChangesPage(t.Context(), ChangesQuery{Cursor: text}, 1, 0))
		}},
		{"changes since", false, func(t *testing.T, c *Client, text string) error {
			return second(c.ListChangesPage(t.Context(), ChangesQuery{Since: text}, 0, 0))
		}},
		// A comma separates the items of a list.
		{"changes namespace", true, func(t *testing.T, c *Client, text string) error {
			return second(c.ListChangesPage(t.Context(), ChangesQuery{Namespaces: []string{text}}, 0, 0))
		}},
		{"changes relation", true, func(t *testing.T, c *Client, text string) error {
			return second(c.ListChangesPage(t.Context(), ChangesQuery{Relations: []string{text}}, 0, 0))
		}},
		{"changes on", true, func(t *testing.T, c *Client, text string) error {
			return second(c.ListChangesPage(t.Context(), ChangesQuery{On: []string{text}}, 0, 0))
		}},
		{"changes action", true, func(t *testing.T, c *Client, text string) error {
			return second(c.ListChangesPage(t.Context(), ChangesQuery{Actions: []string{text}}, 0, 0))
		}},
		{"snapshotGrants on", true, func(t *testing.T, c *Client, text string) error {
			return second(c.SnapshotGrantsPage(t.Context(), SnapshotQuery{On: []string{text}}))
		}},
		{"readSets subject", false, func(t *testing.T, c *Client, text string) error {
			return second(c.ReadSets(t.Context(), SetsRequest{Subject: text}))
		}},
		{"revokeGrants subject", false, func(t *testing.T, c *Client, text string) error {
			return second(c.RevokeGrants(t.Context(), GrantFilter{Subject: text}))
		}},
		{"revokeGrants object", false, func(t *testing.T, c *Client, text string) error {
			return second(c.RevokeGrants(t.Context(), GrantFilter{Object: text}))
		}},
		{"evaluate type", false, func(t *testing.T, c *Client, text string) error {
			return second(c.Evaluate(t.Context(), EvaluationRequest{Subject: AccessEntity{Type: text}}))
		}},
		{"evaluate action", false, func(t *testing.T, c *Client, text string) error {
			return second(c.Evaluate(t.Context(), EvaluationRequest{Action: AccessAction{Name: text}}))
		}},
		{"evaluate properties", false, func(t *testing.T, c *Client, text string) error {
			return second(c.Evaluate(t.Context(), EvaluationRequest{Resource: AccessEntity{Properties: map[string]any{text: 1}}}))
		}},
		{"evaluate context", false, func(t *testing.T, c *Client, text string) error {
			return second(c.Evaluate(t.Context(), EvaluationRequest{Context: map[string]any{"a": []string{text}}}))
		}},
		{"evaluateMany", false, func(t *testing.T, c *Client, text string) error {
			return second(c.EvaluateMany(t.Context(), EvaluationsRequest{Evaluations: []PartialEvaluation{{}, {Subject: &AccessEntity{ID: text}}}}))
		}},
		{"evaluateMany semantic", false, func(t *testing.T, c *Client, text string) error {
			return second(c.EvaluateMany(t.Context(), EvaluationsRequest{Semantic: text}))
		}},
		{"evaluateMany default", false, func(t *testing.T, c *Client, text string) error {
			return second(c.EvaluateMany(t.Context(), EvaluationsRequest{PartialEvaluation: PartialEvaluation{Action: &AccessAction{Name: text}}}))
		}},
		{"searchSubjects", false, func(t *testing.T, c *Client, text string) error {
			return firstOf(c.SearchSubjects(t.Context(), SubjectSearch{Resource: GivenEntity{Type: "a", ID: text}}))
		}},
		{"searchResources", false, func(t *testing.T, c *Client, text string) error {
			return firstOf(c.SearchResources(t.Context(), ResourceSearch{Subject: GivenEntity{Type: text, ID: "a"}}))
		}},
		{"searchActions token", false, func(t *testing.T, c *Client, text string) error {
			return firstOf(c.SearchActions(t.Context(), ActionSearch{Page: &SearchPage{Token: text}}))
		}},
		{"evaluate id", false, func(t *testing.T, c *Client, text string) error {
			return second(c.Evaluate(t.Context(), EvaluationRequest{Subject: entity, Resource: AccessEntity{Type: "a", ID: text}}))
		}},
	}
	for index := range tuples("") {
		of := func(text string) Tuple { return tuples(text)[index] }
		place := func(call string) string { return call + " " + []string{"subject", "relation", "object"}[index] }
		all = append(all,
			sender{place("check"), false, func(t *testing.T, c *Client, text string) error {
				return second(c.Check(t.Context(), of(text).Subject, of(text).Relation, of(text).Object))
			}},
			sender{place("explain"), false, func(t *testing.T, c *Client, text string) error {
				return second(c.Explain(t.Context(), of(text).Subject, of(text).Relation, of(text).Object))
			}},
			sender{place("checkEach"), false, func(t *testing.T, c *Client, text string) error {
				return c.CheckEach(t.Context(), []Question{Question(tuple), Question(of(text))})[1].Err
			}},
			sender{place("checkBulk"), false, func(t *testing.T, c *Client, text string) error {
				return second(c.CheckBulk(t.Context(), []Question{Question(tuple), Question(of(text))}))
			}},
			sender{place("createGrant"), false, func(t *testing.T, c *Client, text string) error {
				return second(c.CreateGrant(t.Context(), GrantRequest{Subject: of(text).Subject, Relation: of(text).Relation, Object: of(text).Object}))
			}},
			sender{place("revokeGrant"), false, func(t *testing.T, c *Client, text string) error { return second(c.RevokeGrant(t.Context(), of(text))) }},
			sender{place("writeBulk grants"), false, func(t *testing.T, c *Client, text string) error {
				grant := GrantRequest{Subject: of(text).Subject, Relation: of(text).Relation, Object: of(text).Object}
				return second(c.WriteBulk(t.Context(), BulkWrite{Grants: []GrantRequest{grant}}))
			}},
			sender{place("writeBulk revocations"), false, func(t *testing.T, c *Client, text string) error {
				return second(c.WriteBulk(t.Context(), BulkWrite{Revocations: []Tuple{of(text)}}))
			}},
			sender{place("writeBulk if"), false, func(t *testing.T, c *Client, text string) error {
				condition := Condition{Subject: of(text).Subject, Relation: of(text).Relation, Object: of(text).Object}
				return second(c.WriteBulk(t.Context(), BulkWrite{If: []Condition{condition}}))
			}},
		)
	}
	for index := range contexts("") {
		of := func(text string) CallContext { return contexts(text)[index] }
		place := func(call string) string { return fmt.Sprintf("%s context %d", call, index) }
		all = append(all,
			sender{place("check"), false, func(t *testing.T, c *Client, text string) error {
				return second(c.CheckWith(t.Context(), of(text), "user:a", "viewer", "document:a"))
			}},
			sender{place("checkBulk"), false, func(t *testing.T, c *Client, text string) error {
				return second(c.CheckBulkWith(t.Context(), of(text), nil))
			}},
			sender{place("listObjects"), false, func(t *testing.T, c *Client, text string) error {
				return firstOf(c.ListObjects(t.Context(), ObjectsQuery{Subject: "user:a", CallContext: of(text)}))
			}},
			sender{place("listSubjects"), false, func(t *testing.T, c *Client, text string) error {
				return firstOf(c.ListSubjects(t.Context(), SubjectsQuery{Object: "document:a", CallContext: of(text)}))
			}},
		)
	}
	for _, with := range []CallContext{{}, {Context: map[string]any{"a": 1}}} {
		for index, name := range []string{"of", "relation", "namespace", "via", "cursor", "include"} {
			of := func(text string) []string {
				texts := make([]string, 6)
				texts[index] = text
				return texts
			}
			all = append(all,
				sender{"listSubjects " + name, false, func(t *testing.T, c *Client, text string) error {
					given := of(text)
					return firstOf(c.ListSubjects(t.Context(), SubjectsQuery{given[0], given[1], given[2], given[3], given[5], 0, given[4], with}))
				}})
			if name == "include" {
				continue
			}
			all = append(all,
				sender{"listObjects " + name, false, func(t *testing.T, c *Client, text string) error {
					given := of(text)
					return firstOf(c.ListObjects(t.Context(), ObjectsQuery{given[0], given[1], given[2], given[3], 0, given[4], with}))
				}})
		}
	}
	return all
}

// randomText: often with bytes that are not UTF-8, such as a character that is cut.
func randomText(random *rand.Rand) string {
	var text []byte
	for range 1 + random.IntN(8) {
		switch random.IntN(12) {
		case 0:
			text = append(text, byte(random.IntN(256)))
		case 1:
			text = utf8.AppendRune(text, rune(random.IntN(0x11_0000)))
		case 2:
			text = append(text, []string{"\ufffd", "\U0001f600", `\ud800`, `"`, "\\", "%ff", "+", "\x00", "\r\n", "<", "\u2028"}[random.IntN(11)]...)
		default:
			text = append(text, "abcxyz:#-/.?&= "[random.IntN(15)])
		}
	}
	if random.IntN(10) == 0 {
		text = text[:len(text)-1]
	}
	return "a" + string(text)
}

// count is that of the random texts of each call; GRANTD_RANDOM_TEXTS asks for more.
func count() int {
	if more, err := strconv.Atoi(os.Getenv("GRANTD_RANDOM_TEXTS")); err == nil {
		return more
	}
	return 300
}

func TestEveryTextArrivesAsItIsOrNothingIsSent(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, each := range senders() {
		t.Run(each.name, func(t *testing.T) {
			service := &received{}
			config := Config{URL: "http://grantd.test", Key: key, MaxRetries: -1, HTTPClient: &http.Client{Transport: service}}
			client, err := New(config)
			if err != nil {
				t.Fatal(err)
			}
			sent, refused := 0, 0
			for range count() {
				text := randomText(random)
				service.texts = nil
				err := each.send(t, client, text)
				var failed *Error
				errors.As(err, &failed)
				switch {
				case slices.Contains(service.texts, text):
					sent++
				case failed != nil && failed.Type == TypeInvalidRequest && failed.Status == http.StatusBadRequest &&
					len(service.texts) == 0 && (each.isHeader || !utf8.ValidString(text)):
					refused++
				case each.name[:4] == "chec" && failed != nil && failed.Type == TypeInvalidRequest && !utf8.ValidString(text):
					// The other checks of the same call are sent.
					refused++
				default:
					t.Fatalf("%q came as %q, %v", text, service.texts, err)
				}
			}
			if sent == 0 || refused == 0 {
				t.Errorf("%d were sent, and %d refused", sent, refused)
			}
		})
	}
}

type ownJSON string

func (o ownJSON) MarshalJSON() ([]byte, error) { return json.Marshal(string(o)) }

type ownText string

func (o ownText) MarshalText() ([]byte, error) { return []byte(o), nil }

func TestWhatJSONHasNotIsRefusedWithItsPlace(t *testing.T) {
	client := clientOf(t, Config{}, func(http.ResponseWriter, *http.Request) { t.Error("it was sent") })
	cycle := map[string]any{}
	cycle["a"] = []any{cycle, cycle}
	deep := any(1)
	for range 1000 {
		deep = []any{deep}
	}
	for place, value := range map[string]any{
		`"context.a" is NaN`:                       math.NaN(),
		`"context.a[1].b" is +Inf`:                 []any{0, map[string]any{"b": math.Inf(1)}},
		`"context.a.Limit" is -Inf`:                struct{ Limit float32 }{float32(math.Inf(-1))},
		`"context.a" is a chan int`:                make(chan int),
		`"context.a" is a func()`:                  func() {},
		`"context.a" is a complex128`:              1i,
		`"context.a[1]" is not UTF-8`:              []string{"", "\xff"},
		`"context.a.b[0]" is not UTF-8`:            map[string][]string{"b": {"\xc3"}},
		`"context.a" has a member whose name`:      map[any]any{"b": 1},
		`"context.a" has U+FFFD`:                   ownJSON("\xff"),
		`"context.a" is not UTF-8`:                 ownText("\xff"),
		`"context.a": it is not UTF-8`:             json.RawMessage("\"\xff\""),
		`"context.a": half of a surrogate pair`:    json.RawMessage(`"\ud800"`),
		`"context.a": two members are named \"b\"`: json.RawMessage(`{"b": 1, "\u0062": 2}`),
		`"context.a.a[0]" contains itself`:         cycle,
		`is nested too deeply`:                     deep,
		`json: invalid number literal`:             json.Number("0x1"),
	} {
		_, err := client.CheckWith(t.Context(), CallContext{Context: map[string]any{"a": value}}, "user:a", "viewer", "document:a")
		if ErrorType(err) != TypeInvalidRequest || !strings.Contains(err.Error(), strings.ReplaceAll(place, `\"`, `"`)) {
			t.Errorf("%s: %v", place, err)
		}
	}
}

func TestAContextOfEveryKindThatJSONHasIsSent(t *testing.T) {
	var body []byte
	client := clientOf(t, Config{}, func(w http.ResponseWriter, r *http.Request) {
		body, _ = io.ReadAll(r.Body)
		answer(w, `{"authorized": true, `+checkedAt+`}`)
	})
	shared := []string{"\ufffd"}
	var none *string
	given := map[string]any{
		"a": shared, "b": shared, "c": none, "d": json.RawMessage(`{"e": "\ufffd"}`), "f": []byte{1}, "g": json.Number("1.50"),
		"h": map[int]bool{1: true}, "i": ownJSON("j"), "k": ownText("l"), "m": nil, "n": [2]uint8{1, 2}, "o": [][]string{{}, {}},
	}
	if _, err := client.CheckWith(t.Context(), CallContext{Context: given}, "user:a", "viewer", "document:a"); err != nil {
		t.Fatal(err)
	}
	wanted, _ := json.Marshal(given)
	if !strings.Contains(string(body), `"context":`+string(wanted)) {
		t.Errorf("%s", body)
	}
}

func TestAHeaderOfAHookThatWouldChangeIsRefused(t *testing.T) {
	for name, value := range map[string]string{"A": "a\r\nb: c", "B": "\u20ac", "C": " d", "D e": "f", "G": "\x1b"} {
		hook := func(ctx context.Context, call *Call) (context.Context, func(Outcome)) {
			call.Header[name] = []string{value}
			return ctx, nil
		}
		client := clientOf(t, Config{Hook: hook}, func(http.ResponseWriter, *http.Request) { t.Error("it was sent") })
		if _, err := client.ListNamespaces(t.Context()); ErrorType(err) != TypeInvalidRequest || !strings.Contains(err.Error(), name) {
			t.Errorf("%q: %v", value, err)
		}
	}
}

func TestAnActionOfTheFeedThatWouldBecomeOthersIsRefused(t *testing.T) {
	client := clientOf(t, Config{}, func(http.ResponseWriter, *http.Request) { t.Error("it was sent") })
	for _, action := range []string{"", "grant.created,grant.revoked", "\xff"} {
		query := ChangesQuery{Actions: []string{action}}
		_, err := client.ListChangesPage(t.Context(), query, 0, 0)
		if followed := firstOf(client.Changes(t.Context(), query)); ErrorType(err) != TypeInvalidRequest || ErrorType(followed) != TypeInvalidRequest {
			t.Errorf("%q: %v, %v", action, err, followed)
		}
	}
}
