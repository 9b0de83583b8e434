// Package arrivals sends requests at the moments that a schedule says, whatever became of those before, and accounts for
// each from the moment it was due. So a stall counts for every request that was due during it, and not only for those
// that had been sent: there is no coordinated omission.
package arrivals

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

// requestsMax bounds the memory of a run: each request takes about 30 bytes.
const requestsMax = 1 << 22

// Schedule says when requests are due. The same schedule always gives the same moments.
type Schedule struct {
	PerSecond float64
	// With random gaps (exponential: a Poisson process, as independent clients make it), or with equal ones.
	Random bool
	Seed   uint64
}

// moments are those before the end, from the start of the run on, in ascending order.
func (s Schedule) moments(end time.Duration) ([]time.Duration, error) {
	expected := s.PerSecond * end.Seconds()
	if !(s.PerSecond > 0) || !(expected <= requestsMax) {
		return nil, fmt.Errorf("%g requests a second are none, or too many: %.0f in all", s.PerSecond, expected)
	}
	random := rand.New(rand.NewPCG(s.Seed, 0))
	interval := float64(time.Second) / s.PerSecond
	// Four standard deviations more than expected, so that it hardly ever grows.
	found := make([]time.Duration, 0, int(expected+4*math.Sqrt(expected))+1)
	at := 0.0
	for number := 1; ; number++ {
		if time.Duration(at) >= end {
			return found, nil
		}
		found = append(found, time.Duration(at))
		if s.Random {
			at -= math.Log1p(-random.Float64()) * interval
		} else {
			at = float64(number) * interval
		}
	}
}
