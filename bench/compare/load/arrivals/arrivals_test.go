package arrivals

// Runs against servers that only exist on virtual time, so every figure is exact, whatever else the machine does.

import (
	"errors"
	"math"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

const (
	second = time.Second
	milli  = time.Millisecond
)

func onTime(until time.Time) error {
	time.Sleep(time.Until(until))
	return nil
}

// A server answers request `number` that it gets at `at`, after the start.
type server func(number int, at time.Duration) (after time.Duration, isRight bool)

func steady(after time.Duration) server {
	return func(int, time.Duration) (time.Duration, bool) { return after, true }
}

type trial struct {
	plan        Plan
	connections int
	// From the sending of each measured request to its answer.
	sinceSent []time.Duration
}

func newTrial(perSecond float64, connections int) *trial {
	return &trial{
		plan: Plan{
			Schedule: Schedule{PerSecond: perSecond}, WarmUp: second, Window: 5 * second, Rest: 2 * second,
			Wait: onTime, AtStart: func() {}, AtEnd: func() {},
		},
		connections: connections,
	}
}

func (t *trial) run(test *testing.T, answers server) *Result {
	var found *Result
	synctest.Test(test, func(test *testing.T) {
		start := time.Now()
		deadline := t.plan.Deadline(start)
		var lock sync.Mutex
		t.plan.Senders = slices.Repeat([]func(int) bool{func(number int) bool {
			sent := time.Now()
			after, isRight := answers(number, sent.Sub(start))
			if rest := deadline.Sub(sent); after >= rest {
				after, isRight = rest, false
			}
			time.Sleep(after)
			lock.Lock()
			defer lock.Unlock()
			t.sinceSent = append(t.sinceSent, time.Since(sent))
			return isRight
		}}, t.connections)
		result, err := Run(&t.plan, start)
		if err != nil {
			test.Fatal(err)
		}
		found = result
	})
	return found
}

func expect[T comparable](test *testing.T, what string, found, expected T) {
	test.Helper()
	if found != expected {
		test.Errorf("%s: %v instead of %v", what, found, expected)
	}
}

func TestSteadyServerBearsTheLoad(test *testing.T) {
	found := newTrial(1000, 4).run(test, steady(milli))
	expect(test, "due", found.Due, 5000)
	expect(test, "right", found.Right, 5000)
	// The last one was due a millisecond before the end.
	expect(test, "on time", found.OnTime, 4999)
	expect(test, "in the window", found.InWindow, 5000)
	expect(test, "p50", found.P50, milli)
	expect(test, "longest", found.Max, milli)
	expect(test, "lateness", found.LateMax, 0)
	expect(test, "waited", found.Waited, 0)
	expect(test, "borne", found.Borne(), true)
	expect(test, "punctual", found.Punctual(), true)
}

// The reason for this package. A server that stalls for half a second delays every request that was due in it, although
// only four of them could be sent.
func TestStallCountsForAllThatWereDueDuringIt(test *testing.T) {
	const stallFrom, stallTo = 3 * second, 3*second + 500*milli
	run := newTrial(1000, 4)
	found := run.run(test, func(_ int, at time.Duration) (time.Duration, bool) {
		if at >= stallFrom && at < stallTo {
			return stallTo - at + milli/2, true
		}
		return milli / 2, true
	})
	slices.Sort(run.sinceSent)
	expect(test, "p99 from the sending, which hides the stall", percentile(run.sinceSent, 0.99), milli/2)
	// A tenth of the requests were due in the stall, and one of them every millisecond. Then four connections answer
	// eight requests a millisecond, and the backlog is gone after 72 ms.
	if found.P99 < 440*milli || found.P99 > 460*milli {
		test.Errorf("p99: %v", found.P99)
	}
	if found.P999 < 490*milli || found.Max > 501*milli {
		test.Errorf("p99.9: %v, longest: %v", found.P999, found.Max)
	}
	expect(test, "p50", found.P50, milli/2)
	if found.Waited < 560 || found.Waited > 575 {
		test.Errorf("%d waited for a connection", found.Waited)
	}
	// The load was not late: there was no free connection. And the server has caught up.
	expect(test, "lateness", found.LateMax, 0)
	expect(test, "right", found.Right, found.Due)
	expect(test, "borne", found.Borne(), true)
}

func TestOverloadIsNotBorne(test *testing.T) {
	// 800 a second.
	found := newTrial(1000, 1).run(test, steady(1250*time.Microsecond))
	expect(test, "in the window", found.InWindow, 4000)
	if share := float64(found.OnTime) / float64(found.Due); share > 0.77 {
		test.Errorf("%v on time", share)
	}
	if found.Growth < 700*milli || found.Growth > 800*milli {
		test.Errorf("growth: %v", found.Growth)
	}
	if found.P50 < 700*milli || found.Max < 1190*milli {
		test.Errorf("p50: %v, longest: %v", found.P50, found.Max)
	}
	expect(test, "borne", found.Borne(), false)
	expect(test, "punctual", found.Punctual(), true)
}

func TestSlowOverloadIsNotBorne(test *testing.T) {
	run := newTrial(1000, 1)
	run.plan.WarmUp, run.plan.Window = 0, 8*second
	// 0.6 % slower than needed: 99.4 % come within the window, but ever later.
	found := run.run(test, steady(1006*time.Microsecond))
	if share := float64(found.OnTime) / float64(found.Due); share < onTimeMin {
		test.Errorf("%v on time", share)
	}
	if found.Growth < 30*milli || found.Growth > 40*milli {
		test.Errorf("growth: %v", found.Growth)
	}
	expect(test, "borne", found.Borne(), false)
}

func TestSlowAnswersAreBorneIfTheyKeepUp(test *testing.T) {
	found := newTrial(1000, 100).run(test, steady(40*milli))
	expect(test, "p50", found.P50, 40*milli)
	expect(test, "p99.9", found.P999, 40*milli)
	expect(test, "on time", found.OnTime, 4960)
	expect(test, "growth", found.Growth, 0)
	expect(test, "borne", found.Borne(), true)
}

func TestFailuresCountAsNeverAnswered(test *testing.T) {
	for _, each := range []struct {
		every   int
		isBorne bool
	}{{50, false}, {200, true}} {
		found := newTrial(1000, 4).run(test, func(number int, _ time.Duration) (time.Duration, bool) {
			return milli, number%each.every != 0
		})
		expect(test, "failed", found.Failed, 5000/each.every)
		expect(test, "right", found.Right, 5000-5000/each.every)
		expect(test, "borne", found.Borne(), each.isBorne)
		expect(test, "p50", found.P50, milli)
		expect(test, "p99 is that of answers", found.P99 == milli, each.isBorne)
		// The longest was due at the start of the window, and the run ends two seconds after it.
		expect(test, "longest", found.Max, 7*second)
	}
}

func TestServerThatHangs(test *testing.T) {
	found := newTrial(1000, 4).run(test, func(_ int, at time.Duration) (time.Duration, bool) {
		if at >= 3*second {
			return time.Hour, true
		}
		return milli, true
	})
	expect(test, "due", found.Due, 5000)
	expect(test, "right", found.Right, 2000)
	expect(test, "failed", found.Failed, 0)
	// Of the requests due at 3 s and later, the first still waits at 8 s.
	expect(test, "longest", found.Max, 5*second)
	expect(test, "borne", found.Borne(), false)
	// Four were sent, the others never.
	expect(test, "waited", found.Waited, 2996)
	expect(test, "lateness", found.LateMax, 0)
}

func TestLatenessOfTheLoadItself(test *testing.T) {
	run := newTrial(1000, 50)
	run.plan.Wait = func(until time.Time) error { return onTime(until.Add(4 * milli)) }
	found := run.run(test, steady(milli))
	// It wakes up every five milliseconds, and sends the five requests of that time.
	expect(test, "p50 of lateness", found.LateP50, 2*milli)
	expect(test, "p99 of lateness", found.LateP99, 4*milli)
	expect(test, "p99", found.P99, 5*milli)
	expect(test, "punctual", found.Punctual(), false)
	expect(test, "borne", found.Borne(), true)
}

func TestNothingDueInTheWarmUpIsMeasured(test *testing.T) {
	found := newTrial(1000, 1).run(test, func(_ int, at time.Duration) (time.Duration, bool) {
		if at < 500*milli {
			return 100 * milli, true
		}
		return milli / 10, true
	})
	expect(test, "due", found.Due, 5000)
	expect(test, "longest", found.Max, milli/10)
}

func TestRunOfAFailedTimerFails(test *testing.T) {
	synctest.Test(test, func(test *testing.T) {
		plan := newTrial(1000, 1).plan
		plan.Wait = func(time.Time) error { return errors.New("no timer") }
		plan.Senders = []func(int) bool{func(int) bool { return true }}
		if _, err := Run(&plan, time.Now()); err == nil || err.Error() != "no timer" {
			test.Errorf("%v", err)
		}
	})
}

func momentsOf(test *testing.T, schedule Schedule, end time.Duration) []time.Duration {
	test.Helper()
	found, err := schedule.moments(end)
	if err != nil {
		test.Fatal(err)
	}
	return found
}

func TestEqualGaps(test *testing.T) {
	found := momentsOf(test, Schedule{PerSecond: 3}, 2*second)
	expected := []time.Duration{0, second / 3, second * 2 / 3, second, second * 4 / 3, second * 5 / 3}
	if !slices.Equal(found, expected) {
		test.Errorf("%v", found)
	}
}

func TestRandomGapsAreExponentialAndRepeatable(test *testing.T) {
	schedule := Schedule{PerSecond: 10_000, Random: true, Seed: 7}
	found := momentsOf(test, schedule, 20*second)
	if !slices.Equal(found, momentsOf(test, schedule, 20*second)) {
		test.Error("the same seed gave other moments")
	}
	schedule.Seed = 8
	if slices.Equal(found, momentsOf(test, schedule, 20*second)) {
		test.Error("another seed gave the same moments")
	}
	if !slices.IsSorted(found) {
		test.Error("not in ascending order")
	}
	if math.Abs(float64(len(found))-200_000) > 2000 {
		test.Errorf("%d requests", len(found))
	}
	// Of exponential gaps, 1 / e are longer than the mean.
	longer := 0
	for index := 1; index < len(found); index++ {
		if found[index]-found[index-1] > 100*time.Microsecond {
			longer++
		}
	}
	if share := float64(longer) / float64(len(found)); math.Abs(share-1/math.E) > 0.01 {
		test.Errorf("%v of the gaps are longer than the mean", share)
	}
}

func TestRatesBeyondTheBoundAreRefused(test *testing.T) {
	for _, perSecond := range []float64{0, -1, math.NaN(), math.Inf(1), requestsMax} {
		if _, err := (Schedule{PerSecond: perSecond}).moments(2 * second); err == nil {
			test.Errorf("%v a second were not refused", perSecond)
		}
	}
}

func TestPercentilesAreExact(test *testing.T) {
	times := make([]time.Duration, 1000)
	for index := range times {
		times[index] = time.Duration(index + 1)
	}
	expect(test, "p50", percentile(times, 0.5), 500)
	expect(test, "p99", percentile(times, 0.99), 990)
	expect(test, "p99.9", percentile(times, 0.999), 999)
	expect(test, "p100", percentile(times, 1), 1000)
	expect(test, "of one", percentile(times[:1], 0.99), 1)
	expect(test, "of none", percentile(nil, 0.99), 0)
}
