package main

// The mode `rate`: requests at the moments of a schedule, which is the same for every system.

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
	"grantd/bench/compare/load/arrivals"
)

// How long to wait for late answers. What has none by then counts as waiting until then.
const rateRest = 5 * time.Second

func (e *execution) arrive() (*result, error) {
	processes := newProcesses(e.asked.Processes)
	timer, err := openTimer()
	if err != nil {
		return nil, err
	}
	defer timer.close()
	var cpu, load [2]float64
	measure := func(index int) func() {
		return func() { cpu[index], load[index] = processes.cpuSeconds(), ownCPUSeconds() }
	}
	plan := &arrivals.Plan{
		Schedule: arrivals.Schedule{
			PerSecond: e.asked.PerSecond, Random: e.asked.RandomGaps, Seed: uint64(e.asked.Seed),
		},
		WarmUp: secondsOf(e.asked.WarmUpSeconds), Window: secondsOf(e.asked.Seconds), Rest: rateRest,
		Wait: timer.wait, AtStart: measure(0), AtEnd: measure(1),
	}
	start := time.Now()
	callers, release, err := e.callers(plan.Deadline(start))
	if err != nil {
		return nil, err
	}
	defer release()
	for _, each := range callers {
		plan.Senders = append(plan.Senders, e.senderOf(each))
	}
	found, err := arrivals.Run(plan, start)
	if err != nil {
		return nil, err
	}
	return &result{
		Asked: int(e.begun.Load()), Answered: found.InWindow, Seconds: e.asked.Seconds,
		Wrong: e.wrong, FirstWrong: e.firstWrong, Failed: found.Failed, FirstFailed: e.firstFailed,
		P50Millis: millis(found.P50), P99Millis: millis(found.P99), MaxMillis: millis(found.Max),
		CPUSeconds: cpu[1] - cpu[0], LoadCPUSeconds: load[1] - load[0], MemoryBytes: processes.memoryBytes(),
		Arrivals: &arrived{
			Due: found.Due, Right: found.Right, OnTime: found.OnTime, Waited: found.Waited,
			IsBorne: found.Borne(), IsPunctual: found.Punctual(), P999Millis: millis(found.P999),
			LateP50Millis: millis(found.LateP50), LateP99Millis: millis(found.LateP99),
			LateMaxMillis: millis(found.LateMax), GrowthMillis: millis(found.Growth),
		},
	}, nil
}

func (e *execution) senderOf(with caller) func(number int) bool {
	return func(number int) bool {
		e.begun.Add(1)
		if err := e.send(with, number); err != nil {
			e.fail(err)
			return false
		}
		return true
	}
}

// kernelTimer wakes a goroutine through the same poll as responses: the runtime's own timers wait at least a
// millisecond, and a sleeping thread costs two switches per request.
type kernelTimer struct {
	descriptor int
	file       *os.File
}

func openTimer() (*kernelTimer, error) {
	descriptor, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("a timer: %w", err)
	}
	return &kernelTimer{descriptor, os.NewFile(uintptr(descriptor), "timer")}, nil
}

func (t *kernelTimer) wait(until time.Time) error {
	// A time of zero would switch it off.
	remaining := max(1, time.Until(until).Nanoseconds())
	if err := unix.TimerfdSettime(t.descriptor, 0, &unix.ItimerSpec{Value: unix.NsecToTimespec(remaining)}, nil); err != nil {
		return fmt.Errorf("a timer: %w", err)
	}
	var expired [8]byte
	_, err := t.file.Read(expired[:])
	return err
}

func (t *kernelTimer) close() { _ = t.file.Close() }

func millis(length time.Duration) float64 { return float64(length) / float64(time.Millisecond) }
