// Checks: alone, gathered, in bulk, and with the grants on which they rest.

package grantd

import (
	"context"
	"fmt"
)

// CallContext is the context of one check or listing. It is not stored, and no other call sees it.
type CallContext struct {
	// Values for parameters of conditions; what a grant stores takes precedence. Optional.
	Context map[string]any `json:"context,omitempty"`
	// At most 100 grants that count for this call as if they were stored. Optional.
	ContextGrants []ContextGrant `json:"context_grants,omitempty"`
}

func (c CallContext) isEmpty() bool { return c.Context == nil && c.ContextGrants == nil }

// Check reports whether the subject has the relation, or the derived name, on the object. Concurrent checks of a client
// are gathered into bulk checks, unless Config.NoGathering says otherwise.
func (c *Client) Check(ctx context.Context, subject, relation, object string) (bool, error) {
	question := Question{Subject: subject, Relation: relation, Object: object}
	if c.gather == nil {
		return c.checkAlone(ctx, question, CallContext{})
	}
	return c.gather.check(ctx, question)
}

// CheckWith is Check with a context. It is never gathered.
func (c *Client) CheckWith(ctx context.Context, with CallContext, subject, relation, object string) (bool, error) {
	return c.checkAlone(ctx, Question{Subject: subject, Relation: relation, Object: object}, with)
}

// CheckEach checks any number of questions, in bulk checks of up to 100 each, and returns the answers in order. An
// error of one question is in its answer. Use CheckBulk if all must be decided at one moment.
func (c *Client) CheckEach(ctx context.Context, questions []Question) []CheckAnswer {
	answers := make([]CheckAnswer, 0, len(questions))
	for len(questions) > 0 {
		part := questions[:min(len(questions), bulkChecksMax)]
		answers = append(answers, c.checkPart(ctx, part)...)
		questions = questions[len(part):]
	}
	return answers
}

// checkPart sends those that can be sent.
func (c *Client) checkPart(ctx context.Context, questions []Question) []CheckAnswer {
	answers := make([]CheckAnswer, len(questions))
	var sent []Question
	var places []int
	for index, question := range questions {
		if wrong := checkSendable(question); wrong != nil {
			answers[index].Err = wrong
			continue
		}
		sent, places = append(sent, question), append(places, index)
	}
	for index, answer := range c.checkBatch(ctx, sent, refusedMax) {
		answers[places[index]] = answer
	}
	return answers
}

type checkRequest struct {
	Question
	CallContext
	Explain bool `json:"explain,omitempty"`
}

func (c *Client) checkAlone(ctx context.Context, question Question, with CallContext) (bool, error) {
	body := checkRequest{question, with, false}
	result, _, err := callFor(ctx, c, post("check", "/v1/check", body), decodeCheckResult)
	return err == nil && result.Authorized, err
}

// Explain checks, and also returns a shortest chain of grants that proves an "authorized"; under rules with gates, a
// proof of either answer.
func (c *Client) Explain(ctx context.Context, subject, relation, object string) (CheckResult, error) {
	return c.ExplainWith(ctx, CallContext{}, subject, relation, object)
}

// ExplainWith is Explain with a context.
func (c *Client) ExplainWith(
	ctx context.Context, with CallContext, subject, relation, object string,
) (CheckResult, error) {
	body := checkRequest{Question{Subject: subject, Relation: relation, Object: object}, with, true}
	result, _, err := callFor(ctx, c, post("check", "/v1/check", body), decodeCheckResult)
	return result, err
}

type bulkCheck struct {
	Checks []Question `json:"checks"`
	CallContext
}

// CheckBulk checks up to 100 questions, which are decided at one moment. One result per question, in order. An error of
// one element refuses the whole call.
func (c *Client) CheckBulk(ctx context.Context, questions []Question) (BulkCheckResult, error) {
	return c.CheckBulkWith(ctx, CallContext{}, questions)
}

// CheckBulkWith is CheckBulk with a context for all of its checks.
func (c *Client) CheckBulkWith(ctx context.Context, with CallContext, questions []Question) (BulkCheckResult, error) {
	body := bulkCheck{append([]Question{}, questions...), with}
	call := post("checkBulk", "/v1/check/bulk", body)
	return callForAll(ctx, c, call, func(value any) (BulkCheckResult, error) {
		result, err := decodeBulkCheckResult(value)
		if err == nil && len(result.Results) != len(questions) {
			err = fmt.Errorf("%d results for %d checks", len(result.Results), len(questions))
		}
		if err != nil {
			return BulkCheckResult{}, err
		}
		return result, nil
	})
}

// callForAll is callFor for callers that need only the decoded answer.
func callForAll[T any](ctx context.Context, c *Client, r request, decode func(any) (T, error)) (T, error) {
	decoded, _, err := callFor(ctx, c, r, decode)
	return decoded, err
}
