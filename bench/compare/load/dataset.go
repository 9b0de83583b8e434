package main

// The grants that every system gets, and checks with known right answers. Half of the grants are "wide": many subjects
// with ten objects each, and a hundred subjects on each object. A quarter are "deep": few subjects with a thousand
// objects each, and two subjects on each object. The last quarter are "crowded": few objects with a thousand subjects
// each, and two objects for each subject.

import (
	"fmt"
	"hash/fnv"
)

const (
	wideObjects   = 10
	wideSubjects  = 100
	deepObjects   = 1000
	deepStep      = deepObjects / 2
	crowdSubjects = 1000
	crowdStep     = crowdSubjects / 2
	questionCount = 10_000
	// Coprime to every number of subjects and objects here, whose only prime factors are 2 and 5 (and 3, depending on the
	// options): so consecutive questions are not about neighbours.
	stride = 7919
	// Between the objects of one wide subject.
	wideStride = 7
)

// kinds are the types and the relation of a grant or a question. With a subject relation, the subject is a group.
type kinds struct {
	subjectType, subjectRelation, relation, objectType string
}

var flat = &kinds{"user", "", "viewer", "document"}

// tuple names a subject and an object.
type tuple struct {
	subject, object string
	of              *kinds
}

// As grantd and OpenFGA write them.
func (t tuple) fullSubject() string {
	if t.of.subjectRelation == "" {
		return t.of.subjectType + ":" + t.subject
	}
	return t.of.subjectType + ":" + t.subject + "#" + t.of.subjectRelation
}

func (t tuple) fullObject() string { return t.of.objectType + ":" + t.object }

// listing is the subject or the object of a list, with what it must hold.
type listing struct {
	name     string
	of       *kinds
	expected nameSum
}

type question struct {
	tuple
	allowed bool
	// Of a question about a condition; otherwise nil.
	context *moment
}

type dataSet struct {
	grants int
}

func (d dataSet) half() int              { return d.grants / 2 }
func (d dataSet) quarter() int           { return d.grants / 4 }
func (d dataSet) wideSubjectCount() int  { return d.half() / wideObjects }
func (d dataSet) wideObjectCount() int   { return d.half() / wideSubjects }
func (d dataSet) deepSubjectCount() int  { return d.quarter() / deepObjects }
func (d dataSet) deepObjectCount() int   { return d.deepSubjectCount() * deepStep }
func (d dataSet) crowdObjectCount() int  { return d.quarter() / crowdSubjects }
func (d dataSet) crowdSubjectCount() int { return d.crowdObjectCount() * crowdStep }

func (d dataSet) wide(subject, index int) tuple {
	object := (subject + index*wideStride) % d.wideObjectCount()
	return tuple{fmt.Sprintf("w-%09d", subject), fmt.Sprintf("w-%09d", object), flat}
}

func (d dataSet) deep(subject, index int) tuple {
	object := (subject*deepStep + index) % d.deepObjectCount() * stride % d.deepObjectCount()
	return tuple{fmt.Sprintf("d-%09d", subject), fmt.Sprintf("d-%09d", object), flat}
}

func (d dataSet) crowd(object, index int) tuple {
	subject := (object*crowdStep + index) % d.crowdSubjectCount() * stride % d.crowdSubjectCount()
	return tuple{fmt.Sprintf("c-%09d", subject), fmt.Sprintf("c-%09d", object), flat}
}

// The grants that a load writes: those of one kind of questions about a model, or all others.
func (d dataSet) loaded(shape string) (count int, of func(number int) tuple) {
	switch shape {
	case "ruled":
		return d.ruledUnits() * ruledGrantsOfUnit, d.ruledGrant
	case "gated":
		return d.gatedCount(), d.gatedGrant
	case "conditional":
		return d.conditionalCount(), d.conditionalGrant
	default:
		return d.grants, d.grant
	}
}

func (d dataSet) grant(number int) tuple {
	if number < d.half() {
		return d.wide(number/wideObjects, number%wideObjects)
	}
	number -= d.half()
	if number < d.quarter() {
		return d.deep(number/deepObjects, number%deepObjects)
	}
	number -= d.quarter()
	return d.crowd(number/crowdSubjects, number%crowdSubjects)
}

func (d dataSet) shape(name string) (subjects, held int, of func(subject, index int) tuple) {
	if name == "deep" {
		return d.deepSubjectCount(), deepObjects, d.deep
	}
	return d.wideSubjectCount(), wideObjects, d.wide
}

// Every other question is allowed; the next one is about the same subject and an object on which it has no grant. There
// are twice as many different questions as grants of the shape; then they repeat.
func (d dataSet) question(shape string, number int) question {
	switch shape {
	case "ruled":
		return d.ruledQuestion(number)
	case "gated":
		return d.gatedQuestion(number)
	case "conditional":
		return d.conditionalQuestion(number)
	}
	half := number / 2
	subjects, held, of := d.shape(shape)
	subject := half * stride % subjects
	index := (half + half/subjects) % held
	if number%2 == 0 {
		return question{of(subject, index), true, nil}
	}
	return question{of(subject, held+index), false, nil}
}

// One question of a batch: in the wide shape any question, in the deep shape all about one subject, as when filtering a
// list.
func (d dataSet) batchQuestion(shape string, batch, size, index int) question {
	if shape != "deep" {
		return d.question(shape, batch*size+index)
	}
	subjects, held, of := d.shape(shape)
	object := (batch/subjects*size + index) / 2 % held
	if index%2 == 0 {
		return question{of(batch%subjects, object), true, nil}
	}
	return question{of(batch%subjects, held+object), false, nil}
}

// A grant outside every data set: for an existing subject, on a new object.
func (d dataSet) newGrant(number int) tuple {
	return tuple{fmt.Sprintf("w-%09d", number*stride%d.wideSubjectCount()), fmt.Sprintf("n-%09d", number), flat}
}

// nameSum identifies a set of objects or of subjects, whatever their order.
type nameSum struct {
	count int
	sum   uint64
}

func (s *nameSum) add(name []byte) {
	hash := fnv.New64a()
	_, _ = hash.Write(name)
	s.count++
	s.sum += hash.Sum64()
}

// The subjects whose objects are listed, and the objects whose subjects are: their number, and each.
func (d dataSet) objectLists(shape string) (count int, of func(number int) listing) {
	switch shape {
	case "ruled":
		return d.ruledUnits(), d.ruledObjects
	case "gated":
		return gatedListers, gatedObjects
	}
	return d.deepSubjectCount(), d.objectsOf
}

func (d dataSet) subjectLists(shape string) (count int, of func(number int) listing) {
	if shape == "ruled" {
		return d.ruledUnits(), d.ruledSubjects
	}
	return d.crowdObjectCount(), d.subjectsOf
}

// The objects of a deep subject.
func (d dataSet) objectsOf(subject int) listing {
	found := listing{name: d.deep(subject, 0).subject, of: flat}
	for index := range deepObjects {
		found.expected.add([]byte(d.deep(subject, index).object))
	}
	return found
}

// The subjects of a crowded object.
func (d dataSet) subjectsOf(object int) listing {
	found := listing{name: d.crowd(object, 0).object, of: flat}
	for index := range crowdSubjects {
		found.expected.add([]byte(d.crowd(object, index).subject))
	}
	return found
}
