package main

// SpiceDB's interface, over gRPC with its own generated types, and over its HTTP gateway.

import (
	"bytes"
	"fmt"
	"net/http"

	spicedb "github.com/authzed/authzed-go/proto/authzed/api/v1"
	"google.golang.org/protobuf/proto"
)

// Relationships in one message of an import; the API documentation says 1,000.
const importMessage = 1000

func spicedbCalls(asked *job, data dataSet) (callList, error) {
	switch asked.Operation {
	case "load":
		if asked.Protocol != "grpc" {
			return callList{}, fmt.Errorf("SpiceDB imports over gRPC only")
		}
		return loadCalls(asked, data, spicedbImport), nil
	case "check":
		return checks(asked, data, func(about question) *call { return spicedbCheck(asked, about) }), nil
	case "batch":
		batch := batches(asked, data)
		return prepared(len(batch), func(number int) *call { return spicedbBulk(asked, batch[number]) }), nil
	case "list":
		count, of := data.objectLists(asked.Shape)
		return lists(count, of, func(each listing) *call { return spicedbList(asked, each) }), nil
	case "subjects":
		count, of := data.subjectLists(asked.Shape)
		return lists(count, of, func(each listing) *call { return spicedbSubjects(asked, each) }), nil
	case "write":
		return writes(asked, data, func(grants []tuple) *call { return spicedbWrite(asked, grants) }), nil
	default:
		return callList{}, fmt.Errorf("SpiceDB has no operation %s", asked.Operation)
	}
}

func spicedbCall(asked *job, name, path string, request proto.Message, judge func(answer) error) *call {
	if asked.Protocol == "grpc" {
		return &call{path: "/authzed.api.v1.PermissionsService/" + name, body: mustProto(request), judge: judge}
	}
	return &call{method: http.MethodPost, path: path, contentType: jsonType, body: mustProtoJSON(request), judge: judge}
}

func spicedbConsistency(asked *job) *spicedb.Consistency {
	return &spicedb.Consistency{Requirement: &spicedb.Consistency_AtLeastAsFresh{
		AtLeastAsFresh: &spicedb.ZedToken{Token: asked.Revision},
	}}
}

func spicedbSubject(id string, of *kinds) *spicedb.SubjectReference {
	return &spicedb.SubjectReference{
		Object:           &spicedb.ObjectReference{ObjectType: of.subjectType, ObjectId: id},
		OptionalRelation: of.subjectRelation,
	}
}

func spicedbObject(id string, of *kinds) *spicedb.ObjectReference {
	return &spicedb.ObjectReference{ObjectType: of.objectType, ObjectId: id}
}

func spicedbRelationship(t tuple) *spicedb.Relationship {
	relation := t.of.relation
	// What rules define is a permission, and what is granted of it a relation of its own.
	if t.of == sharedFolder {
		relation = "shared_with"
	}
	found := &spicedb.Relationship{
		Resource: spicedbObject(t.object, t.of), Relation: relation, Subject: spicedbSubject(t.subject, t.of),
	}
	if name := t.of.condition(); name != "" {
		found.OptionalCaveat = &spicedb.ContextualizedCaveat{CaveatName: name}
	}
	return found
}

func spicedbImport(tuples []tuple) *call {
	request := &call{path: "/authzed.api.v1.PermissionsService/ImportBulkRelationships", judge: func(a answer) error {
		var found spicedb.ImportBulkRelationshipsResponse
		if err := proto.Unmarshal(a.body(), &found); err != nil {
			return err
		}
		if found.GetNumLoaded() != uint64(len(tuples)) {
			return fmt.Errorf("of %d relationships %d were loaded", len(tuples), found.GetNumLoaded())
		}
		return nil
	}}
	for start := 0; start < len(tuples); start += importMessage {
		message := &spicedb.ImportBulkRelationshipsRequest{}
		for _, each := range tuples[start:min(start+importMessage, len(tuples))] {
			message.Relationships = append(message.Relationships, spicedbRelationship(each))
		}
		request.stream = append(request.stream, mustProto(message))
	}
	return request
}

func spicedbPermission(found spicedb.CheckPermissionResponse_Permissionship, about question) error {
	switch found {
	case spicedb.CheckPermissionResponse_PERMISSIONSHIP_HAS_PERMISSION:
		return expectAllowed(true, about.allowed, about.tuple)
	case spicedb.CheckPermissionResponse_PERMISSIONSHIP_NO_PERMISSION:
		return expectAllowed(false, about.allowed, about.tuple)
	default:
		return fmt.Errorf("no answer to a check: %s", found)
	}
}

func spicedbCheck(asked *job, about question) *call {
	request := &spicedb.CheckPermissionRequest{
		Consistency: spicedbConsistency(asked),
		Resource:    spicedbObject(about.object, about.of),
		Permission:  about.of.relation,
		Subject:     spicedbSubject(about.subject, about.of),
		Context:     about.context.asStruct(),
	}
	return spicedbCall(asked, "CheckPermission", "/v1/permissions/check", request, func(a answer) error {
		if asked.Protocol == "http" {
			if err := expectStatus(a, http.StatusOK); err != nil {
				return err
			}
			return spicedbPermission(permissionIn(a.body()), about)
		}
		var found spicedb.CheckPermissionResponse
		if err := proto.Unmarshal(a.body(), &found); err != nil {
			return err
		}
		return spicedbPermission(found.GetPermissionship(), about)
	})
}

// permissionIn finds the answer in JSON text without decoding it, because every answer needs it.
func permissionIn(text []byte) spicedb.CheckPermissionResponse_Permissionship {
	if bytes.Contains(text, []byte(`"PERMISSIONSHIP_HAS_PERMISSION"`)) {
		return spicedb.CheckPermissionResponse_PERMISSIONSHIP_HAS_PERMISSION
	}
	if bytes.Contains(text, []byte(`"PERMISSIONSHIP_NO_PERMISSION"`)) {
		return spicedb.CheckPermissionResponse_PERMISSIONSHIP_NO_PERMISSION
	}
	return spicedb.CheckPermissionResponse_PERMISSIONSHIP_UNSPECIFIED
}

func spicedbBulk(asked *job, about []question) *call {
	request := &spicedb.CheckBulkPermissionsRequest{Consistency: spicedbConsistency(asked)}
	for _, each := range about {
		request.Items = append(request.Items, &spicedb.CheckBulkPermissionsRequestItem{
			Resource: spicedbObject(each.object, each.of), Permission: each.of.relation, Subject: spicedbSubject(each.subject, each.of),
			Context: each.context.asStruct(),
		})
	}
	return spicedbCall(asked, "CheckBulkPermissions", "/v1/permissions/checkbulk", request, func(a answer) error {
		var found spicedb.CheckBulkPermissionsResponse
		if err := decode(a, asked.Protocol, &found); err != nil {
			return err
		}
		if len(found.GetPairs()) != len(about) {
			return fmt.Errorf("%d answers to a batch of %d", len(found.GetPairs()), len(about))
		}
		// The results are in the order of the questions, and each names its question.
		for index, pair := range found.GetPairs() {
			if pair.GetItem() == nil || pair.GetRequest().GetResource().GetObjectId() != about[index].object {
				return fmt.Errorf("no answer to check %d of a batch: %v", index, pair.GetError())
			}
			if err := spicedbPermission(pair.GetItem().GetPermissionship(), about[index]); err != nil {
				return err
			}
		}
		return nil
	})
}

func spicedbList(asked *job, of listing) *call {
	request := &spicedb.LookupResourcesRequest{
		Consistency:        spicedbConsistency(asked),
		ResourceObjectType: of.of.objectType,
		Permission:         of.of.relation,
		Subject:            spicedbSubject(of.name, of.of),
		OptionalLimit:      deepObjects,
	}
	made := spicedbCall(asked, "LookupResources", "/v1/permissions/resources", request, func(a answer) error {
		var found nameSum
		if asked.Protocol == "http" {
			if err := expectStatus(a, http.StatusOK); err != nil {
				return err
			}
			found = lookedUpIn(a.body(), `"resourceObjectId":`)
		}
		for _, message := range a.messages {
			if asked.Protocol == "http" {
				break
			}
			var resource spicedb.LookupResourcesResponse
			if err := proto.Unmarshal(message, &resource); err != nil {
				return err
			}
			found.add([]byte(resource.GetResourceObjectId()))
		}
		return expectNames(of, found)
	})
	made.streamsAnswer = asked.Protocol == "grpc"
	return made
}

func spicedbSubjects(asked *job, of listing) *call {
	request := &spicedb.LookupSubjectsRequest{
		Consistency:       spicedbConsistency(asked),
		Resource:          spicedbObject(of.name, of.of),
		Permission:        of.of.relation,
		SubjectObjectType: of.of.subjectType,
	}
	made := spicedbCall(asked, "LookupSubjects", "/v1/permissions/subjects", request, func(a answer) error {
		var found nameSum
		if asked.Protocol == "http" {
			if err := expectStatus(a, http.StatusOK); err != nil {
				return err
			}
			// Each line names its subject twice, once in a deprecated field outside of this object.
			found = lookedUpIn(a.body(), `"subject":`, `"subjectObjectId":`)
		}
		for _, message := range a.messages {
			if asked.Protocol == "http" {
				break
			}
			var response spicedb.LookupSubjectsResponse
			if err := proto.Unmarshal(message, &response); err != nil {
				return err
			}
			found.add([]byte(response.GetSubject().GetSubjectObjectId()))
		}
		return expectNames(of, found)
	})
	made.streamsAnswer = asked.Protocol == "grpc"
	return made
}

// The gateway sends one line of JSON per object or subject. `path`: the fields that lead to its name.
func lookedUpIn(text []byte, path ...string) nameSum {
	var found nameSum
	for {
		for _, field := range path {
			start := bytes.Index(text, []byte(field))
			if start < 0 {
				return found
			}
			text = text[start+len(field):]
		}
		text = text[bytes.IndexByte(text, '"')+1:]
		end := bytes.IndexByte(text, '"')
		if end < 0 {
			return found
		}
		found.add(text[:end])
		text = text[end:]
	}
}

func spicedbWrite(asked *job, grants []tuple) *call {
	request := &spicedb.WriteRelationshipsRequest{}
	for _, each := range grants {
		request.Updates = append(request.Updates, &spicedb.RelationshipUpdate{
			// According to the documentation, CREATE is always faster than TOUCH on Postgres.
			Operation:    spicedb.RelationshipUpdate_OPERATION_CREATE,
			Relationship: spicedbRelationship(each),
		})
	}
	return spicedbCall(asked, "WriteRelationships", "/v1/relationships/write", request, func(a answer) error {
		if asked.Protocol == "grpc" {
			return nil
		}
		return expectStatus(a, http.StatusOK)
	})
}
