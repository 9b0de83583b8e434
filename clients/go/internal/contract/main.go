// The runner of the contract of the clients (clients/contract/README.md): performs the steps of cases and reports the
// outcomes. It judges nothing.
package main

import (
	"bufio"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/grantd/grantd/clients/go"
)

const (
	atOnce       = 8
	lineBytesMax = 16 << 20
)

type object = map[string]any

type testCase struct {
	Name   string
	URL    string
	Key    string
	Client struct {
		TimeoutMs   int64 `json:"timeout_ms"`
		Batching    *bool
		SilenceMs   int64 `json:"silence_ms"`
		RetryBudget *int  `json:"retry_budget"`
		MaxRetries  *int  `json:"max_retries"`
		FirstMs     int64 `json:"backoff_first_ms"`
		LongestMs   int64 `json:"backoff_max_ms"`
		Headers     map[string]string
		UserAgent   string `json:"user_agent"`
	}
	Steps []step
}

type step struct {
	Call    string
	Args    object
	Each    []object
	Key     string
	Page    bool
	Take    int
	Repeat  int
	Options struct {
		TimeoutMs int64 `json:"timeout_ms"`
	}
	Save map[string]string
}

type run struct {
	of       testCase
	clients  map[string]*grantd.Client
	saved    map[string]string
	logger   *slog.Logger
	warnings []string
	log      []string
}

// Write takes the lines of a handler, which writes them one by one: warnings, and entries for attempts.
func (r *run) Write(line []byte) (int, error) {
	var record struct{ Warning string }
	err := json.Unmarshal(line, &record)
	if record.Warning != "" {
		r.warnings = append(r.warnings, record.Warning)
	} else {
		r.log = append(r.log, string(line))
	}
	return len(line), err
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, lineBytesMax)
	slots := make(chan struct{}, atOnce)
	var all sync.WaitGroup
	var output sync.Mutex
	for lines.Scan() {
		text := strings.Clone(lines.Text())
		slots <- struct{}{}
		all.Add(1)
		go func() {
			defer all.Done()
			report, _ := json.Marshal(perform(text))
			output.Lock()
			defer output.Unlock()
			fmt.Println(string(report))
			<-slots
		}()
	}
	all.Wait()
	if lines.Err() != nil {
		panic(lines.Err())
	}
}

func perform(text string) (report object) {
	var of testCase
	if err := json.Unmarshal([]byte(text), &of); err != nil {
		return object{"failure": err.Error()}
	}
	defer func() {
		if failure := recover(); failure != nil {
			report = object{"name": of.Name, "failure": fmt.Sprint(failure)}
		}
	}()
	r := &run{of: of, clients: map[string]*grantd.Client{}, saved: map[string]string{}}
	r.logger = slog.New(slog.NewJSONHandler(r, &slog.HandlerOptions{Level: slog.LevelDebug}))
	outcomes := []any{}
	for _, one := range of.Steps {
		outcomes = append(outcomes, r.step(one))
	}
	return object{
		"name": of.Name, "outcomes": outcomes,
		"warnings": append([]string{}, r.warnings...), "log": append([]string{}, r.log...),
	}
}

// orNone: the zero value of Go stands for the default.
func orNone(count *int) int {
	switch {
	case count == nil:
		return 0
	case *count == 0:
		return -1
	}
	return *count
}

// refused is the error of a client that cannot be created.
type refused struct{ err error }

func (r *run) client(key string) *grantd.Client {
	if key == "" {
		key = r.of.Key
	}
	if r.clients[key] != nil {
		return r.clients[key]
	}
	config := grantd.Config{
		URL: r.of.URL, Key: key,
		Timeout:     time.Duration(r.of.Client.TimeoutMs) * time.Millisecond,
		Silence:     time.Duration(r.of.Client.SilenceMs) * time.Millisecond,
		NoGathering: r.of.Client.Batching != nil && !*r.of.Client.Batching,
		Logger:      r.logger,

		RetryBudget:  orNone(r.of.Client.RetryBudget),
		MaxRetries:   orNone(r.of.Client.MaxRetries),
		BackoffFirst: time.Duration(r.of.Client.FirstMs) * time.Millisecond,
		BackoffMax:   time.Duration(r.of.Client.LongestMs) * time.Millisecond,
		Header:       http.Header{},
		UserAgent:    r.of.Client.UserAgent,
	}
	for name, value := range r.of.Client.Headers {
		config.Header[name] = []string{value}
	}
	client, err := grantd.New(config)
	if err != nil {
		panic(refused{err})
	}
	r.clients[key] = client
	return client
}

func (r *run) step(one step) (outcome any) {
	defer func() {
		if failure := recover(); failure != nil {
			why, is := failure.(refused)
			if !is {
				panic(failure)
			}
			outcome = object{"refused": why.err.Error()}
		}
	}()
	client := r.client(r.fill(one.Key).(string))
	switch {
	case one.Each != nil:
		outcome = object{"each": r.each(client, one)}
	case one.Repeat > 0:
		outcomes := []any{}
		for range one.Repeat {
			outcomes = append(outcomes, r.one(client, one, one.Args))
		}
		outcome = object{"each": outcomes}
	default:
		outcome = r.one(client, one, one.Args)
	}
	for name, path := range one.Save {
		r.saved[name] = fmt.Sprint(find(outcome, strings.Split(path, ".")))
	}
	return outcome
}

// each starts all calls at one moment. Goroutines have no common moment, so gathered checks are those of CheckEach.
func (r *run) each(client *grantd.Client, one step) []any {
	outcomes := make([]any, len(one.Each))
	if one.Call == "check" && (r.of.Client.Batching == nil || *r.of.Client.Batching) {
		questions := make([]grantd.Question, len(one.Each))
		for index, args := range one.Each {
			decode(r.fill(args), &questions[index])
		}
		for index, answer := range client.CheckEach(context.Background(), questions) {
			outcomes[index] = outcomeOf(answer.Authorized, answer.Err)
		}
		return outcomes
	}
	var all sync.WaitGroup
	for index, args := range one.Each {
		all.Add(1)
		go func() {
			defer all.Done()
			outcomes[index] = r.one(client, one, args)
		}()
	}
	all.Wait()
	return outcomes
}

func (r *run) one(client *grantd.Client, one step, args object) any {
	ctx := context.Background()
	if one.Options.TimeoutMs > 0 {
		limited, cancel := context.WithTimeout(ctx, time.Duration(one.Options.TimeoutMs)*time.Millisecond)
		defer cancel()
		ctx = limited
	}
	filled, _ := r.fill(args).(object)
	perform := calls[one.Call]
	if perform == nil {
		panic("there is no call " + one.Call)
	}
	return perform(&call{ctx, client, filled, one.Page, one.Take})
}

var placeholder = regexp.MustCompile(`\$\{(\w+)\}`)

// fill inserts saved values into all texts.
func (r *run) fill(value any) any {
	switch known := value.(type) {
	case string:
		return placeholder.ReplaceAllStringFunc(known, func(text string) string {
			if saved, has := r.saved[text[2:len(text)-1]]; has {
				return saved
			}
			return text
		})
	case []any:
		filled := make([]any, len(known))
		for index, item := range known {
			filled[index] = r.fill(item)
		}
		return filled
	case object:
		if digits, is := known["$bytes"].(string); is {
			bytes, err := hex.DecodeString(digits)
			if err != nil {
				panic(err)
			}
			return string(bytes)
		}
		filled := object{}
		for name, item := range known {
			filled[name] = r.fill(item)
		}
		return filled
	}
	return value
}

func find(value any, path []string) any {
	for _, name := range path {
		switch known := value.(type) {
		case object:
			value = known[name]
		case []any:
			var index int
			_, _ = fmt.Sscan(name, &index)
			value = known[index]
		default:
			panic(fmt.Sprintf("there is no %q to save", path))
		}
	}
	return value
}

func decode(from any, to any) {
	text, _ := json.Marshal(from)
	if err := json.Unmarshal(text, to); err != nil {
		panic(err)
	}
}

func outcomeOf(value any, err error) any {
	if err == nil {
		return object{"value": plain(value)}
	}
	var failed *grantd.Error
	if !errors.As(err, &failed) {
		panic(err)
	}
	outcome := object{
		"type": failed.Type, "status": failed.Status, "retryable": failed.Retryable, "detail": failed.Detail,
		"text": failed.Error(),
	}
	for name, text := range map[string]string{
		"request_id": failed.RequestID, "key_id": failed.KeyID, "earliest": failed.Earliest,
	} {
		if text != "" {
			outcome[name] = text
		}
	}
	return object{"error": outcome}
}

var timePattern = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$`)

// plain is the JSON of a value, with times as the API writes them.
func plain(value any) any {
	var parsed any
	decode(value, &parsed)
	return withMilliseconds(parsed)
}

func withMilliseconds(value any) any {
	switch known := value.(type) {
	case string:
		if timePattern.MatchString(known) {
			at, _ := time.Parse(time.RFC3339Nano, known)
			return at.Format("2006-01-02T15:04:05.000Z")
		}
	case []any:
		for index, item := range known {
			known[index] = withMilliseconds(item)
		}
	case object:
		for name, item := range known {
			known[name] = withMilliseconds(item)
		}
	}
	return value
}
