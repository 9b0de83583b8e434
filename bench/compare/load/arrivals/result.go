package arrivals

import (
	"math"
	"slices"
	"time"
)

const (
	// A system bears a load if it gives right answers to at least this share of what is due in the window, within the
	// window,
	onTimeMin = 0.99
	// and if its backlog grows by no more requests than are due in this time. A single stall does not count, because the
	// medians of the first and of the last quarter of the window are compared.
	growthMax = 20 * time.Millisecond
	// Moments at which the backlog of a quarter is taken.
	samples = 101
	// If the load itself sends one request in a hundred later than this, its latencies say too little about the system.
	latenessMax = time.Millisecond
)

// Result is what became of the requests that were due in the window.
type Result struct {
	Due int
	// Right answers, whenever they came, and those of them that came within the window.
	Right, OnTime int
	// Answers that were not right, refusals and broken connections.
	Failed int
	// Requests for which no connection was free when they were due.
	Waited int
	// Right answers within the window, whenever their requests were due.
	InWindow int
	// From the moment a request was due to its right answer. One without a right answer counts as if it had waited until
	// the end of the run.
	P50, P99, P999, Max time.Duration
	// The lateness of the load itself: from the moment a request was due until the load noticed; and, if a connection was
	// free, until it was sent. Once a connection becomes free, a request that waits for it must be sent at once, too.
	LateP50, LateP99, LateMax time.Duration
	// By how much the backlog was longer at the end of the window than at its start: the time in which that many requests
	// are due. The backlog is what was due and not answered.
	Growth time.Duration
}

// Borne says whether the system kept up with the load.
func (r *Result) Borne() bool {
	return float64(r.OnTime) >= onTimeMin*float64(r.Due) && r.Growth <= growthMax
}

// Punctual says whether the load was sent on time, so that the latencies are those of the system.
func (r *Result) Punctual() bool { return r.LateP99 <= latenessMax }

func (e *execution) result() *Result {
	from, to := e.plan.WarmUp, e.plan.end()
	found := &Result{}
	var latencies, late []time.Duration
	for number, each := range e.records {
		if each.state == right && each.done >= from && each.done < to {
			found.InWindow++
		}
		due := e.due[number]
		if due < from {
			continue
		}
		found.Due++
		latency := to + e.plan.Rest - due
		switch each.state {
		case right:
			found.Right++
			latency = each.done - due
			if each.done < to {
				found.OnTime++
			}
		case failed:
			found.Failed++
		}
		latencies = append(latencies, latency)
		late = append(late, each.late)
		if each.waited || each.done == 0 {
			found.Waited++
		}
	}
	slices.Sort(latencies)
	slices.Sort(late)
	found.P50, found.P99 = percentile(latencies, 0.5), percentile(latencies, 0.99)
	found.P999, found.Max = percentile(latencies, 0.999), percentile(latencies, 1)
	found.LateP50, found.LateP99, found.LateMax = percentile(late, 0.5), percentile(late, 0.99), percentile(late, 1)
	found.Growth = e.growth()
	return found
}

func (e *execution) growth() time.Duration {
	var done []time.Duration
	for _, each := range e.records {
		if each.state != open {
			done = append(done, each.done)
		}
	}
	slices.Sort(done)
	quarter := e.plan.Window / 4
	first := e.backlog(done, e.plan.WarmUp, quarter)
	last := e.backlog(done, e.plan.end()-quarter, quarter)
	return time.Duration(float64(last-first) * float64(time.Second) / e.plan.PerSecond)
}

// backlog is the median number of requests that are due and not answered, during this length of time.
func (e *execution) backlog(done []time.Duration, from, length time.Duration) int {
	counts := make([]int, samples)
	for index := range counts {
		at := from + length*time.Duration(index)/(samples-1)
		due, _ := slices.BinarySearch(e.due, at)
		answered, _ := slices.BinarySearch(done, at)
		counts[index] = due - answered
	}
	slices.Sort(counts)
	return counts[samples/2]
}

// By nearest rank: exact, since every latency is kept. The times must be ascending.
func percentile(times []time.Duration, fraction float64) time.Duration {
	if len(times) == 0 {
		return 0
	}
	// Without the tolerance, 0.99 of 100 would be a little more than 99.
	rank := int(math.Ceil(float64(len(times))*fraction - 1e-9))
	return times[min(len(times), max(1, rank))-1]
}
