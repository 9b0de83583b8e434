// Parses requests, and refuses malformed ones with the error type of the service.

package grantdtest

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

const namespaceRule = `[A-Za-z][A-Za-z0-9_.-]{0,63}`

var (
	namespacePattern = regexp.MustCompile(`^` + namespaceRule + `$`)
	// The external id has neither control characters nor white space.
	identifierPattern = regexp.MustCompile(`^` + namespaceRule +
		`:[^\x{0000}-\x{0020}\x{007f}-\x{00a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}]{1,256}$`)
)

type object = map[string]any

func identifierIn(from object, name, place string) string {
	text, isText := from[name].(string)
	if !isText || !identifierPattern.MatchString(text) {
		refuse("invalid-"+name, `"%s%s" must be namespace:external_id`, place, name)
	}
	return text
}

func builtInIn(from object, place string) string {
	text, isText := from["relation"].(string)
	if !isText || !slices.Contains(relations, text) {
		refuse("invalid-relation", `"%srelation" must be one of %s`, place, strings.Join(relations, ", "))
	}
	return text
}

// nameIn also accepts derived names.
func (c *call) nameIn(from object, place string) string {
	if text, isText := from["relation"].(string); isText && c.fake.rules.defines(text) {
		return text
	}
	return builtInIn(from, place)
}

// tupleIn refuses a condition: the fake has none, and the service refuses one that no rule declares.
func tupleIn(from object, place string) tuple {
	if from["condition"] != nil {
		refuse("invalid-condition", `"%scondition" names none that the rules declare`, place)
	}
	return tuple{identifierIn(from, "subject", place), builtInIn(from, place), identifierIn(from, "object", place)}
}

func (c *call) questionIn(from object, place string) tuple {
	return tuple{identifierIn(from, "subject", place), c.nameIn(from, place), identifierIn(from, "object", place)}
}

func listIn(from object, name string) []object {
	given, has := from[name]
	if !has {
		return nil
	}
	items, isList := given.([]any)
	if !isList {
		refuse(invalidRequest, `"%s" must be an array`, name)
	}
	objects := make([]object, len(items))
	for index, item := range items {
		one, isObject := item.(object)
		if !isObject {
			refuse(invalidRequest, `"%s[%d]" must be an object`, name, index)
		}
		objects[index] = one
	}
	return objects
}

func textsIn(from object, name string, isAllowed func(string) bool) []string {
	items, isList := from[name].([]any)
	if !isList {
		refuse(invalidRequest, `"%s" must be an array`, name)
	}
	texts := make([]string, len(items))
	for index, item := range items {
		text, isText := item.(string)
		if !isText || !isAllowed(text) {
			refuse(invalidRequest, `"%s[%d]" is not allowed`, name, index)
		}
		texts[index] = text
	}
	return texts
}

// expiryIn: nil with isGiven means "never".
func (c *call) expiryIn(from object, place string) (expires *time.Time, isGiven bool) {
	given, has := from["expires_at"]
	if !has || given == nil {
		return nil, has
	}
	text, _ := given.(string)
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil || !at.After(c.fake.now()) {
		refuse(invalidRequest, `"%sexpires_at" must be a time in the future`, place)
	}
	at = at.UTC().Truncate(time.Millisecond)
	return &at, true
}

// query returns the query of the request as an object, for functions that also read bodies.
func (c *call) queryObject(names ...string) object {
	read := object{}
	for name, values := range c.query {
		if !slices.Contains(names, name) || len(values) != 1 {
			refuse(invalidRequest, "The query parameter %q is unknown or repeated.", name)
		}
		read[name] = values[0]
	}
	return read
}

const (
	limitDefault = 100
	limitMax     = 1000
)

// page cuts a listing, whose items are ascending by their sort keys, by `limit` and `cursor` of the query.
func page[T any](c *call, query string, items []T, sortKey func(T) string) ([]T, any) {
	limit := limitDefault
	if text := c.query.Get("limit"); text != "" {
		given, err := strconv.Atoi(text)
		if err != nil || given < 1 || given > limitMax {
			refuse(invalidRequest, `"limit" must be from 1 to %d`, limitMax)
		}
		limit = given
	}
	found, next := cut(query, items, sortKey, limit, c.query.Get("cursor"))
	if next == "" {
		return found, nil
	}
	return found, next
}

type cursor struct {
	Query string `json:"q"`
	After string `json:"a"`
}

func cut[T any](query string, items []T, sortKey func(T) string, limit int, from string) ([]T, string) {
	digest := sha256.Sum256([]byte(query))
	name := hex.EncodeToString(digest[:8])
	if from != "" {
		after := readCursor(name, from)
		start := slices.IndexFunc(items, func(item T) bool { return sortKey(item) > after })
		if start < 0 {
			start = len(items)
		}
		items = items[start:]
	}
	if len(items) <= limit {
		return items, ""
	}
	return items[:limit], writeCursor(name, sortKey(items[limit-1]))
}

func writeCursor(query, after string) string {
	text, _ := json.Marshal(cursor{query, after})
	return base64.RawURLEncoding.EncodeToString(text)
}

func readCursor(query, text string) string {
	var read cursor
	decoded, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || json.Unmarshal(decoded, &read) != nil || read.Query != query {
		refuse("invalid-cursor", "The cursor was not issued for this query.")
	}
	return read.After
}

func queryName(parts ...any) string { return fmt.Sprintf("%q", parts) }

// elementOf is where an element is: "checks[3].", to which the name of a field is appended.
func elementOf(list string, index int) string { return fmt.Sprintf("%s[%d].", list, index) }
