package grantd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

const key = "gk1_test"

func clientOf(t *testing.T, config Config, handler http.HandlerFunc) *Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	config.URL, config.Key = server.URL, key
	client, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func answer(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, text)
}

const checkedAt = `"checked_at": "2026-01-15T09:30:00.000Z"`

func TestNoAnswerButTheRightOneIsTrue(t *testing.T) {
	for _, text := range []string{
		`{"Authorized": true, ` + checkedAt + `}`,
		`{"AUTHORIZED": true, "authorized": null, ` + checkedAt + `}`,
		`{"authorized": "true", ` + checkedAt + `}`,
		`{"authorized": true}`,
		`{"authorized": true, "checked_at": "soon"}`,
		`{"authorized": true, "checked_at": null}`,
		`[true]`, `true`, `null`,
		`{"results": [{"authorized": true}], ` + checkedAt + `}`,
		"{\"authorized\": true, \"later\": \"\xff\", " + checkedAt + `}`,
		`{"authorized": true, ` + checkedAt + `} {}`,
	} {
		client := clientOf(t, Config{RetryBudget: -1}, func(w http.ResponseWriter, _ *http.Request) { answer(w, text) })
		allowed, err := client.Check(t.Context(), "user:ada", "viewer", "document:plan")
		if allowed || ErrorType(err) != TypeInvalidResponse {
			t.Errorf("%s: %v, %v", text, allowed, err)
		}
	}
}

func TestAResponseWithoutABoundIsAnError(t *testing.T) {
	client := clientOf(t, Config{}, func(w http.ResponseWriter, _ *http.Request) {
		answer(w, `{"authorized": true, `+checkedAt+`, "later": "`+strings.Repeat("a", responseBytesMax)+`"}`)
	})
	allowed, err := client.Check(t.Context(), "user:ada", "viewer", "document:plan")
	if allowed || ErrorType(err) != TypeInvalidResponse {
		t.Errorf("%v, %v", allowed, err)
	}
}

// bulkService answers true for the subjects that end in an even digit, and counts requests.
type bulkService struct {
	mutex  sync.Mutex
	alone  int
	bulks  []int
	gate   chan struct{}
	header chan struct{}
}

func isEven(subject string) bool { return strings.ContainsRune("02468", rune(subject[len(subject)-1])) }

func (s *bulkService) serve(w http.ResponseWriter, r *http.Request) {
	var received struct {
		Question
		Checks []Question
	}
	_ = json.NewDecoder(r.Body).Decode(&received)
	s.mutex.Lock()
	if received.Checks == nil {
		s.alone++
	} else {
		s.bulks = append(s.bulks, len(received.Checks))
	}
	s.mutex.Unlock()
	if s.header != nil {
		s.header <- struct{}{}
		<-s.gate
	}
	if received.Checks == nil {
		answer(w, fmt.Sprintf(`{"authorized": %v, %s}`, isEven(received.Subject), checkedAt))
		return
	}
	results := make([]string, len(received.Checks))
	for index, one := range received.Checks {
		results[index] = fmt.Sprintf(`{"authorized": %v}`, isEven(one.Subject))
	}
	answer(w, fmt.Sprintf(`{"results": [%s], %s}`, strings.Join(results, ","), checkedAt))
}

func TestConcurrentChecksAreGatheredAndEachKeepsItsOwnAnswer(t *testing.T) {
	service := &bulkService{}
	client := clientOf(t, Config{}, service.serve)
	var all sync.WaitGroup
	for index := range 1000 {
		all.Add(1)
		go func() {
			defer all.Done()
			subject := fmt.Sprintf("user:%d", index)
			allowed, err := client.Check(t.Context(), subject, "viewer", "document:plan")
			if err != nil || allowed != isEven(subject) {
				t.Errorf("%s: %v, %v", subject, allowed, err)
			}
		}()
	}
	all.Wait()
	gathered := 0
	for _, size := range service.bulks {
		gathered += size
		if size > bulkChecksMax {
			t.Errorf("a bulk check of %d", size)
		}
	}
	if service.alone+gathered != 1000 {
		t.Errorf("the service received %d checks", service.alone+gathered)
	}
}

func TestChecksGatherWhileOneIsInFlight(t *testing.T) {
	service := &bulkService{gate: make(chan struct{}), header: make(chan struct{}, 10)}
	client := clientOf(t, Config{}, service.serve)
	var all sync.WaitGroup
	check := func(index int) {
		defer all.Done()
		subject := fmt.Sprintf("user:%d", index)
		if allowed, err := client.Check(t.Context(), subject, "viewer", "document:plan"); err != nil || allowed != isEven(subject) {
			t.Errorf("%s: %v, %v", subject, allowed, err)
		}
	}
	all.Add(1)
	go check(0)
	<-service.header
	// A full bulk check goes out at once, before its time.
	all.Add(bulkChecksMax)
	client.gather.mutex.Lock()
	for index := range bulkChecksMax {
		go check(index + 1)
	}
	client.gather.mutex.Unlock()
	<-service.header
	close(service.gate)
	all.Wait()
	if service.alone < 1 || len(service.bulks) < 1 {
		t.Errorf("%d alone, bulk checks of %v", service.alone, service.bulks)
	}
}

func TestAGatheredCheckEndsWithItsOwnContext(t *testing.T) {
	service := &bulkService{gate: make(chan struct{}), header: make(chan struct{}, 10)}
	client := clientOf(t, Config{}, service.serve)
	defer close(service.gate)
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error)
	go func() {
		_, err := client.Check(ctx, "user:0", "viewer", "document:plan")
		failed <- err
	}()
	<-service.header
	cancel()
	if err := <-failed; ErrorType(err) != TypeCancelled || !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestADeadlineIsATimeout(t *testing.T) {
	release := make(chan struct{})
	client := clientOf(t, Config{}, func(http.ResponseWriter, *http.Request) { <-release })
	defer close(release)
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	_, err := client.CheckBulk(ctx, nil)
	if ErrorType(err) != TypeTimeout || !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

func TestTheKeyGoesNowhereElse(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("a redirection was followed")
	}))
	defer elsewhere.Close()
	client := clientOf(t, Config{HTTPClient: &http.Client{}}, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
	})
	_, err := client.ListNamespaces(t.Context())
	if ErrorType(err) != TypeInvalidResponse {
		t.Error(err)
	}
	for _, text := range []string{fmt.Sprint(client), fmt.Sprintf("%+v", client), fmt.Sprintf("%#v", client), err.Error()} {
		if strings.Contains(text, key) {
			t.Errorf("%s has the key", text)
		}
	}
}

func TestSettingsThatCannotWorkAreRefused(t *testing.T) {
	for _, config := range []Config{
		{},
		{URL: "https://grantd.example"},
		{URL: "grantd.example", Key: key},
		{URL: "ftp://grantd.example", Key: key},
		{URL: "https://grantd.example?a=b", Key: key},
		{URL: "https://grantd.example", Key: "gk1\r\nX-Evil: 1"},
		{URL: "https://grantd.example", Key: key, BackoffFirst: -1},
		{URL: "https://grantd.example", Key: key, BackoffFirst: 2, BackoffMax: 1},
		{URL: "https://grantd.example", Key: key, Header: http.Header{"authorization": {"Bearer other"}}},
		{URL: "https://grantd.example", Key: key, Header: http.Header{"a b": {"c"}}},
		{URL: "https://grantd.example", Key: key, Header: http.Header{"a": {" b"}}},
		{URL: "https://grantd.example", Key: key, UserAgent: "a\nb"},
		{URL: "https://grantd.example", Key: key, UserAgent: strings.Repeat("a", userAgentMax+1)},
	} {
		if _, err := New(config); err == nil {
			t.Errorf("%+v was accepted", config)
		}
	}
}

func TestPausesDoubleUpToTheirBound(t *testing.T) {
	own := retries{first: 50 * time.Millisecond, longest: time.Second}
	for retry, longest := range map[int]time.Duration{1: 50 * time.Millisecond, 3: 200 * time.Millisecond, 1000: time.Second} {
		for range 100 {
			if pause := own.pauseBefore(retry, time.Minute); pause < time.Minute || pause >= time.Minute+longest {
				t.Errorf("%v before retry %d", pause, retry)
			}
		}
	}
}

func TestTheHookSeesEachCallOnce(t *testing.T) {
	calls := 0
	var outcome Outcome
	client := clientOf(t, Config{Hook: func(ctx context.Context, call *Call) (context.Context, func(Outcome)) {
		calls++
		call.Header.Set("Traceparent", "00-1-2-01")
		return ctx, func(ended Outcome) { outcome = ended }
	}}, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Traceparent") == "" {
			t.Error("the header of the hook is missing")
		}
		answer(w, `{"namespaces": []}`)
	})
	if _, err := client.ListNamespaces(t.Context()); err != nil {
		t.Fatal(err)
	}
	if calls != 1 || outcome.Status != http.StatusOK || outcome.Attempts != 1 || outcome.Err != nil {
		t.Errorf("%d calls, %+v", calls, outcome)
	}
}

// logOf makes a check for each text, which comes with the response as a warning, and answers the lines of the log.
func logOf(t *testing.T, texts ...string) []string {
	t.Helper()
	var log bytes.Buffer
	left := texts
	config := Config{Logger: slog.New(slog.NewTextHandler(&log, nil)), NoGathering: true}
	client := clientOf(t, config, func(w http.ResponseWriter, _ *http.Request) {
		if left[0] != "" {
			w.Header().Set("X-Service-Warning", left[0])
		}
		left = left[1:]
		answer(w, `{"authorized": false, `+checkedAt+`}`)
	})
	for range texts {
		if allowed, err := client.Check(t.Context(), "user:ada", "viewer", "document:plan"); allowed || err != nil {
			t.Error(allowed, err)
		}
	}
	if strings.Contains(log.String(), key) {
		t.Errorf("the log has the key: %s", log.String())
	}
	return strings.Split(strings.TrimSuffix(log.String(), "\n"), "\n")
}

func TestAWarningIsLoggedOnceForEachText(t *testing.T) {
	lines := logOf(t, "", "a; b=c", "a", "a; b=c", "a")
	if len(lines) != 2 || !strings.HasSuffix(lines[0], `level=WARN msg=grantd warning="a; b=c"`) ||
		!strings.HasSuffix(lines[1], "warning=a") {
		t.Errorf("%q", lines)
	}
	if lines := logOf(t, "", ""); lines[0] != "" {
		t.Errorf("%q", lines)
	}
}

func TestAWarningThatIsNoShortTextOfPrintableASCIIIsNotLogged(t *testing.T) {
	longest := strings.Repeat("a", warningBytesMax)
	lines := logOf(t, "caf\u00e9", "a\tb", longest+"a", longest)
	if len(lines) != 1 || !strings.HasSuffix(lines[0], "warning="+longest) {
		t.Errorf("%q", lines)
	}
}

func TestAWarningIsNotLoggedAfterAHundredOthers(t *testing.T) {
	texts := make([]string, warningsMax, warningsMax+2)
	for index := range texts {
		texts[index] = fmt.Sprint(index)
	}
	if lines := logOf(t, append(texts, "one more", "0")...); len(lines) != warningsMax {
		t.Errorf("%d lines", len(lines))
	}
}

func TestAWarningGoesToTheDefaultLogger(t *testing.T) {
	var log bytes.Buffer
	client := clientOf(t, Config{}, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Add("X-Service-Warning", "a")
		w.Header().Add("X-Service-Warning", "b")
		w.WriteHeader(http.StatusForbidden)
	})
	previous := slog.Default()
	defer slog.SetDefault(previous)
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	if _, err := client.ListNamespaces(t.Context()); err == nil {
		t.Error("it succeeded")
	}
	if !strings.Contains(log.String(), `warning="a, b"`) {
		t.Error(log.String())
	}
}

func TestWhatCannotBeSentIsRefused(t *testing.T) {
	client := clientOf(t, Config{}, func(http.ResponseWriter, *http.Request) { t.Error("it was sent") })
	_, created := client.CreateKey(t.Context(), KeyRequest{IdempotencyKey: "a\r\nb"})
	_, read := client.ReadRulesUnless(t.Context(), `a"b`)
	_, written := client.WriteRules(t.Context(), RuleSetRequest{}, "a b")
	for _, err := range []error{created, read, written} {
		if ErrorType(err) != TypeInvalidRequest {
			t.Error(err)
		}
	}
	if revoked, err := client.RevokeKey(t.Context(), ".."); revoked || err != nil {
		t.Error(revoked, err)
	}
}
