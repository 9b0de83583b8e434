package main

// OpenFGA's interface, over gRPC with its own generated types, and over its HTTP gateway.

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	openfga "github.com/openfga/api/proto/openfga/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

func openfgaCalls(asked *job, data dataSet) (callList, error) {
	switch asked.Operation {
	case "load":
		return loadCalls(asked, data, func(tuples []tuple) *call { return openfgaWrite(asked, tuples) }), nil
	case "check":
		return checks(asked, data, func(about question) *call { return openfgaCheck(asked, about) }), nil
	case "batch":
		batch := batches(asked, data)
		return prepared(len(batch), func(number int) *call { return openfgaBatch(asked, batch[number]) }), nil
	case "list":
		count, of := data.objectLists(asked.Shape)
		return lists(count, of, func(each listing) *call { return openfgaList(asked, each) }), nil
	case "subjects":
		count, of := data.subjectLists(asked.Shape)
		return lists(count, of, func(each listing) *call { return openfgaSubjects(asked, each) }), nil
	case "write":
		return writes(asked, data, func(grants []tuple) *call { return openfgaWrite(asked, grants) }), nil
	default:
		return callList{}, fmt.Errorf("OpenFGA has no operation %s", asked.Operation)
	}
}

// One request in both encodings.
func openfgaCall(asked *job, name, path string, request proto.Message, judge func(answer) error) *call {
	if asked.Protocol == "grpc" {
		return &call{path: "/openfga.v1.OpenFGAService/" + name, body: mustProto(request), judge: judge}
	}
	path = "/stores/" + asked.Store + "/" + path
	return &call{method: http.MethodPost, path: path, contentType: jsonType, body: mustProtoJSON(request), judge: judge}
}

// It encodes only our own messages, so it cannot fail.
func mustProto(message proto.Message) []byte {
	body, err := proto.Marshal(message)
	if err != nil {
		panic(err)
	}
	return body
}

func mustProtoJSON(message proto.Message) []byte {
	body, err := protojson.Marshal(message)
	if err != nil {
		panic(err)
	}
	// protojson adds spaces at random; without them, every run sends the same bytes.
	var compact bytes.Buffer
	if err := json.Compact(&compact, body); err != nil {
		panic(err)
	}
	return compact.Bytes()
}

// decode reads an answer in either encoding. HTTP responses may have fields that the types do not know.
func decode(a answer, protocol string, into proto.Message) error {
	if protocol == "grpc" {
		return proto.Unmarshal(a.body(), into)
	}
	if err := expectStatus(a, http.StatusOK); err != nil {
		return err
	}
	return protojson.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(a.body(), into)
}

func openfgaCheck(asked *job, about question) *call {
	request := &openfga.CheckRequest{
		StoreId:              asked.Store,
		AuthorizationModelId: asked.Model,
		TupleKey: &openfga.CheckRequestTupleKey{
			User: about.fullSubject(), Relation: about.of.relation, Object: about.fullObject(),
		},
		Context: about.context.asStruct(),
	}
	return openfgaCall(asked, "Check", "check", request, func(a answer) error {
		if asked.Protocol == "http" {
			if err := expectStatus(a, http.StatusOK); err != nil {
				return err
			}
			allowed, err := jsonFlag(a.body(), `"allowed":`)
			if err != nil {
				return err
			}
			return expectAllowed(allowed, about.allowed, about.tuple)
		}
		var found openfga.CheckResponse
		if err := proto.Unmarshal(a.body(), &found); err != nil {
			return err
		}
		return expectAllowed(found.GetAllowed(), about.allowed, about.tuple)
	})
}

// jsonFlag reads the boolean after a field's name without decoding the text, because every answer needs it.
func jsonFlag(text []byte, field string) (bool, error) {
	start := bytes.Index(text, []byte(field))
	if start < 0 {
		return false, fmt.Errorf("no field %s in %.300s", field, text)
	}
	value := bytes.TrimLeft(text[start+len(field):], " ")
	return bytes.HasPrefix(value, []byte("true")), nil
}

func openfgaBatch(asked *job, about []question) *call {
	request := &openfga.BatchCheckRequest{StoreId: asked.Store, AuthorizationModelId: asked.Model}
	for index, each := range about {
		request.Checks = append(request.Checks, &openfga.BatchCheckItem{
			CorrelationId: strconv.Itoa(index),
			TupleKey: &openfga.CheckRequestTupleKey{
				User: each.fullSubject(), Relation: each.of.relation, Object: each.fullObject(),
			},
			Context: each.context.asStruct(),
		})
	}
	return openfgaCall(asked, "BatchCheck", "batch-check", request, func(a answer) error {
		var found openfga.BatchCheckResponse
		if err := decode(a, asked.Protocol, &found); err != nil {
			return err
		}
		for index, each := range about {
			single := found.GetResult()[strconv.Itoa(index)]
			if single == nil || single.GetError() != nil {
				return fmt.Errorf("no answer to check %d of a batch: %v", index, single.GetError())
			}
			if err := expectAllowed(single.GetAllowed(), each.allowed, each.tuple); err != nil {
				return err
			}
		}
		return nil
	})
}

func openfgaList(asked *job, of listing) *call {
	objectType := of.of.objectType
	request := &openfga.ListObjectsRequest{
		StoreId: asked.Store, AuthorizationModelId: asked.Model,
		Type: objectType, Relation: of.of.relation, User: of.of.subjectType + ":" + of.name,
	}
	return openfgaCall(asked, "ListObjects", "list-objects", request, func(a answer) error {
		if asked.Protocol == "http" {
			if err := expectStatus(a, http.StatusOK); err != nil {
				return err
			}
			return expectNames(of, namesIn(a.body(), objectType))
		}
		var found openfga.ListObjectsResponse
		if err := proto.Unmarshal(a.body(), &found); err != nil {
			return err
		}
		var objects nameSum
		for _, object := range found.GetObjects() {
			objects.add([]byte(object)[len(objectType)+1:])
		}
		return expectNames(of, objects)
	})
}

func openfgaSubjects(asked *job, of listing) *call {
	request := &openfga.ListUsersRequest{
		StoreId: asked.Store, AuthorizationModelId: asked.Model,
		Object: &openfga.Object{Type: of.of.objectType, Id: of.name}, Relation: of.of.relation,
		UserFilters: []*openfga.UserTypeFilter{{Type: of.of.subjectType}},
	}
	return openfgaCall(asked, "ListUsers", "list-users", request, func(a answer) error {
		var found openfga.ListUsersResponse
		if err := decode(a, asked.Protocol, &found); err != nil {
			return err
		}
		var subjects nameSum
		for _, user := range found.GetUsers() {
			subjects.add([]byte(user.GetObject().GetId()))
		}
		return expectNames(of, subjects)
	})
}

func openfgaWrite(asked *job, tuples []tuple) *call {
	keys := make([]*openfga.TupleKey, len(tuples))
	for index, each := range tuples {
		keys[index] = &openfga.TupleKey{
			User: each.fullSubject(), Relation: each.of.relation, Object: each.fullObject(),
		}
		if name := each.of.condition(); name != "" {
			keys[index].Condition = &openfga.RelationshipCondition{Name: name}
		}
	}
	request := &openfga.WriteRequest{
		StoreId: asked.Store, AuthorizationModelId: asked.Model, Writes: &openfga.WriteRequestWrites{TupleKeys: keys},
	}
	return openfgaCall(asked, "Write", "write", request, func(a answer) error {
		if asked.Protocol == "grpc" {
			return nil
		}
		return expectStatus(a, http.StatusOK)
	})
}
