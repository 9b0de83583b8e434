// Evaluates expressions with cel-go in the environment of OpenFGA. Reads a question in JSON from each line of standard
// input, and answers with a line: the value, an error, or that parameters are missing.
package main

import (
	"bufio"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"net/netip"
	"os"
	"reflect"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

type question struct {
	Expression string                     `json:"expression"`
	Parameters map[string]string          `json:"parameters"`
	Context    map[string]json.RawMessage `json:"context"`
}

type answer struct {
	Kind   string `json:"kind"` // value, missing, failed, refused
	Value  any    `json:"value,omitempty"`
	Reason string `json:"reason,omitempty"`
}

var ipType = cel.ObjectType("IPAddress", traits.ReceiverType)

type ipAddress struct{ addr netip.Addr }

func (ip ipAddress) ConvertToNative(reflect.Type) (any, error) { return ip, nil }
func (ip ipAddress) ConvertToType(to ref.Type) ref.Val {
	if to == types.StringType {
		return types.String(ip.addr.String())
	}
	return types.NewErr("no conversion")
}
func (ip ipAddress) Equal(other ref.Val) ref.Val {
	o, ok := other.(ipAddress)
	return types.Bool(ok && ip.addr == o.addr)
}
func (ip ipAddress) Type() ref.Type { return ipType }
func (ip ipAddress) Value() any     { return ip }

func parseIP(text string) (ref.Val, error) {
	addr, err := netip.ParseAddr(text)
	if err != nil {
		return nil, err
	}
	return ipAddress{addr.Unmap()}, nil
}

func inCidr(ip, cidr ref.Val) ref.Val {
	network, err := netip.ParsePrefix(string(cidr.(types.String)))
	if err != nil {
		return types.WrapErr(err)
	}
	if addr := network.Addr().Unmap(); addr.Is4() && network.Bits() >= 96 {
		network = netip.PrefixFrom(addr, network.Bits()-96)
	}
	return types.Bool(network.Contains(ip.(ipAddress).addr))
}

func newBase() (*cel.Env, error) {
	return cel.NewEnv(
		cel.EagerlyValidateDeclarations(true),
		cel.Function("in_cidr", cel.MemberOverload("ipaddr_in_cidr", []*cel.Type{ipType, cel.StringType}, cel.BoolType,
			cel.BinaryBinding(inCidr))),
		cel.Function("ipaddress", cel.Overload("string_to_ipaddress", []*cel.Type{cel.StringType}, ipType,
			cel.UnaryBinding(func(text ref.Val) ref.Val {
				ip, err := parseIP(string(text.(types.String)))
				if err != nil {
					return types.WrapErr(err)
				}
				return ip
			}))),
	)
}

var plainTypes = map[string]*cel.Type{
	"any": cel.AnyType, "bool": cel.BoolType, "bytes": cel.BytesType, "double": cel.DoubleType,
	"duration": cel.DurationType, "int": cel.IntType, "ipaddress": ipType, "string": cel.StringType,
	"timestamp": cel.TimestampType, "uint": cel.UintType,
}

func inner(text string) string { return text[strings.Index(text, "<")+1 : len(text)-1] }

func typeOf(text string) *cel.Type {
	switch {
	case strings.HasPrefix(text, "list<"):
		return cel.ListType(typeOf(inner(text)))
	case strings.HasPrefix(text, "map<"):
		return cel.MapType(cel.StringType, typeOf(inner(text)))
	}
	return plainTypes[text]
}

// A number, or the text of one.
func numberIn(raw json.RawMessage) string { return strings.Trim(string(raw), `"`) }

func valueOf(raw json.RawMessage, declared string) (any, error) {
	var text string
	switch {
	case strings.HasPrefix(declared, "list<"):
		var items []json.RawMessage
		if err := json.Unmarshal(raw, &items); err != nil {
			return nil, err
		}
		list := make([]any, len(items))
		for index, item := range items {
			value, err := valueOf(item, inner(declared))
			if err != nil {
				return nil, err
			}
			list[index] = value
		}
		return list, nil
	case strings.HasPrefix(declared, "map<"):
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(raw, &fields); err != nil {
			return nil, err
		}
		result := map[string]any{}
		for name, field := range fields {
			value, err := valueOf(field, inner(declared))
			if err != nil {
				return nil, err
			}
			result[name] = value
		}
		return result, nil
	}
	switch declared {
	case "any", "bool":
		var value any
		err := json.Unmarshal(raw, &value)
		return value, err
	case "int":
		return strconv.ParseInt(numberIn(raw), 10, 64)
	case "uint":
		return strconv.ParseUint(numberIn(raw), 10, 64)
	case "double":
		return strconv.ParseFloat(numberIn(raw), 64)
	}
	if err := json.Unmarshal(raw, &text); err != nil {
		return nil, err
	}
	switch declared {
	case "string":
		return text, nil
	case "bytes":
		return base64.StdEncoding.DecodeString(text)
	case "timestamp":
		return time.Parse(time.RFC3339, text)
	case "duration":
		return time.ParseDuration(text)
	case "ipaddress":
		return parseIP(text)
	}
	return nil, fmt.Errorf("no type %s", declared)
}

// The form that the other side writes too: [type, …].
func wire(value ref.Val) any {
	switch v := value.(type) {
	case types.Null:
		return []any{"null"}
	case types.Bool:
		return []any{"bool", bool(v)}
	case types.Int:
		return []any{"int", strconv.FormatInt(int64(v), 10)}
	case types.Uint:
		return []any{"uint", strconv.FormatUint(uint64(v), 10)}
	case types.Double:
		if math.IsNaN(float64(v)) {
			return []any{"double", "NaN"}
		}
		return []any{"double", fmt.Sprintf("%016x", math.Float64bits(float64(v)))}
	case types.String:
		return []any{"string", string(v)}
	case types.Bytes:
		return []any{"bytes", hex.EncodeToString(v)}
	case types.Timestamp:
		return []any{"timestamp", v.Time.UTC().Format(time.RFC3339Nano)}
	case types.Duration:
		return []any{"duration", strconv.FormatInt(int64(v.Duration), 10)}
	case ipAddress:
		return []any{"ipaddress", v.addr.StringExpanded()}
	case traits.Mapper:
		entries := [][2]any{}
		for it := v.Iterator(); it.HasNext() == types.True; {
			key := it.Next()
			entries = append(entries, [2]any{wire(key), wire(v.Get(key))})
		}
		order := func(index int) string { text, _ := json.Marshal(entries[index][0]); return string(text) }
		sort.Slice(entries, func(left, right int) bool { return order(left) < order(right) })
		return []any{"map", entries}
	case traits.Lister:
		items := []any{}
		for it := v.Iterator(); it.HasNext() == types.True; {
			items = append(items, wire(it.Next()))
		}
		return []any{"list", items}
	}
	return []any{"other", fmt.Sprint(value)}
}

func evaluate(base *cel.Env, line []byte) answer {
	var asked question
	if err := json.Unmarshal(line, &asked); err != nil {
		return answer{Kind: "refused", Reason: err.Error()}
	}
	var options []cel.EnvOption
	values := map[string]any{}
	var missing []*cel.AttributePatternType
	for name, declared := range asked.Parameters {
		options = append(options, cel.Variable(name, typeOf(declared)))
		raw, found := asked.Context[name]
		if !found {
			missing = append(missing, cel.AttributePattern(name))
			continue
		}
		value, err := valueOf(raw, declared)
		if err != nil {
			return answer{Kind: "refused", Reason: name + ": " + err.Error()}
		}
		values[name] = value
	}
	env, err := base.Extend(options...)
	if err != nil {
		return answer{Kind: "refused", Reason: err.Error()}
	}
	ast, issues := env.Compile(asked.Expression)
	if issues.Err() != nil {
		return answer{Kind: "refused", Reason: issues.Err().Error()}
	}
	program, err := env.Program(ast, cel.EvalOptions(cel.OptPartialEval))
	if err != nil {
		return answer{Kind: "refused", Reason: err.Error()}
	}
	known, err := cel.PartialVars(values, missing...)
	if err != nil {
		return answer{Kind: "refused", Reason: err.Error()}
	}
	value, _, err := program.Eval(known)
	if err != nil {
		return answer{Kind: "failed", Reason: err.Error()}
	}
	if types.IsUnknown(value) {
		return answer{Kind: "missing"}
	}
	return answer{Kind: "value", Value: wire(value)}
}

func main() {
	base, err := newBase()
	if err != nil {
		panic(err)
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	output := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		if err := output.Encode(evaluate(base, lines.Bytes())); err != nil {
			return
		}
	}
}
