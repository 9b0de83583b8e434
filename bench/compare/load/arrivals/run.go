package arrivals

import (
	"sync"
	"time"
)

// Plan is what to send, and when.
type Plan struct {
	Schedule
	// Requests that are due during the warm-up are not measured; those due in the window after it are.
	WarmUp, Window time.Duration
	// How long after the window to wait for late answers.
	Rest time.Duration
	// One for each connection: sends the request with this number, waits for the answer, and says whether it was right.
	// It gives up at the deadline of the plan.
	Senders []func(number int) bool
	// Returns at this moment or later: how much later is part of the lateness of the load.
	Wait func(until time.Time) error
	// Called at the start and at the end of the window.
	AtStart, AtEnd func()
}

func (p *Plan) end() time.Duration { return p.WarmUp + p.Window }

// Deadline is when a run that starts at this moment gives up.
func (p *Plan) Deadline(start time.Time) time.Time { return start.Add(p.end() + p.Rest) }

type state uint8

const (
	// Not sent, or without an answer before the deadline.
	open state = iota
	right
	failed
)

// record is what became of one request. Times count from the start.
type record struct {
	done time.Duration
	// How late it was handed to a connection, or would have been if one had been free.
	late  time.Duration
	state state
	// No connection was free when it was due.
	waited bool
}

type execution struct {
	plan    *Plan
	start   time.Time
	due     []time.Duration
	records []record
	// Every request that is due goes through here, in order. It has capacity for all, so handing out never waits.
	queue chan int
}

// Run follows the plan to its end: when every answer is there, or at the deadline.
func Run(plan *Plan, start time.Time) (*Result, error) {
	due, err := plan.moments(plan.end())
	if err != nil {
		return nil, err
	}
	run := &execution{plan, start, due, make([]record, len(due)), make(chan int, len(due))}
	stop := make(chan struct{})
	var workers sync.WaitGroup
	for _, send := range plan.Senders {
		workers.Go(func() { run.work(send, stop) })
	}
	allDone := make(chan struct{})
	go func() {
		workers.Wait()
		close(allDone)
	}()
	paced := make(chan error, 1)
	go func() { paced <- run.pace() }()

	time.Sleep(time.Until(start.Add(plan.WarmUp)))
	plan.AtStart()
	time.Sleep(time.Until(start.Add(plan.end())))
	plan.AtEnd()
	select {
	case <-allDone:
	case <-time.After(time.Until(plan.Deadline(start))):
	}
	close(stop)
	<-allDone
	if err := <-paced; err != nil {
		return nil, err
	}
	return run.result(), nil
}

// pace hands out the requests when they are due.
func (e *execution) pace() error {
	defer close(e.queue)
	for number, due := range e.due {
		if at := e.start.Add(due); time.Until(at) > 0 {
			if err := e.plan.Wait(at); err != nil {
				return err
			}
		}
		e.records[number].late = time.Since(e.start) - due
		e.queue <- number
	}
	return nil
}

func (e *execution) work(send func(number int) bool, stop <-chan struct{}) {
	deadline := e.plan.Deadline(e.start).Sub(e.start)
	free := time.Duration(0)
	for number := range e.queue {
		select {
		case <-stop:
			return
		default:
		}
		due, sent := e.due[number], time.Since(e.start)
		found := &e.records[number]
		found.waited = free > due
		found.late = max(found.late, sent-max(due, free))
		answered := send(number)
		free = time.Since(e.start)
		found.done = free
		switch {
		case answered:
			found.state = right
		case free < deadline:
			found.state = failed
		}
	}
}
