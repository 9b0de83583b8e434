// Package grantdtest has a grantd in memory, for tests of programs that use the client.
//
//	fake := grantdtest.New()
//	client := fake.Client()
//
// The client is a real one: it gathers, decodes and fails as it does over the network. Only the service is replaced:
// it keeps one tenant in memory, without the limits of a plan, and stores nothing.
package grantdtest

import (
	"crypto/rand"
	"net/http"
	"sync"
	"time"

	"github.com/grantd/grantd/clients/go"
)

type tuple struct{ subject, relation, object string }

type key struct {
	record grantd.Key
	text   string
}

type createdKey struct {
	keyID string
	body  string
}

// Fake is a service with one tenant. It is an http.Handler, too: put it behind an httptest.Server to test a program
// that is given an address.
type Fake struct {
	// Now is the clock of the service. Set it before the first call, for instance to let grants expire.
	Now func() time.Time

	mutex       sync.Mutex
	unavailable bool
	grants      map[tuple]*grantd.Grant
	namespaces  map[string]time.Time
	keys        []*key
	created     map[string]createdKey
	rules       ruleSet
	changes     []map[string]any
	seq         int
	// Closed, and replaced, when changes come.
	news chan struct{}
	root string
}

// New makes a service with an empty tenant and one key that has all scopes.
func New() *Fake {
	f := &Fake{
		Now:        time.Now,
		grants:     map[tuple]*grantd.Grant{},
		namespaces: map[string]time.Time{},
		created:    map[string]createdKey{},
		rules:      ruleSet{Rules: []grantd.Rule{}, Public: []string{}},
		news:       make(chan struct{}),
	}
	scopes := []string{"check:read", "grant:write", "admin"}
	f.root = f.addKey("", scopes, nil, time.Now()).text
	return f
}

// Key is the key that has all scopes.
func (f *Fake) Key() string { return f.root }

// Client calls this service with the key that has all scopes.
func (f *Fake) Client() *grantd.Client { return f.ClientWith(grantd.Config{}) }

// ClientWith calls this service, with other settings. URL and HTTPClient are those of the service, and so is the Key
// unless it is given.
func (f *Fake) ClientWith(config grantd.Config) *grantd.Client {
	config.URL, config.HTTPClient = "http://grantd.test", &http.Client{Transport: transport{f}}
	if config.Key == "" {
		config.Key = f.root
	}
	client, err := grantd.New(config)
	if err != nil {
		panic(err)
	}
	return client
}

// SetUnavailable turns on or off a 503 for every call, to test how a program handles an outage.
func (f *Fake) SetUnavailable(unavailable bool) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.unavailable = unavailable
}

const (
	crockford = "0123456789abcdefghjkmnpqrstvwxyz"
	base62    = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

func randomText(alphabet string, length int) string {
	text := make([]byte, length)
	_, _ = rand.Read(text)
	for index, value := range text {
		text[index] = alphabet[int(value)%len(alphabet)]
	}
	return string(text)
}

func newID(prefix string) string { return prefix + "_" + randomText(crockford, 26) }

func (f *Fake) addKey(name string, scopes []string, expires *time.Time, now time.Time) *key {
	record := grantd.Key{KeyID: newID("key"), Name: name, Scopes: scopes, CreatedAt: now, ExpiresAt: expires}
	added := &key{record: record, text: "gk1_" + randomText(base62, 81)}
	f.keys = append(f.keys, added)
	return added
}

// now is in milliseconds, as the service shows times.
func (f *Fake) now() time.Time { return f.Now().UTC().Truncate(time.Millisecond) }

// operation collects the changes of one write.
type operation struct {
	fake      *Fake
	actor     string
	requestID string
	changes   []map[string]any
}

func (o *operation) record(action string, name string, value any, more ...any) {
	change := map[string]any{"action": action, name: value}
	for index := 0; index < len(more); index += 2 {
		change[more[index].(string)] = more[index+1]
	}
	o.changes = append(o.changes, change)
}

func (o *operation) commit() {
	if len(o.changes) == 0 {
		return
	}
	f := o.fake
	f.seq++
	for index, change := range o.changes {
		change["seq"], change["index"] = f.seq, index
		change["at"], change["actor"], change["request_id"] = timeText(f.now()), o.actor, o.requestID
		f.changes = append(f.changes, change)
	}
	close(f.news)
	f.news = make(chan struct{})
}

// expire removes the grants that have expired.
func (f *Fake) expire() {
	now := f.now()
	ended := &operation{fake: f, actor: "system", requestID: newID("req")}
	for of, grant := range f.grants {
		if grant.ExpiresAt != nil && !grant.ExpiresAt.After(now) {
			delete(f.grants, of)
			ended.record("grant.expired", "grant", grantJSON(*grant))
		}
	}
	ended.commit()
}

const timeLayout = "2006-01-02T15:04:05.000Z"

func timeText(at time.Time) string { return at.UTC().Format(timeLayout) }

func timeOrNull(at *time.Time) any {
	if at == nil {
		return nil
	}
	return timeText(*at)
}

func grantJSON(grant grantd.Grant) map[string]any {
	return map[string]any{
		"grant_id": grant.GrantID, "subject": grant.Subject, "relation": grant.Relation, "object": grant.Object,
		"created_at": timeText(grant.CreatedAt), "expires_at": timeOrNull(grant.ExpiresAt),
	}
}
