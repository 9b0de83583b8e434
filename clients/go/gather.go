// Gathers concurrent checks into bulk checks of up to 100. A check that comes alone goes out at once; while others are
// in flight, checks wait for at most gatherTime for company. Each check keeps its own deadline, its own order and its
// own error: if the service refuses a bulk check because of one element, the client sends the others again.

package grantd

import (
	"context"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"time"
)

const (
	// What one bulk check may hold.
	bulkChecksMax = 100
	// Less than a request takes, so that gathering costs no check much.
	gatherTime = time.Millisecond
	// Refused elements that are taken out of a bulk check one by one. With more, halves cost fewer requests.
	refusedMax = 4
)

// CheckAnswer is the answer of one check of several. Err is its own.
type CheckAnswer struct {
	Authorized bool
	Err        error
}

type waitingCheck struct {
	ctx      context.Context
	question Question
	// Has a place for the one answer.
	answer chan CheckAnswer
}

type gatherer struct {
	client *Client

	mutex    sync.Mutex
	waiting  []*waitingCheck
	inFlight int
	timer    *time.Timer
}

func newGatherer(client *Client) *gatherer { return &gatherer{client: client} }

func (g *gatherer) check(ctx context.Context, question Question) (bool, error) {
	if ctx.Err() != nil {
		return false, contextError(ctx)
	}
	if wrong := checkSendable(question); wrong != nil {
		return false, wrong
	}
	one := &waitingCheck{ctx: ctx, question: question, answer: make(chan CheckAnswer, 1)}
	g.add(one)
	select {
	case answer := <-one.answer:
		return answer.Authorized, answer.Err
	case <-ctx.Done():
		return false, contextError(ctx)
	}
}

func (g *gatherer) add(one *waitingCheck) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.waiting = append(g.waiting, one)
	switch {
	case g.inFlight == 0 || len(g.waiting) == bulkChecksMax:
		g.sendWaiting()
	case g.timer == nil:
		g.timer = time.AfterFunc(gatherTime, func() {
			g.mutex.Lock()
			defer g.mutex.Unlock()
			g.sendWaiting()
		})
	}
}

// sendWaiting needs the mutex.
func (g *gatherer) sendWaiting() {
	if g.timer != nil {
		g.timer.Stop()
		g.timer = nil
	}
	if len(g.waiting) == 0 {
		return
	}
	checks := g.waiting
	g.waiting = nil
	g.inFlight++
	go func() {
		g.answerAll(checks)
		g.mutex.Lock()
		g.inFlight--
		if g.inFlight == 0 {
			g.sendWaiting()
		}
		g.mutex.Unlock()
	}()
}

// answerAll ends early if every caller has given up.
func (g *gatherer) answerAll(checks []*waitingCheck) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(checks[0].ctx), g.client.timeout)
	defer cancel()
	var left sync.WaitGroup
	left.Add(len(checks))
	for _, one := range checks {
		stop := context.AfterFunc(one.ctx, left.Done)
		defer func() {
			if stop() {
				left.Done()
			}
		}()
	}
	go func() {
		left.Wait()
		cancel()
	}()
	questions := make([]Question, len(checks))
	for index, one := range checks {
		questions[index] = one.question
	}
	for index, answer := range g.client.checkBatch(ctx, questions, refusedMax) {
		checks[index].answer <- answer
	}
}

var namesElement = regexp.MustCompile(`\bchecks\[(\d{1,3})\]\.?`)

// refusedElement is the element that the service refuses, if it names one, and the error of that element. A wrong
// number would fail the wrong check, but never answer one.
func refusedElement(refused *Error, count int) (int, *Error) {
	place := namesElement.FindStringSubmatchIndex(refused.Detail)
	if place == nil {
		return 0, nil
	}
	index, _ := strconv.Atoi(refused.Detail[place[2]:place[3]])
	if index >= count {
		return 0, nil
	}
	own := *refused
	own.Detail = refused.Detail[:place[0]] + refused.Detail[place[1]:]
	return index, &own
}

// isOfElements: one element may be to blame. A status of 413 is also that of many that are too large together.
func isOfElements(status int) bool {
	return status == http.StatusBadRequest || status == http.StatusUnprocessableEntity ||
		status == http.StatusRequestEntityTooLarge
}

// checkBatch checks up to 100 questions and returns the answers in order. If the service refuses all because of some,
// it removes up to `named` refused elements one by one, and then splits the rest into halves, until each has its own
// answer.
func (c *Client) checkBatch(ctx context.Context, questions []Question, named int) []CheckAnswer {
	answers := make([]CheckAnswer, len(questions))
	if len(questions) == 0 {
		return answers
	}
	if len(questions) == 1 {
		answers[0].Authorized, answers[0].Err = c.checkAlone(ctx, questions[0], CallContext{})
		return answers
	}
	result, err := c.CheckBulk(ctx, questions)
	if err == nil {
		for index, answer := range result.Results {
			answers[index].Authorized = answer.Authorized
		}
		return answers
	}
	var refused *Error
	if !errors.As(err, &refused) || !isOfElements(refused.Status) {
		for index := range answers {
			answers[index].Err = err
		}
		return answers
	}
	if index, own := refusedElement(refused, len(questions)); own != nil && named > 0 {
		answers[index].Err = own
		others := c.checkBatch(ctx, slices.Delete(slices.Clone(questions), index, index+1), named-1)
		copy(answers, others[:index])
		copy(answers[index+1:], others[index:])
		return answers
	}
	half := len(questions) / 2
	copy(answers, c.checkBatch(ctx, questions[:half], named))
	copy(answers[half:], c.checkBatch(ctx, questions[half:], named))
	return answers
}
