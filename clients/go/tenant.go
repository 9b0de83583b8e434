// Namespaces, API keys and rules of a tenant.

package grantd

import (
	"context"
	"crypto/rand"
	"errors"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// ListNamespaces returns all namespaces, ascending by name.
func (c *Client) ListNamespaces(ctx context.Context) ([]Namespace, error) {
	list, err := callForAll(ctx, c, get("listNamespaces", "/v1/namespaces", nil), decodeNamespaceList)
	return list.Namespaces, err
}

type namespaceRequest struct {
	Name string `json:"name"`
}

// CreatedNamespace is a namespace, and whether the call has created it.
type CreatedNamespace struct {
	Namespace
	// False: it existed already.
	Created bool `json:"created"`
}

// CreateNamespace creates a namespace, or returns the existing one; Created says which.
func (c *Client) CreateNamespace(ctx context.Context, name string) (CreatedNamespace, error) {
	call := post("createNamespace", "/v1/namespaces", namespaceRequest{name}, http.StatusOK, http.StatusCreated)
	namespace, answer, err := callFor(ctx, c, call, decodeNamespace)
	if err != nil {
		return CreatedNamespace{}, err
	}
	return CreatedNamespace{namespace, answer.status == http.StatusCreated}, nil
}

// KeysQuery says where a listing of keys begins.
type KeysQuery struct {
	// Items of a page, up to 1,000. Default: 100.
	Limit int
	// Where to resume. Optional.
	Cursor string
}

// ListKeys yields all keys that are not revoked. The keys themselves are not shown.
func (c *Client) ListKeys(ctx context.Context, query KeysQuery) iter.Seq2[Key, error] {
	return pages(query.Cursor, func(cursor string) ([]Key, string, error) {
		query.Cursor = cursor
		page, err := c.ListKeysPage(ctx, query)
		return page.Keys, cursorOf(page.NextCursor), err
	})
}

// ListKeysPage reads one page.
func (c *Client) ListKeysPage(ctx context.Context, query KeysQuery) (KeyList, error) {
	parameters := queryOf("limit", limitText(query.Limit), "cursor", query.Cursor)
	return callForAll(ctx, c, get("listKeys", "/v1/keys", parameters), decodeKeyList)
}

// KeyRequest is an API key to create.
type KeyRequest struct {
	// For people; may be empty.
	Name string `json:"name,omitempty"`
	// At least one of "check:read", "grant:write" and "admin".
	Scopes []string `json:"scopes"`
	// Nil: never.
	ExpiresAt *time.Time `json:"expires_at,omitempty"`
	// Names what is created, so that a repeat with the same text creates no second key. Default: a random one.
	IdempotencyKey string `json:"-"`
}

// CreateKey creates an API key. Only this result contains it. If the response to an attempt is lost, its key was never
// delivered: without an IdempotencyKey of the caller, the client then revokes it and creates another; with one, the
// error has the type TypeAlreadyCreated and the KeyID.
func (c *Client) CreateKey(ctx context.Context, key KeyRequest) (CreatedKey, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	if key.IdempotencyKey != "" {
		return c.createKeyOnce(ctx, key)
	}
	for {
		key.IdempotencyKey = rand.Text()
		created, err := c.createKeyOnce(ctx, key)
		var failed *Error
		if err == nil || !errors.As(err, &failed) || failed.Type != TypeAlreadyCreated || failed.KeyID == "" {
			return created, err
		}
		if _, err := c.RevokeKey(ctx, failed.KeyID); err != nil {
			return CreatedKey{}, err
		}
	}
}

func (c *Client) createKeyOnce(ctx context.Context, key KeyRequest) (CreatedKey, error) {
	name, err := quoted(key.IdempotencyKey, "the idempotency key")
	if err != nil {
		return CreatedKey{}, err
	}
	call := post("createKey", "/v1/keys", key, http.StatusCreated)
	call.header = http.Header{"Idempotency-Key": {name}}
	return callForAll(ctx, c, call, decodeCreatedKey)
}

// quoted returns a text in the form of a header.
func quoted(text, what string) (string, error) {
	if strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == '\\' }) {
		return "", unsendable("%s has characters that it cannot have", what)
	}
	return `"` + text + `"`, nil
}

// RevokeKey revokes the key with this id and reports whether it existed. Requests with it that start afterwards are
// refused everywhere.
func (c *Client) RevokeKey(ctx context.Context, keyID string) (revoked bool, err error) {
	if keyID == "" || keyID == "." || keyID == ".." {
		// No path leads to it.
		return false, nil
	}
	return c.remove(ctx, TypeKeyNotFound, request{operation: "revokeKey", path: "/v1/keys/" + url.PathEscape(keyID)})
}

// Rules are the rules of the tenant, and their revision for the next change.
type Rules struct {
	RuleSet
	Revision string
}

var errNoRevision = errors.New("it has no ETag with a revision")

// rulesOf adds the revision of the tag.
func rulesOf(set RuleSet, answer *response, err error) (Rules, error) {
	if err != nil {
		return Rules{}, err
	}
	revision, err := revisionOf(answer)
	if err != nil {
		return Rules{}, err
	}
	return Rules{set, revision}, nil
}

func revisionOf(answer *response) (string, error) {
	tag := answer.header.Get("ETag")
	if len(tag) < 3 || tag[0] != '"' || tag[len(tag)-1] != '"' {
		return "", answer.invalid(errNoRevision)
	}
	return tag[1 : len(tag)-1], nil
}

// ReadRules returns the present rules. A tenant that has never set any has empty ones.
func (c *Client) ReadRules(ctx context.Context) (Rules, error) {
	return rulesOf(callFor(ctx, c, get("readRules", "/v1/rules", nil), decodeRuleSet))
}

// ReadRulesUnless returns nil if the rules still have the revision.
func (c *Client) ReadRulesUnless(ctx context.Context, revision string) (*Rules, error) {
	tag, err := quoted(revision, "the revision")
	if err != nil {
		return nil, err
	}
	call := get("readRules", "/v1/rules", nil)
	call.header = http.Header{"If-None-Match": {tag}}
	call.accepts = append(call.accepts, http.StatusNotModified)
	unchanged := false
	rules, err := rulesOf(callFor(ctx, c, call, func(value any) (RuleSet, error) {
		if unchanged = value == nil; unchanged {
			return RuleSet{}, nil
		}
		return decodeRuleSet(value)
	}))
	if err != nil || unchanged {
		return nil, err
	}
	return &rules, nil
}

// ListRulesVersions returns the versions of the rules that are kept, from the newest back.
func (c *Client) ListRulesVersions(ctx context.Context) ([]RulesVersion, error) {
	call := get("listRulesVersions", "/v1/rules/versions", nil)
	list, err := callForAll(ctx, c, call, decodeRulesVersionList)
	return list.Versions, err
}

// ReadRulesVersion returns the rules of a version. If it is not kept, the error has the type TypeRulesVersionNotFound.
func (c *Client) ReadRulesVersion(ctx context.Context, version int64) (Rules, error) {
	return rulesOf(callFor(ctx, c, readRulesVersion(version), decodeRuleSet))
}

func readRulesVersion(version int64) request {
	return get("readRulesVersion", "/v1/rules/versions/"+strconv.FormatInt(version, 10), nil)
}

// WriteRules replaces the rules if their revision is the given one, or unconditionally with "". If the revision
// differs, the error has the type TypePreconditionFailed.
func (c *Client) WriteRules(ctx context.Context, rules RuleSetRequest, revision string) (Rules, error) {
	call, err := writeRules(rules, revision, nil)
	if err != nil {
		return Rules{}, err
	}
	return rulesOf(callFor(ctx, c, call, decodeRuleSet))
}

// RulesText are the rules of the tenant in the text form, as they were set or printed from JSON, and their revision.
type RulesText struct {
	Text     string
	Revision string
}

// ReadRulesText returns the rules in the text form, with their comments: those of a version that is kept, or the
// present ones with 0.
func (c *Client) ReadRulesText(ctx context.Context, version int64) (RulesText, error) {
	call := get("readRules", "/v1/rules", nil)
	if version != 0 {
		call = readRulesVersion(version)
	}
	call.header = http.Header{"Accept": {rulesType}}
	text, answer, err := callFor(ctx, c, call, decodeText)
	if err != nil {
		return RulesText{}, err
	}
	revision, err := revisionOf(answer)
	if err != nil {
		return RulesText{}, err
	}
	return RulesText{text, revision}, nil
}

// RulesOption says how rules as text are written. RuleSetRequest has it as a member.
type RulesOption string

// KeepOutsideTypes: stored grants that stricter types exclude stay, and count.
const KeepOutsideTypes RulesOption = "outside_types=keep"

// WriteRulesText is WriteRules with the rules in the text form.
func (c *Client) WriteRulesText(ctx context.Context, text, revision string, options ...RulesOption) (Rules, error) {
	call, err := writeRulesText(text, revision, url.Values{}, options)
	if err != nil {
		return Rules{}, err
	}
	return rulesOf(callFor(ctx, c, call, decodeRuleSet))
}

// PreviewRulesText is PreviewRules with the rules in the text form.
func (c *Client) PreviewRulesText(
	ctx context.Context, text, revision string, options ...RulesOption,
) (RulesPreview, error) {
	call, err := writeRulesText(text, revision, url.Values{"dry_run": {"true"}}, options)
	if err != nil {
		return RulesPreview{}, err
	}
	return callForAll(ctx, c, call, decodeRulesPreview)
}

func writeRulesText(text, revision string, query url.Values, options []RulesOption) (request, error) {
	for _, option := range options {
		name, value, _ := strings.Cut(string(option), "=")
		query.Set(name, value)
	}
	return putRules(text, revision, query)
}

// PreviewRules returns what WriteRules would change, and changes nothing.
func (c *Client) PreviewRules(ctx context.Context, rules RuleSetRequest, revision string) (RulesPreview, error) {
	call, err := writeRules(rules, revision, url.Values{"dry_run": {"true"}})
	if err != nil {
		return RulesPreview{}, err
	}
	return callForAll(ctx, c, call, decodeRulesPreview)
}

func writeRules(rules RuleSetRequest, revision string, query url.Values) (request, error) {
	if rules.Rules == nil {
		rules.Rules = []Rule{}
	}
	return putRules(rules, revision, query)
}

func putRules(body any, revision string, query url.Values) (request, error) {
	call := request{
		operation: "writeRules",
		method:    http.MethodPut,
		path:      "/v1/rules",
		query:     query,
		body:      body,
		accepts:   []int{http.StatusOK},
	}
	if revision == "" {
		return call, nil
	}
	tag, err := quoted(revision, "the revision")
	call.header, call.conditional = http.Header{"If-Match": {tag}}, true
	return call, err
}

// ReadJoin returns how a list of objects of the namespace on which a subject holds the name follows from mirrored
// grants. Of the namespaces in deep, the grants on containers are mirrored too.
func (c *Client) ReadJoin(ctx context.Context, namespace, name string, deep ...string) (map[string]any, error) {
	query := queryOf("namespace", namespace, "name", name, "deep", strings.Join(deep, ","))
	return callForAll(ctx, c, get("readJoin", "/v1/join", query), func(value any) (map[string]any, error) {
		o := objectOf(value)
		required(o, "revision", decodeText)
		return o.known, o.err
	})
}

// ReadSets returns the sets of a subject for a join: its half of a list, of which the other are the grants that the join
// mirrors. Filter asks for them by itself.
func (c *Client) ReadSets(ctx context.Context, sets SetsRequest) (SubjectSets, error) {
	return callForAll(ctx, c, post("readSets", "/v1/sets", sets), decodeSubjectSets)
}

// ReadOpenAPI returns the description of the API that the service serves.
func (c *Client) ReadOpenAPI(ctx context.Context) (map[string]any, error) {
	return callForAll(ctx, c, get("readOpenapi", "/openapi.json", nil), func(value any) (map[string]any, error) {
		o := objectOf(value)
		required(o, "openapi", decodeText)
		return o.known, o.err
	})
}
