package main

// A request with its known right answer, and lists of requests.

import "fmt"

type call struct {
	// Over HTTP: the method, the path and the content type of the body. Over gRPC: the path is the full name of the
	// method.
	method, path, contentType string
	body                      []byte
	// Over gRPC: the answer is a stream, or the request is a stream of these messages.
	streamsAnswer bool
	stream        [][]byte
	judge         func(answer) error
}

type answer struct {
	// Over HTTP: 200 and so on. Over gRPC always 0: any other outcome is a failure.
	status int
	// Over gRPC, one per message.
	messages [][]byte
}

func (a answer) body() []byte {
	if len(a.messages) == 0 {
		return nil
	}
	return a.messages[0]
}

// wrongAnswer is an answer that differs from the right one. A refusal or a timeout is no answer.
type wrongAnswer struct{ text string }

func (w wrongAnswer) Error() string { return w.text }

func expectStatus(a answer, status int) error {
	if a.status != status {
		return fmt.Errorf("status %d: %.300s", a.status, a.body())
	}
	return nil
}

func expectAllowed(found, expected bool, about tuple) error {
	if found != expected {
		return wrongAnswer{fmt.Sprintf("%s %s %s: answered %t", about.fullSubject(), about.of.relation, about.fullObject(), found)}
	}
	return nil
}

func expectNames(of listing, found nameSum) error {
	if found != of.expected {
		return wrongAnswer{fmt.Sprintf("%s: a list with other names, %d of %d", of.name, found.count, of.expected.count)}
	}
	return nil
}

// callList has `count` different requests and starts again after the last one. Without a count, it creates as many as
// needed.
type callList struct {
	count int
	at    func(number int) *call
}

func prepared(count int, of func(number int) *call) callList {
	calls := make([]*call, count)
	for number := range calls {
		calls[number] = of(number)
	}
	return callList{count, func(number int) *call { return calls[number%count] }}
}

// The lists of a job.
func lists(count int, of func(number int) listing, callOf func(listing) *call) callList {
	return prepared(count, func(number int) *call { return callOf(of(number)) })
}

// The checks of a job: the same bounded set repeatedly, or, from a start number on, always new ones.
func checks(asked *job, data dataSet, of func(question) *call) callList {
	if asked.Start == 0 {
		return prepared(questionCount, func(number int) *call { return of(data.question(asked.Shape, number)) })
	}
	return callList{0, func(number int) *call { return of(data.question(asked.Shape, asked.Start+number)) }}
}

// The questions of a job, a batch at a time.
func batches(asked *job, data dataSet) [][]question {
	found := make([][]question, questionCount/asked.PerCall)
	for number := range found {
		found[number] = make([]question, asked.PerCall)
		for index := range asked.PerCall {
			found[number][index] = data.batchQuestion(asked.Shape, number, asked.PerCall, index)
		}
	}
	return found
}

// The grants of one call of a load.
func grantsOf(asked *job, data dataSet, number int) []tuple {
	start := number * asked.PerCall
	count, of := data.loaded(asked.Shape)
	tuples := make([]tuple, min(asked.PerCall, count-start))
	for index := range tuples {
		tuples[index] = of(start + index)
	}
	return tuples
}

// The writes of new grants, as many in a call as the job says.
func writes(asked *job, data dataSet, of func(grants []tuple) *call) callList {
	perCall := max(1, asked.PerCall)
	return callList{0, func(number int) *call {
		grants := make([]tuple, perCall)
		for index := range grants {
			grants[index] = data.newGrant(asked.Start + number*perCall + index)
		}
		return of(grants)
	}}
}

func loadCalls(asked *job, data dataSet, of func(tuples []tuple) *call) callList {
	grants, _ := data.loaded(asked.Shape)
	count := (grants + asked.PerCall - 1) / asked.PerCall
	return callList{count, func(number int) *call { return of(grantsOf(asked, data, number)) }}
}
