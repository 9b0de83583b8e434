package grantd

import (
	"bufio"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"log"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// serveRaw answers each request on a connection as `respond` writes it, until that returns false.
func serveRaw(t *testing.T, config Config, respond func(net.Conn, *http.Request) bool) *Client {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				reader := bufio.NewReader(conn)
				for {
					request, err := http.ReadRequest(reader)
					if err != nil {
						return
					}
					_, _ = io.Copy(io.Discard, request.Body)
					if !respond(conn, request) {
						return
					}
				}
			}()
		}
	}()
	config.URL, config.Key = "http://"+listener.Addr().String(), key
	client, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func rawAnswer(authorized bool) string {
	body := fmt.Sprintf(`{"authorized": %v, %s}`, authorized, checkedAt)
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
}

// quietLog: net/http logs what it finds on an idle connection.
func quietLog(t *testing.T) {
	t.Helper()
	previous := log.Writer()
	log.SetOutput(io.Discard)
	t.Cleanup(func() { log.SetOutput(previous) })
}

func TestAResponseThatNobodyAskedForIsNoAnswer(t *testing.T) {
	quietLog(t)
	for name, transport := range map[string]http.RoundTripper{"own": nil, "of the application": &http.Transport{MaxIdleConnsPerHost: 100}} {
		config := Config{NoGathering: true, MaxRetries: -1, HTTPClient: &http.Client{Transport: transport}}
		client := serveRaw(t, config, func(conn net.Conn, _ *http.Request) bool {
			_, err := io.WriteString(conn, rawAnswer(false)+rawAnswer(true))
			return err == nil
		})
		var all sync.WaitGroup
		var denied, allowed atomic.Int64
		for range 64 {
			all.Add(1)
			go func() {
				defer all.Done()
				for range 60 {
					isAllowed, err := client.Check(t.Context(), "user:ada", "viewer", "document:plan")
					switch {
					case isAllowed:
						allowed.Add(1)
					case err == nil:
						denied.Add(1)
					}
				}
			}()
		}
		all.Wait()
		if allowed.Load() != 0 || denied.Load() == 0 {
			t.Errorf("%s: %d allowed, %d denied", name, allowed.Load(), denied.Load())
		}
	}
}

func TestALateResponseToNobodyIsNoAnswer(t *testing.T) {
	conn := &countedConn{Conn: fakeConn{}}
	buffer := make([]byte, 1)
	steps := []struct {
		do   func()
		want bool
	}{
		{func() { conn.atRequest.Store(notWritten) }, false},
		// What came before the request was written, or while nothing has come since, is not its response.
		{func() { _, _ = conn.Read(buffer) }, false},
		{func() { _, _ = conn.Write(buffer) }, false},
		{func() { _, _ = conn.Read(buffer) }, true},
		// The rest of a long request is still written when its refusal comes.
		{func() { _, _ = conn.Write(buffer) }, true},
		{func() { conn.atRequest.Store(notWritten) }, false},
		{func() { _, _ = conn.Write(buffer) }, false},
	}
	for index, step := range steps {
		if step.do(); conn.hasNew() != step.want {
			t.Errorf("step %d: %v", index, conn.hasNew())
		}
	}
}

type fakeConn struct{ net.Conn }

func (fakeConn) Read(into []byte) (int, error)  { return len(into), nil }
func (fakeConn) Write(text []byte) (int, error) { return len(text), nil }

func TestADeadlineHoldsWhateverTrickles(t *testing.T) {
	head := "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
	for name, parts := range map[string][2]string{
		"head":            {"HTTP/1.1 200 OK\r\nX-A: ", "a"},
		"headers":         {"HTTP/1.1 200 OK\r\n", "X-A: a\r\n"},
		"informational":   {"", "HTTP/1.1 102 Processing\r\n\r\n"},
		"body":            {head + "Content-Length: 1000000\r\n\r\n{", " "},
		"chunks":          {head + "Transfer-Encoding: chunked\r\n\r\n", "1\r\n \r\n"},
		"chunk extension": {head + "Transfer-Encoding: chunked\r\n\r\n1;a=", "a"},
		"refusal":         {"HTTP/1.1 503 Unavailable\r\nContent-Length: 1000000\r\n\r\n", " "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ended := make(chan struct{})
			defer close(ended)
			client := serveRaw(t, Config{Timeout: 300 * time.Millisecond}, func(conn net.Conn, _ *http.Request) bool {
				text := parts[0]
				for {
					if _, err := io.WriteString(conn, text); err != nil {
						return false
					}
					text = parts[1]
					select {
					case <-ended:
						return false
					case <-time.After(10 * time.Millisecond):
					}
				}
			})
			allowed, err := client.Check(t.Context(), "user:ada", "viewer", "document:plan")
			// net/http takes five informational responses for an error, of which the last is the deadline.
			if allowed || ErrorType(err) != TypeTimeout && (name != "informational" || ErrorType(err) != TypeConnectionLost) {
				t.Errorf("%v, %v", allowed, err)
			}
		})
	}
}

func TestOneOversizedCheckFailsAlone(t *testing.T) {
	var sizes []int
	client := clientOf(t, Config{MaxRetries: -1}, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		sizes = append(sizes, strings.Count(string(body), `"subject"`))
		if len(body) > 10_000 {
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(http.StatusRequestEntityTooLarge)
			_, _ = io.WriteString(w, `{"type": "/payload-too-large", "detail": "It is too large.", "instance": "req_1"}`)
			return
		}
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		(&bulkService{}).serve(w, r)
	})
	questions := make([]Question, 9)
	for index := range questions {
		questions[index] = Question{Subject: fmt.Sprint("user:", index), Relation: "viewer", Object: "document:plan"}
	}
	questions[4].Subject += strings.Repeat("0", 20_000)
	for index, answer := range client.CheckEach(t.Context(), questions) {
		if index == 4 {
			if answer.Authorized || ErrorType(answer.Err) != TypePayloadTooLarge {
				t.Errorf("%d: %v", index, answer)
			}
		} else if answer.Err != nil || answer.Authorized != isEven(questions[index].Subject) {
			t.Errorf("%d: %v", index, answer)
		}
	}
	if len(sizes) > 9 {
		t.Errorf("requests of %v checks", sizes)
	}
}

func TestOneCheckThatCannotBeSentFailsAlone(t *testing.T) {
	service := &bulkService{}
	client := clientOf(t, Config{}, service.serve)
	questions := make([]Question, 100)
	for index := range questions {
		questions[index] = Question{Subject: fmt.Sprint("user:", index), Relation: "viewer", Object: "document:plan"}
		if index%2 == 1 {
			questions[index].Subject = "user:\xff"
		}
	}
	for index, answer := range client.CheckEach(t.Context(), questions) {
		if index%2 == 1 {
			if answer.Authorized || ErrorType(answer.Err) != TypeInvalidRequest || !strings.Contains(answer.Err.Error(), `"subject"`) {
				t.Errorf("%d: %v", index, answer)
			}
		} else if answer.Err != nil || !answer.Authorized {
			t.Errorf("%d: %v", index, answer)
		}
	}
	if !slices.Equal(service.bulks, []int{50}) || service.alone != 0 {
		t.Errorf("%v, %d alone", service.bulks, service.alone)
	}
}

func TestAnAnswerWithTwoMeaningsIsRefused(t *testing.T) {
	for _, text := range []string{
		`{"authorized": false, "authorized": true, ` + checkedAt + `}`,
		`{"authorized": false, "\u0061uthorized": true, ` + checkedAt + `}`,
		`{"authorized": true, "later": [{"a": {}, "b": [], "a": 1}], ` + checkedAt + `}`,
		`{"authorized": true, "later": "\ud800", ` + checkedAt + `}`,
		`{"authorized": true, "later": "\ud800\u0041", ` + checkedAt + `}`,
		`{"authorized": true, "later": "\udc00\ud800", ` + checkedAt + `}`,
		`{"authorized": true, "\ud83d": 1, ` + checkedAt + `}`,
	} {
		client := clientOf(t, Config{MaxRetries: -1}, func(w http.ResponseWriter, _ *http.Request) { answer(w, text) })
		allowed, err := client.Check(t.Context(), "user:ada", "viewer", "document:plan")
		if allowed || ErrorType(err) != TypeInvalidResponse {
			t.Errorf("%s: %v, %v", text, allowed, err)
		}
	}
	text := `{"authorized": true, "later": ["\\ud800", "\ud83d\ude00", {"a": {"a": 1}}, {"a": "\"a\": {", "b": "}"}], ` + checkedAt + `}`
	client := clientOf(t, Config{}, func(w http.ResponseWriter, _ *http.Request) { answer(w, text) })
	if allowed, err := client.Check(t.Context(), "user:ada", "viewer", "document:plan"); !allowed || err != nil {
		t.Errorf("%v, %v", allowed, err)
	}
}

func TestAnEncodingThatNobodyAskedForIsRefused(t *testing.T) {
	for _, encoding := range []string{"br", "gzip"} {
		client := clientOf(t, Config{MaxRetries: -1}, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", encoding)
			w.Header().Set("Content-Type", "application/json")
			var body io.Writer = w
			if encoding == "gzip" {
				packed := gzip.NewWriter(w)
				defer packed.Close()
				body = packed
			}
			_, _ = io.WriteString(body, `{"authorized": true, `+checkedAt+`}`)
		})
		allowed, err := client.Check(t.Context(), "user:ada", "viewer", "document:plan")
		if allowed || ErrorType(err) != TypeInvalidResponse {
			t.Errorf("%v, %v", allowed, err)
		}
	}
}

func TestAnEmptyCursorIsNoEnd(t *testing.T) {
	client := clientOf(t, Config{MaxRetries: -1}, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Accept") == "application/x-ndjson" {
			w.Header().Set("Content-Type", "application/x-ndjson")
			_, _ = io.WriteString(w, `{"type": "checkpoint", "cursor": "", "at": "2026-01-15T09:30:00.000Z"}`+"\n")
			return
		}
		answer(w, `{"`+strings.TrimPrefix(r.URL.Path, "/v1/")+`": [], "next_cursor": ""}`)
	})
	// A feed that begins again and again ends here.
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for name, err := range map[string]error{
		"objects":  firstOf(client.ListObjects(t.Context(), ObjectsQuery{})),
		"subjects": firstOf(client.ListSubjects(t.Context(), SubjectsQuery{})),
		"grants":   firstOf(client.ListGrants(t.Context(), GrantsQuery{})),
		"keys":     firstOf(client.ListKeys(t.Context(), KeysQuery{})),
		"a page":   second(client.ListObjectsPage(t.Context(), ObjectsQuery{})),
		"changes":  second(client.ListChangesPage(t.Context(), ChangesQuery{}, 0, 0)),
		"now":      firstOf(client.Changes(ctx, ChangesQuery{Since: "now"})),
		"a stream": firstOf(client.Changes(ctx, ChangesQuery{})),
	} {
		if ErrorType(err) != TypeInvalidResponse {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAFeedFromNowYieldsAChangeOfItsFirstPage(t *testing.T) {
	client := clientOf(t, Config{}, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Accept") == "application/json" {
			change := `{"seq": 1, "index": 0, "at": "2026-01-15T09:30:00.000Z", "actor": "system", "request_id": "req_1", "action": "grant.created"}`
			answer(w, `{"changes": [`+change+`], "next_cursor": "c1", "seq": 1}`)
			return
		}
		w.Header().Set("Content-Type", "application/x-ndjson")
		_, _ = io.WriteString(w, oneLine(changeLine("c2", 2)))
	})
	for most, want := range map[int][]string{1: {"c1 1"}, 2: {"c1 1", "c2 2"}} {
		var events []string
		for event, err := range client.Changes(t.Context(), ChangesQuery{Since: "now"}) {
			if err != nil {
				t.Fatal(err)
			}
			if events = append(events, fmt.Sprint(event.Cursor, " ", event.Change.Seq)); len(events) == most {
				break
			}
		}
		if !slices.Equal(events, want) {
			t.Errorf("%q", events)
		}
	}
}

func TestALongRetryAfterIsKept(t *testing.T) {
	for given, want := range map[string]time.Duration{
		"": 0, "-1": 0, "1.5": 0, "soon": 0, "0": 0, "7": 7 * time.Second, "2147484": 2147484 * time.Second,
		"4294967296": math.MaxInt32 * time.Second, "99999999999999999999": math.MaxInt32 * time.Second,
	} {
		if got := retryAfter(http.Header{"Retry-After": {given}}); got != want {
			t.Errorf("%q: %v", given, got)
		}
	}
}

func TestAnErrorForgesNoLineOfALog(t *testing.T) {
	kind := "of-its-own"
	const evil = "a\\nb\\r\\u001b[31m\\u0085\\u007f\\u2028\\u202e\\u2066\\u200f"
	client := clientOf(t, Config{MaxRetries: -1}, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.Header().Set("X-Service-Request-Id", "a\u0085")
		if r.URL.Path == "/v1/namespaces" {
			w.Header().Set("Content-Type", "text/\u202ehtml")
			return
		}
		w.WriteHeader(http.StatusBadRequest)
		_, _ = fmt.Fprintf(w, `{"type": "https://grantd.example/errors/%s", "detail": "%[2]s", "instance": "%[2]s"}`, kind, evil)
	})
	_, problem := client.Check(t.Context(), "user:ada", "viewer", "document:plan")
	_, other := client.ListNamespaces(t.Context())
	kind = evil
	_, forged := client.Check(t.Context(), "user:ada", "viewer", "document:plan")
	if ErrorType(problem) != "of-its-own" || ErrorType(forged) != TypeInvalidResponse {
		t.Errorf("%v, %v", problem, forged)
	}
	for _, err := range []error{problem, other, forged} {
		failed := err.(*Error)
		for _, text := range []string{failed.Error(), failed.Type, failed.Detail, failed.RequestID} {
			if strings.ContainsAny(text, "\n\r\x1b\u0085\x7f\u2028\u202e\u2066\u200f") || text == "" {
				t.Errorf("%q", text)
			}
		}
	}
	if text := problem.(*Error).Detail; text != `a\u000ab\u000d\u001b[31m\u0085\u007f\u2028\u202e\u2066\u200f` {
		t.Error(text)
	}
}

func TestAProxyOfTheEnvironmentIsNotUsedUnlessTheProgramAsks(t *testing.T) {
	asked := 0
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		answer(w, `{"namespaces": []}`)
	}))
	defer proxy.Close()
	address, _ := url.Parse(proxy.URL)
	// The variables are read once in a process: this is what they set.
	ofEnvironment := http.DefaultTransport.(*http.Transport).Clone()
	ofEnvironment.Proxy = http.ProxyURL(address)
	previous := http.DefaultTransport
	http.DefaultTransport = ofEnvironment
	defer func() { http.DefaultTransport = previous }()
	for _, each := range []struct {
		client *http.Client
		asks   bool
	}{{nil, false}, {&http.Client{Timeout: time.Minute}, false}, {&http.Client{Transport: ofEnvironment}, true}} {
		asked = 0
		client, err := New(Config{URL: "http://grantd.invalid", Key: key, MaxRetries: -1, HTTPClient: each.client})
		if err != nil {
			t.Fatal(err)
		}
		_, err = client.ListNamespaces(t.Context())
		if (asked == 1) != each.asks || (err == nil) != each.asks {
			t.Errorf("%+v: %d requests, %v", each, asked, err)
		}
	}
}
