package main

// grantd's own interface, over HTTP. The echo gets the same checks and always says true.

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
)

const (
	jsonType   = "application/json"
	ndjsonType = "application/x-ndjson"
)

type grantdTuple struct {
	Subject  string `json:"subject"`
	Relation string `json:"relation"`
	Object   string `json:"object"`
	// Of a grant only.
	Condition *grantdCondition `json:"condition,omitempty"`
	// Of a check only.
	Context *moment `json:"context,omitempty"`
}

type grantdCondition struct {
	Name string `json:"name"`
}

func grantdTupleOf(t tuple) grantdTuple {
	return grantdTuple{Subject: t.fullSubject(), Relation: t.of.relation, Object: t.fullObject()}
}

func grantdGrantOf(t tuple) grantdTuple {
	grant := grantdTupleOf(t)
	if name := t.of.condition(); name != "" {
		grant.Condition = &grantdCondition{name}
	}
	return grant
}

func grantdCheckOf(asked question) grantdTuple {
	check := grantdTupleOf(asked.tuple)
	check.Context = asked.context
	return check
}

// It encodes only our own strings and numbers, so it cannot fail.
func mustJSON(value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return text
}

func grantdCalls(asked *job, data dataSet) (callList, error) {
	if asked.Protocol != "http" {
		return callList{}, fmt.Errorf("%s speaks HTTP only", asked.System)
	}
	switch asked.Operation {
	case "load":
		return loadCalls(asked, data, func(tuples []tuple) *call { return grantdImport(asked, tuples) }), nil
	case "check":
		return checks(asked, data, func(about question) *call { return grantdCheck(about, asked.System == "echo") }), nil
	case "batch":
		batch := batches(asked, data)
		return prepared(len(batch), func(number int) *call { return grantdBulk(batch[number]) }), nil
	case "list":
		count, of := data.objectLists(asked.Shape)
		return lists(count, of, grantdList), nil
	case "subjects":
		count, of := data.subjectLists(asked.Shape)
		return lists(count, of, grantdSubjects), nil
	case "write":
		return writes(asked, data, func(grants []tuple) *call {
			if len(grants) == 1 {
				return grantdWrite(grants[0])
			}
			return grantdBulkWrite(grants)
		}), nil
	default:
		return callList{}, fmt.Errorf("%s has no operation %s", asked.System, asked.Operation)
	}
}

func grantdImport(asked *job, tuples []tuple) *call {
	var lines bytes.Buffer
	for _, each := range tuples {
		lines.Write(mustJSON(grantdGrantOf(each)))
		lines.WriteByte('\n')
	}
	path := "/operator/v1/tenants/" + asked.Tenant + "/import"
	return &call{method: http.MethodPost, path: path, contentType: ndjsonType, body: lines.Bytes(), judge: func(a answer) error {
		if err := expectStatus(a, http.StatusOK); err != nil {
			return err
		}
		if created := bytes.Count(a.body(), []byte(`"result":"created"`)); created != len(tuples) {
			return fmt.Errorf("of %d grants %d were created: %.300s", len(tuples), created, a.body())
		}
		return nil
	}}
}

func grantdCheck(asked question, echo bool) *call {
	right, other := []byte(`{"authorized":true,`), []byte(`{"authorized":false,`)
	if !asked.allowed && !echo {
		right, other = other, right
	}
	body := mustJSON(grantdCheckOf(asked))
	return &call{method: http.MethodPost, path: "/v1/check", contentType: jsonType, body: body, judge: func(a answer) error {
		switch {
		case a.status == http.StatusOK && bytes.HasPrefix(a.body(), right):
			return nil
		case a.status == http.StatusOK && bytes.HasPrefix(a.body(), other):
			return expectAllowed(!asked.allowed, asked.allowed, asked.tuple)
		default:
			return fmt.Errorf("status %d: %.300s", a.status, a.body())
		}
	}}
}

func grantdBulk(asked []question) *call {
	var request struct {
		Checks []grantdTuple `json:"checks"`
	}
	expected := []byte(`{"results":[`)
	for index, each := range asked {
		request.Checks = append(request.Checks, grantdCheckOf(each))
		if index > 0 {
			expected = append(expected, ',')
		}
		expected = fmt.Appendf(expected, `{"authorized":%t}`, each.allowed)
	}
	expected = append(expected, ']')
	return &call{method: http.MethodPost, path: "/v1/check/bulk", contentType: jsonType, body: mustJSON(request), judge: func(a answer) error {
		if err := expectStatus(a, http.StatusOK); err != nil {
			return err
		}
		if !bytes.HasPrefix(a.body(), expected) {
			return wrongAnswer{fmt.Sprintf("a bulk check: %.300s", a.body())}
		}
		return nil
	}}
}

func grantdList(of listing) *call {
	query := url.Values{"subject": {of.of.subjectType + ":" + of.name}, "relation": {of.of.relation}, "limit": {fmt.Sprint(deepObjects)}}
	if of.of != flat {
		query.Set("namespace", of.of.objectType)
	}
	return &call{method: http.MethodGet, path: "/v1/objects?" + query.Encode(), judge: func(a answer) error {
		if err := expectStatus(a, http.StatusOK); err != nil {
			return err
		}
		return expectNames(of, namesIn(a.body(), of.of.objectType))
	}}
}

func grantdSubjects(of listing) *call {
	query := url.Values{"object": {of.of.objectType + ":" + of.name}, "relation": {of.of.relation}, "limit": {fmt.Sprint(crowdSubjects)}}
	if of.of != flat {
		query.Set("namespace", of.of.subjectType)
	}
	return &call{method: http.MethodGet, path: "/v1/subjects?" + query.Encode(), judge: func(a answer) error {
		if err := expectStatus(a, http.StatusOK); err != nil {
			return err
		}
		return expectNames(of, namesIn(a.body(), of.of.subjectType))
	}}
}

// What a JSON text names as "document:…" or "user:…"; no identifier here needs escaping.
func namesIn(text []byte, namespace string) nameSum {
	prefix := []byte(`"` + namespace + `:`)
	var found nameSum
	for {
		start := bytes.Index(text, prefix)
		if start < 0 {
			return found
		}
		text = text[start+len(prefix):]
		end := bytes.IndexByte(text, '"')
		if end < 0 {
			return found
		}
		found.add(text[:end])
		text = text[end+1:]
	}
}

func grantdWrite(grant tuple) *call {
	body := mustJSON(grantdGrantOf(grant))
	return &call{method: http.MethodPost, path: "/v1/grants", contentType: jsonType, body: body, judge: func(a answer) error {
		return expectStatus(a, http.StatusCreated)
	}}
}

func grantdBulkWrite(grants []tuple) *call {
	var request struct {
		Grants []grantdTuple `json:"grants"`
	}
	for _, each := range grants {
		request.Grants = append(request.Grants, grantdGrantOf(each))
	}
	return &call{method: http.MethodPost, path: "/v1/grants/bulk", contentType: jsonType, body: mustJSON(request), judge: func(a answer) error {
		if err := expectStatus(a, http.StatusOK); err != nil {
			return err
		}
		if created := bytes.Count(a.body(), []byte(`"created":true`)); created != len(grants) {
			return fmt.Errorf("of %d grants %d were created: %.300s", len(grants), created, a.body())
		}
		return nil
	}}
}
