// Package strictjson reads JSON, and refuses what encoding/json takes silently: bytes that are not UTF-8, half of a
// surrogate pair, and a second member of one name, of which it would take the last.
package strictjson

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// Parse gives maps, lists, texts, float64, bool and nil.
func Parse(text []byte) (any, error) {
	if !utf8.Valid(text) {
		return nil, errors.New("it is not UTF-8")
	}
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		return nil, err
	}
	if err := unambiguous(text); err != nil {
		return nil, err
	}
	return value, nil
}

// unambiguous reads what is JSON already.
func unambiguous(text []byte) error {
	// The names of the objects around; nil of an array.
	var around []map[string]bool
	isName := false
	for at := 0; at < len(text); at++ {
		switch text[at] {
		case '{':
			around, isName = append(around, map[string]bool{}), true
		case '[':
			around, isName = append(around, nil), false
		case '}', ']':
			around, isName = around[:len(around)-1], false
		case ',':
			isName = around[len(around)-1] != nil
		case ':':
			isName = false
		case '"':
			end := endOfString(text, at)
			if hasHalfPair(text[at:end]) {
				return errors.New("half of a surrogate pair")
			}
			if isName {
				var name string
				if err := json.Unmarshal(text[at:end], &name); err != nil {
					return err
				}
				names := around[len(around)-1]
				if names[name] {
					return fmt.Errorf("two members are named %q", name)
				}
				names[name] = true
			}
			at = end - 1
		}
	}
	return nil
}

// endOfString is behind the closing quote.
func endOfString(text []byte, start int) int {
	for at := start + 1; at < len(text); at++ {
		switch text[at] {
		case '\\':
			at++
		case '"':
			return at + 1
		}
	}
	return len(text)
}

// hasHalfPair: escapes come in pairs if the first is of the range D800 to DBFF, and the second of DC00 to DFFF.
func hasHalfPair(quoted []byte) bool {
	isOpen := false
	for at := 1; at < len(quoted); at++ {
		var unit uint64
		if quoted[at] == '\\' {
			if at++; quoted[at] == 'u' {
				unit, _ = strconv.ParseUint(string(quoted[at+1:at+5]), 16, 16)
				at += 4
			}
		}
		isLow := unit >= 0xdc00 && unit <= 0xdfff
		if isOpen != isLow {
			return true
		}
		isOpen = unit >= 0xd800 && unit <= 0xdbff
	}
	return false
}
