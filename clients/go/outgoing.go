// What goes out: every text, number and header of a request passes through here before anything is sent. Invariant: the
// service reads exactly what the caller has given. encoding/json would replace each byte that is not UTF-8 by U+FFFD, and
// make one subject another.

package grantd

import (
	"encoding"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/grantd/grantd/clients/go/internal/strictjson"
)

// More than a context may have. It also bounds the stack.
const outgoingDepthMax = 500

// encodedRequest is a request as it is sent.
type encodedRequest struct {
	address string
	header  http.Header
	// Nil: none.
	body        []byte
	contentType string
}

func unsendable(format string, values ...any) *Error {
	return &Error{Type: TypeInvalidRequest, Status: http.StatusBadRequest, Detail: printable(fmt.Sprintf(format, values...))}
}

// prepare refuses what cannot be sent as it is, and names its place.
func (c *Client) prepare(r request, header http.Header) (*encodedRequest, *Error) {
	path, err := url.PathUnescape(r.path)
	if err != nil || !utf8.ValidString(path) {
		return nil, unsendable("the path is not UTF-8: %q", path)
	}
	address := c.base + r.path
	for _, name := range slices.Sorted(maps.Keys(r.query)) {
		for _, value := range r.query[name] {
			if !utf8.ValidString(value) {
				return nil, unsendable("%q is not UTF-8", name)
			}
		}
	}
	if len(r.query) > 0 {
		address += "?" + r.query.Encode()
	}
	for _, name := range slices.Sorted(maps.Keys(header)) {
		if wrong := wrongHeader(name, header[name]); wrong != nil {
			return nil, unsendable("%v", wrong)
		}
	}
	if r.body == nil {
		return &encodedRequest{address: address, header: header}, nil
	}
	if text, isText := r.body.(string); isText {
		if !utf8.ValidString(text) {
			return nil, unsendable("%q is not UTF-8", "rules")
		}
		return &encodedRequest{address, header, []byte(text), rulesType}, nil
	}
	if wrong := checkSendable(r.body); wrong != nil {
		return nil, wrong
	}
	body, err := json.Marshal(r.body)
	if err != nil {
		return nil, unsendable("%v", err)
	}
	return &encodedRequest{address, header, body, jsonType}, nil
}

// wrongHeader: what comes at the other end is the text itself only if it is printable ASCII, and no space is trimmed.
func wrongHeader(name string, values []string) error {
	if name == "" || strings.ContainsFunc(name, func(r rune) bool { return !isTokenRune(r) }) {
		return fmt.Errorf("%q is not the name of a header", name)
	}
	for _, value := range values {
		if value != strings.TrimSpace(value) || !isPrintable(value) {
			return fmt.Errorf("the header %s is not one line of printable ASCII", name)
		}
	}
	return nil
}

// checkSendable refuses a value that JSON would not carry as it is.
func checkSendable(value any) *Error {
	return (&walk{}).value(reflect.ValueOf(value), "", 0)
}

var (
	jsonMarshaler = reflect.TypeFor[json.Marshaler]()
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
	// They have a form of their own only for parts that may be absent, and are visited like others.
	ownForms = []reflect.Type{
		reflect.TypeFor[GrantRequest](), reflect.TypeFor[RuleElement](), reflect.TypeFor[EvaluationsRequest](),
	}
)

type reference struct {
	at     uintptr
	length int
}

// walk visits what encoding/json would encode, and perhaps more.
type walk struct {
	// What contains the present value.
	within []reference
}

func (w *walk) value(v reflect.Value, place string, depth int) *Error {
	if !v.IsValid() {
		return nil
	}
	if depth > outgoingDepthMax {
		return unsendable("%q is nested too deeply", place)
	}
	if isOther, wrong := marshalled(v, place); isOther {
		return wrong
	}
	switch v.Kind() {
	case reflect.String:
		if !utf8.ValidString(v.String()) {
			return unsendable("%q is not UTF-8", place)
		}
	case reflect.Float32, reflect.Float64:
		if math.IsNaN(v.Float()) || math.IsInf(v.Float(), 0) {
			return unsendable("%q is %v, which JSON does not have", place, v.Float())
		}
	case reflect.Chan, reflect.Func, reflect.Complex64, reflect.Complex128, reflect.UnsafePointer:
		return unsendable("%q is a %s, which JSON does not have", place, v.Type())
	case reflect.Interface:
		return w.value(v.Elem(), place, depth+1)
	case reflect.Struct:
		return w.fields(v, place, depth)
	case reflect.Array:
		return w.elements(v, place, depth)
	case reflect.Pointer, reflect.Map, reflect.Slice:
		return w.referenced(v, place, depth)
	}
	return nil
}

// marshalled judges the text of a type that has a form of its own.
func marshalled(v reflect.Value, place string) (bool, *Error) {
	if !v.CanInterface() || v.Kind() == reflect.Interface || slices.Contains(ownForms, v.Type()) {
		return false, nil
	}
	if v.Kind() == reflect.Pointer && (v.IsNil() || slices.Contains(ownForms, v.Type().Elem())) {
		return false, nil
	}
	if v.CanAddr() && reflect.PointerTo(v.Type()).Implements(jsonMarshaler) || v.Type().Implements(jsonMarshaler) {
		return true, marshalledJSON(v, place)
	}
	if v.CanAddr() && reflect.PointerTo(v.Type()).Implements(textMarshaler) {
		v = v.Addr()
	}
	if !v.Type().Implements(textMarshaler) {
		return false, nil
	}
	text, err := v.Interface().(encoding.TextMarshaler).MarshalText()
	if err != nil {
		return true, unsendable("%q: %v", place, err)
	}
	if !utf8.Valid(text) {
		return true, unsendable("%q is not UTF-8", place)
	}
	return true, nil
}

func marshalledJSON(v reflect.Value, place string) *Error {
	if v.Type() == reflect.TypeFor[time.Time]() {
		return nil
	}
	if v.CanAddr() {
		v = v.Addr()
	}
	text, err := v.Interface().(json.Marshaler).MarshalJSON()
	if err == nil {
		_, err = strictjson.Parse(text)
	}
	if err != nil {
		return unsendable("%q: %v", place, err)
	}
	if _, isVerbatim := v.Interface().(json.RawMessage); isVerbatim {
		return nil
	}
	// Bytes that are not UTF-8 have become U+FFFD in the text.
	if strings.ContainsRune(string(text), utf8.RuneError) || strings.Contains(strings.ToLower(string(text)), `\ufffd`) {
		return unsendable("%q has U+FFFD, perhaps in place of what is not UTF-8", place)
	}
	return nil
}

func (w *walk) referenced(v reflect.Value, place string, depth int) *Error {
	if v.IsNil() {
		return nil
	}
	own := reference{at: v.Pointer()}
	if v.Kind() == reflect.Slice {
		own.length = v.Len()
	}
	if slices.Contains(w.within, own) && (v.Kind() != reflect.Slice || own.length > 0) {
		return unsendable("%q contains itself", place)
	}
	w.within = append(w.within, own)
	defer func() { w.within = w.within[:len(w.within)-1] }()
	switch v.Kind() {
	case reflect.Pointer:
		return w.value(v.Elem(), place, depth+1)
	case reflect.Map:
		return w.members(v, place, depth)
	}
	return w.elements(v, place, depth)
}

func (w *walk) elements(v reflect.Value, place string, depth int) *Error {
	if v.Type().Elem().Kind() == reflect.Uint8 {
		// Bytes go as base64.
		return nil
	}
	for index := range v.Len() {
		if wrong := w.value(v.Index(index), fmt.Sprintf("%s[%d]", place, index), depth+1); wrong != nil {
			return wrong
		}
	}
	return nil
}

func memberOf(place, name string) string {
	if place == "" {
		return name
	}
	return place + "." + name
}

func (w *walk) members(v reflect.Value, place string, depth int) *Error {
	for entries := v.MapRange(); entries.Next(); {
		name := entries.Key()
		switch {
		case name.Kind() == reflect.String && !utf8.ValidString(name.String()):
			return unsendable("%q has a member whose name is not UTF-8: %q", place, name.String())
		case name.Kind() != reflect.String && !name.CanInt() && !name.CanUint():
			return unsendable("%q has a member whose name is a %s", place, name.Type())
		}
		if wrong := w.value(entries.Value(), memberOf(place, fmt.Sprint(name)), depth+1); wrong != nil {
			return wrong
		}
	}
	return nil
}

func (w *walk) fields(v reflect.Value, place string, depth int) *Error {
	for index := range v.NumField() {
		field := v.Type().Field(index)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if field.Tag.Get("json") == "-" || !field.IsExported() && !field.Anonymous {
			continue
		}
		within := place
		if name == "" && !field.Anonymous {
			name = field.Name
		}
		if name != "" {
			within = memberOf(place, name)
		}
		if wrong := w.value(v.Field(index), within, depth+1); wrong != nil {
			return wrong
		}
	}
	return nil
}
