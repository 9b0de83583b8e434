package grantd

import (
	"encoding/json"
	"errors"

	"github.com/grantd/grantd/clients/go/internal/strictjson"
)

// RuleElement: what suffices for a name, or is needed for it: a name on the same object ("editor"), a name on an entity
// that has a relation on it ("viewer from parent", "all of viewer from parent"), or a gate. Gate is nil for a name.
type RuleElement struct {
	Name string
	Gate *RuleGate
}

// Names returns an element for each of the names.
func Names(names ...string) []RuleElement {
	elements := make([]RuleElement, len(names))
	for index, name := range names {
		elements[index].Name = name
	}
	return elements
}

// MarshalJSON writes the name, or the gate.
func (e RuleElement) MarshalJSON() ([]byte, error) {
	if e.Gate == nil {
		return json.Marshal(e.Name)
	}
	if e.Name != "" {
		return nil, errors.New("grantd: an element has a name and a gate")
	}
	return json.Marshal(e.Gate)
}

// UnmarshalJSON reads a name, or a gate.
func (e *RuleElement) UnmarshalJSON(text []byte) error {
	value, err := strictjson.Parse(text)
	if err != nil {
		return err
	}
	*e, err = decodeRuleElement(value)
	return err
}

func decodeRuleElement(value any) (RuleElement, error) {
	if name, isName := value.(string); isName {
		return RuleElement{Name: name}, nil
	}
	gate, err := decodeRuleGate(value)
	return RuleElement{Gate: &gate}, err
}
