package main

// The workers, the times at which they send requests, and the measurements.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// How long to wait for responses still in flight at the end.
	restSeconds = 20
	// After this many requests without a response, the job fails.
	failuresMax = 50
	// How many due requests may wait at a fixed rate; beyond it, the job fails.
	backlogMax = 1 << 20
	tick       = 100 * time.Microsecond
)

type caller interface {
	do(*call) (answer, error)
	close()
}

// turn is one request for a worker to send. `due` is when; the zero time means now.
type turn struct {
	number int
	due    time.Time
}

type execution struct {
	asked     *job
	calls     callList
	next      atomic.Int64
	begun     atomic.Int64
	turns     chan turn
	stopped   atomic.Bool
	measuring atomic.Bool
	// At a fixed rate: requests due between the two are measured, whenever their response comes.
	from, to time.Time

	lock        sync.Mutex
	latencies   []time.Duration
	wrong       int
	firstWrong  string
	failed      int
	firstFailed string
}

func execute(asked *job, calls callList) (*result, error) {
	run := &execution{asked: asked, calls: calls}
	length := time.Duration((asked.WarmUpSeconds + asked.Seconds) * float64(time.Second))
	deadline := time.Now().Add(length + restSeconds*time.Second)
	ctx, cancel := context.WithDeadline(context.Background(), deadline)
	defer cancel()
	callers, release, err := run.callers(ctx, deadline)
	if err != nil {
		return nil, err
	}
	defer release()
	switch asked.Mode {
	case "once", "saturate":
	case "rate":
		run.turns = make(chan turn, backlogMax)
	default:
		return nil, errors.New("unknown mode " + asked.Mode)
	}
	return run.measure(callers)
}

func (e *execution) callers(ctx context.Context, deadline time.Time) ([]caller, func(), error) {
	callers := make([]caller, e.asked.Workers)
	if e.asked.Protocol == "http" {
		for index := range callers {
			callers[index] = newHTTPConnection(e.asked, deadline)
		}
		return callers, func() {}, nil
	}
	connections, err := dialGRPC(e.asked)
	if err != nil {
		return nil, nil, err
	}
	for index := range callers {
		callers[index] = newGRPCCaller(ctx, e.asked, connections[index%len(connections)])
	}
	return callers, func() {
		for _, connection := range connections {
			_ = connection.Close()
		}
	}, nil
}

func (e *execution) measure(callers []caller) (*result, error) {
	seconds := func(value float64) time.Duration { return time.Duration(value * float64(time.Second)) }
	start := time.Now()
	e.from = start.Add(seconds(e.asked.WarmUpSeconds))
	e.to = e.from.Add(seconds(e.asked.Seconds))
	var workers sync.WaitGroup
	for _, each := range callers {
		workers.Go(func() {
			e.work(each)
			each.close()
		})
	}
	allDone := make(chan struct{})
	go func() {
		workers.Wait()
		close(allDone)
	}()
	if e.turns != nil {
		go e.pace(start)
	}

	wait := func(until time.Time) {
		select {
		case <-allDone:
		case <-time.After(time.Until(until)):
		}
	}
	wait(e.from)
	cpuBefore, loadBefore, begin := cpuSeconds(e.asked.Processes), ownCPUSeconds(), time.Now()
	e.measuring.Store(true)
	wait(e.to)
	e.measuring.Store(false)
	end, loadAfter, cpuAfter := time.Now(), ownCPUSeconds(), cpuSeconds(e.asked.Processes)
	if e.asked.Mode == "once" && !e.isDone(allDone) {
		return nil, fmt.Errorf("not done after %.0f s: %d of %d", e.asked.Seconds, e.next.Load(), e.calls.count)
	}
	if e.turns != nil {
		// Requests that were due in time count, however late their response.
		wait(e.to.Add(restSeconds * time.Second))
		if !e.isDone(allDone) {
			return nil, fmt.Errorf("answers to what was due did not come for %d s", restSeconds)
		}
	}
	e.stopped.Store(true)
	<-allDone

	found := &result{
		Asked: int(e.begun.Load()), Answered: len(e.latencies), Seconds: end.Sub(begin).Seconds(),
		Wrong: e.wrong, FirstWrong: e.firstWrong, Failed: e.failed, FirstFailed: e.firstFailed,
		CPUSeconds: cpuAfter - cpuBefore, LoadCPUSeconds: loadAfter - loadBefore,
		MemoryBytes: memoryBytes(e.asked.Processes),
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

// pace hands out requests when they are due, to a tenth of a millisecond. A kernel timer wakes it through the same poll
// as responses: the runtime's own timers wait at least a millisecond, and a sleeping thread costs two switches per
// request.
func (e *execution) pace(start time.Time) {
	defer close(e.turns)
	ticks, err := openTicks(tick)
	if err != nil {
		e.fail(err)
		e.stopped.Store(true)
		return
	}
	defer ticks.Close()
	interval := float64(time.Second) / e.asked.PerSecond
	expired := make([]byte, 8)
	for number := 0; !e.stopped.Load(); {
		for now := time.Now(); ; number++ {
			due := start.Add(time.Duration(float64(number) * interval))
			if !due.Before(e.to) {
				return
			}
			if due.After(now) {
				break
			}
			select {
			case e.turns <- turn{number, due}:
			default:
				e.fail(errors.New("too far behind the rate"))
				return
			}
		}
		if _, err := ticks.Read(expired); err != nil {
			e.fail(err)
			return
		}
	}
}

// A file that becomes readable once every interval.
func openTicks(interval time.Duration) (*os.File, error) {
	descriptor, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	every := unix.NsecToTimespec(interval.Nanoseconds())
	if err := unix.TimerfdSettime(descriptor, 0, &unix.ItimerSpec{Interval: every, Value: every}, nil); err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(descriptor), "ticks"), nil
}

func (e *execution) take() (turn, bool) {
	if e.turns != nil {
		given, open := <-e.turns
		return given, open
	}
	number := int(e.next.Add(1)) - 1
	if e.asked.Mode == "once" && number >= e.calls.count {
		return turn{}, false
	}
	return turn{number: number, due: time.Now()}, true
}

func (e *execution) work(with caller) {
	var latencies []time.Duration
	for !e.stopped.Load() {
		given, more := e.take()
		if !more {
			break
		}
		e.begun.Add(1)
		request := e.calls.at(given.number)
		found, err := with.do(request)
		if err == nil {
			err = request.judge(found)
		}
		now := time.Now()
		if err != nil {
			e.fail(err)
			continue
		}
		counts := e.measuring.Load()
		if e.turns != nil {
			counts = !given.due.Before(e.from)
		}
		if counts {
			latencies = append(latencies, now.Sub(given.due))
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
