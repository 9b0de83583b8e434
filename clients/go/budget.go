// How often calls are repeated: a bucket of tokens per client, so that an outage is never made worse by a flood of
// retries, and pauses with jitter, so that clients do not come back all at once.

package grantd

import (
	"math/rand/v2"
	"sync"
	"time"
)

const (
	retriesMaxDefault = 5
	// Enough for a short disturbance at any rate of calls.
	retriesInStockDefault = 10
	earnedByCall          = 0.1

	jitterFirst = 50 * time.Millisecond
	jitterMax   = 2 * time.Second
)

type retryBudget struct {
	mutex  sync.Mutex
	most   float64
	tokens float64
}

func newRetryBudget(retries int) *retryBudget {
	if retries == 0 {
		retries = retriesInStockDefault
	}
	most := float64(max(retries, 0))
	return &retryBudget{most: most, tokens: most}
}

// earn adds the share of one call.
func (b *retryBudget) earn() {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.tokens = min(b.tokens+earnedByCall, b.most)
}

// spend takes one retry and reports whether one was left.
func (b *retryBudget) spend() bool {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.tokens < 1 {
		return false
	}
	b.tokens--
	return true
}

// pauseBefore is the time to wait before a retry, counted from 1: the service's Retry-After, and a random time.
func (r retries) pauseBefore(retry int, minimum time.Duration) time.Duration {
	jitter := r.first
	for doubled := 1; doubled < retry && jitter < r.longest; doubled++ {
		jitter += min(jitter, r.longest-jitter)
	}
	return minimum + rand.N(jitter)
}
