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
	relation      = "viewer"
	subjectType   = "user"
	objectType    = "document"
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

// tuple names a subject and an object; the relation is always the same.
type tuple struct {
	subject, object string
}

type question struct {
	tuple
	allowed bool
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
	return tuple{fmt.Sprintf("w-%09d", subject), fmt.Sprintf("w-%09d", object)}
}

func (d dataSet) deep(subject, index int) tuple {
	object := (subject*deepStep + index) % d.deepObjectCount() * stride % d.deepObjectCount()
	return tuple{fmt.Sprintf("d-%09d", subject), fmt.Sprintf("d-%09d", object)}
}

func (d dataSet) crowd(object, index int) tuple {
	subject := (object*crowdStep + index) % d.crowdSubjectCount() * stride % d.crowdSubjectCount()
	return tuple{fmt.Sprintf("c-%09d", subject), fmt.Sprintf("c-%09d", object)}
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
	half := number / 2
	subjects, held, of := d.shape(shape)
	subject := half * stride % subjects
	index := (half + half/subjects) % held
	if number%2 == 0 {
		return question{of(subject, index), true}
	}
	return question{of(subject, held+index), false}
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
		return question{of(batch%subjects, object), true}
	}
	return question{of(batch%subjects, held+object), false}
}

// A grant outside every data set: for an existing subject, on a new object.
func (d dataSet) newGrant(number int) tuple {
	return tuple{fmt.Sprintf("w-%09d", number*stride%d.wideSubjectCount()), fmt.Sprintf("n-%09d", number)}
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

// The objects of a deep subject.
func (d dataSet) objectsOf(subject int) (string, nameSum) {
	var sum nameSum
	for index := range deepObjects {
		sum.add([]byte(d.deep(subject, index).object))
	}
	return d.deep(subject, 0).subject, sum
}

// The subjects of a crowded object.
func (d dataSet) subjectsOf(object int) (string, nameSum) {
	var sum nameSum
	for index := range crowdSubjects {
		sum.add([]byte(d.crowd(object, index).subject))
	}
	return d.crowd(object, 0).object, sum
}
