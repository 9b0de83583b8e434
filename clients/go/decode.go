// The base of the generated decoders. An answer decodes only if it has every promised field, in this exact spelling and
// of the promised type: encoding/json alone would leave a missing field false, and accept "Authorized".

package grantd

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// The largest integer that JSON carries exactly.
const integerMax = 1<<53 - 1

type fields struct {
	known map[string]any
	// The first thing that is wrong.
	err error
}

func objectOf(value any) *fields {
	known, isObject := value.(map[string]any)
	if !isObject {
		return &fields{err: errors.New("it is not an object")}
	}
	return &fields{known: known}
}

func decodeField[T any](o *fields, name string, value any, decode func(any) (T, error)) T {
	decoded, err := decode(value)
	if err != nil {
		o.err = fmt.Errorf("%q: %w", name, err)
	}
	return decoded
}

func required[T any](o *fields, name string, decode func(any) (T, error)) T {
	var none T
	if o.err != nil {
		return none
	}
	value, has := o.known[name]
	if !has {
		o.err = fmt.Errorf("%q is missing", name)
		return none
	}
	return decodeField(o, name, value, decode)
}

func nullable[T any](o *fields, name string, decode func(any) (T, error)) *T {
	if value, has := o.known[name]; has && value == nil {
		return nil
	}
	decoded := required(o, name, decode)
	return &decoded
}

func optional[T any](o *fields, name string, decode func(any) (T, error)) *T {
	if _, has := o.known[name]; !has {
		return nil
	}
	decoded := required(o, name, decode)
	return &decoded
}

func orZero[T any](o *fields, name string, decode func(any) (T, error)) T {
	decoded := optional(o, name, decode)
	if decoded == nil {
		var none T
		return none
	}
	return *decoded
}

func listOf[T any](decode func(any) (T, error)) func(any) ([]T, error) {
	return func(value any) ([]T, error) {
		items, isList := value.([]any)
		if !isList {
			return nil, errors.New("it is not an array")
		}
		decoded := make([]T, len(items))
		for index, item := range items {
			one, err := decode(item)
			if err != nil {
				return nil, fmt.Errorf("[%d]: %w", index, err)
			}
			decoded[index] = one
		}
		return decoded, nil
	}
}

func decodeText(value any) (string, error) {
	text, isText := value.(string)
	if !isText {
		return "", errors.New("it is not a string")
	}
	return text, nil
}

// decodeCursor: an empty one would be the beginning.
func decodeCursor(value any) (string, error) {
	cursor, err := decodeText(value)
	if err == nil && cursor == "" {
		err = errors.New("it is empty")
	}
	return cursor, err
}

func decodeBoolean(value any) (bool, error) {
	boolean, isBoolean := value.(bool)
	if !isBoolean {
		return false, errors.New("it is not a boolean")
	}
	return boolean, nil
}

func decodeMap(value any) (map[string]any, error) {
	object, isObject := value.(map[string]any)
	if !isObject {
		return nil, errors.New("it is not an object")
	}
	return object, nil
}

func decodeInteger(value any) (int64, error) {
	number, isNumber := value.(float64)
	if !isNumber || number != math.Trunc(number) || math.Abs(number) > integerMax {
		return 0, errors.New("it is not an integer")
	}
	return int64(number), nil
}

func decodeTime(value any) (time.Time, error) {
	text, err := decodeText(value)
	if err != nil {
		return time.Time{}, err
	}
	return time.Parse(time.RFC3339Nano, text)
}
