package main

// The workers of the modes `once` and `saturate`, and the measurements.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// How long to wait for responses still in flight at the end.
	restSeconds = 20
	// After this many requests without a response, the job fails.
	failuresMax = 50
)

type caller interface {
	do(*call) (answer, error)
	close()
}

type execution struct {
	asked     *job
	calls     callList
	next      atomic.Int64
	begun     atomic.Int64
	stopped   atomic.Bool
	measuring atomic.Bool

	lock        sync.Mutex
	latencies   []time.Duration
	wrong       int
	firstWrong  string
	failed      int
	firstFailed string
}

func execute(asked *job, calls callList) (*result, error) {
	run := &execution{asked: asked, calls: calls}
	switch asked.Mode {
	case "once", "saturate":
	case "rate":
		return run.arrive()
	default:
		return nil, errors.New("unknown mode " + asked.Mode)
	}
	deadline := time.Now().Add(secondsOf(asked.WarmUpSeconds+asked.Seconds) + restSeconds*time.Second)
	callers, release, err := run.callers(deadline)
	if err != nil {
		return nil, err
	}
	defer release()
	return run.measure(callers)
}

func secondsOf(count float64) time.Duration { return time.Duration(count * float64(time.Second)) }

// callers are ready to send. Every call ends at the deadline.
func (e *execution) callers(deadline time.Time) ([]caller, func(), error) {
	callers := make([]caller, e.asked.Workers)
	if e.asked.Protocol == "http" {
		for index := range callers {
			callers[index] = newHTTPConnection(e.asked, deadline)
		}
		return callers, func() {
			for _, each := range callers {
				each.close()
			}
		}, nil
	}
	ctx, cancel := context.WithDeadline(context.Background(), deadline)
	connections, err := dialGRPC(e.asked)
	if err != nil {
		cancel()
		return nil, nil, err
	}
	for index := range callers {
		callers[index] = newGRPCCaller(ctx, e.asked, connections[index%len(connections)])
	}
	return callers, func() {
		cancel()
		for _, connection := range connections {
			_ = connection.Close()
		}
	}, nil
}

func (e *execution) measure(callers []caller) (*result, error) {
	start := time.Now()
	from := start.Add(secondsOf(e.asked.WarmUpSeconds))
	to := from.Add(secondsOf(e.asked.Seconds))
	var workers sync.WaitGroup
	for _, each := range callers {
		workers.Go(func() { e.work(each) })
	}
	allDone := make(chan struct{})
	go func() {
		workers.Wait()
		close(allDone)
	}()

	wait := func(until time.Time) {
		select {
		case <-allDone:
		case <-time.After(time.Until(until)):
		}
	}
	wait(from)
	processes := newProcesses(e.asked.Processes)
	cpuBefore, loadBefore, begin := processes.cpuSeconds(), ownCPUSeconds(), time.Now()
	e.measuring.Store(true)
	wait(to)
	e.measuring.Store(false)
	end, loadAfter, cpuAfter := time.Now(), ownCPUSeconds(), processes.cpuSeconds()+processes.newCPUSeconds()
	if e.asked.Mode == "once" && !e.isDone(allDone) {
		return nil, fmt.Errorf("not done after %.0f s: %d of %d", e.asked.Seconds, e.next.Load(), e.calls.count)
	}
	e.stopped.Store(true)
	<-allDone

	found := &result{
		Asked: int(e.begun.Load()), Answered: len(e.latencies), Seconds: end.Sub(begin).Seconds(),
		Wrong: e.wrong, FirstWrong: e.firstWrong, Failed: e.failed, FirstFailed: e.firstFailed,
		CPUSeconds: cpuAfter - cpuBefore, LoadCPUSeconds: loadAfter - loadBefore, MemoryBytes: processes.memoryBytes(),
	}
	slices.Sort(e.latencies)
	found.P50Millis, found.P99Millis, found.MaxMillis = e.percentile(0.5), e.percentile(0.99), e.percentile(1)
	return found, nil
}

func (e *execution) isDone(allDone <-chan struct{}) bool {
	select {
	case <-allDone:
		return true
	default:
		return false
	}
}

// By nearest rank.
func (e *execution) percentile(fraction float64) float64 {
	count := len(e.latencies)
	if count == 0 {
		return 0
	}
	index := max(0, min(count-1, int(float64(count)*fraction+0.999999)-1))
	return float64(e.latencies[index]) / float64(time.Millisecond)
}

// send returns nil after a right answer.
func (e *execution) send(with caller, number int) error {
	request := e.calls.at(number)
	found, err := with.do(request)
	if err != nil {
		return err
	}
	return request.judge(found)
}

func (e *execution) work(with caller) {
	var latencies []time.Duration
	for !e.stopped.Load() {
		number := int(e.next.Add(1)) - 1
		if e.asked.Mode == "once" && number >= e.calls.count {
			break
		}
		e.begun.Add(1)
		sent := time.Now()
		if err := e.send(with, number); err != nil {
			e.fail(err)
			continue
		}
		if e.measuring.Load() {
			latencies = append(latencies, time.Since(sent))
		}
	}
	e.lock.Lock()
	e.latencies = append(e.latencies, latencies...)
	e.lock.Unlock()
}

func (e *execution) fail(err error) {
	e.lock.Lock()
	defer e.lock.Unlock()
	var wrong wrongAnswer
	if errors.As(err, &wrong) {
		e.wrong++
		if e.firstWrong == "" {
			e.firstWrong = wrong.text
		}
		return
	}
	e.failed++
	if e.firstFailed == "" {
		e.firstFailed = err.Error()
	}
	if e.failed >= failuresMax {
		e.stopped.Store(true)
	}
}
