// The AuthZEN Authorization API 1.0: evaluations and searches.

package grantd

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
)

// Evaluate reports whether the subject may perform the action on the resource.
func (c *Client) Evaluate(ctx context.Context, request EvaluationRequest) (Decision, error) {
	return callForAll(ctx, c, post("evaluate", "/access/v1/evaluation", request), decodeDecision)
}

// The semantics of several evaluations. The default is ExecuteAll.
const (
	ExecuteAll          = "execute_all"
	DenyOnFirstDeny     = "deny_on_first_deny"
	PermitOnFirstPermit = "permit_on_first_permit"
)

// PartialEvaluation is an evaluation whose parts have defaults: those that are nil.
type PartialEvaluation struct {
	Subject  *AccessEntity  `json:"subject,omitempty"`
	Action   *AccessAction  `json:"action,omitempty"`
	Resource *AccessEntity  `json:"resource,omitempty"`
	Context  map[string]any `json:"context,omitempty"`
}

// EvaluationsRequest is up to 100 evaluations, and defaults for their parts. Without evaluations, the defaults are one.
type EvaluationsRequest struct {
	PartialEvaluation
	Evaluations []PartialEvaluation `json:"evaluations"`
	// Default: ExecuteAll.
	Semantic string `json:"evaluations_semantic"`
}

// MarshalJSON encodes the semantic as the API does.
func (r EvaluationsRequest) MarshalJSON() ([]byte, error) {
	type options struct {
		Semantic string `json:"evaluations_semantic"`
	}
	var given *options
	if r.Semantic != "" {
		given = &options{r.Semantic}
	}
	return json.Marshal(struct {
		PartialEvaluation
		Evaluations []PartialEvaluation `json:"evaluations,omitempty"`
		Options     *options            `json:"options,omitempty"`
	}{r.PartialEvaluation, r.Evaluations, given})
}

// EvaluateMany decides all evaluations at one moment. The decisions are in order; with DenyOnFirstDeny and
// PermitOnFirstPermit they end with the first denial or permission.
func (c *Client) EvaluateMany(ctx context.Context, request EvaluationsRequest) ([]Decision, error) {
	return callForAll(ctx, c, post("evaluateMany", "/access/v1/evaluations", request), func(value any) ([]Decision, error) {
		if len(request.Evaluations) == 0 {
			decision, err := decodeDecision(value)
			return []Decision{decision}, err
		}
		o := objectOf(value)
		decisions := required(o, "evaluations", listOf(decodeDecision))
		if o.err != nil {
			return nil, o.err
		}
		if !isComplete(decisions, len(request.Evaluations), request.Semantic) {
			return nil, fmt.Errorf("%d decisions for %d evaluations", len(decisions), len(request.Evaluations))
		}
		return decisions, nil
	})
}

// isComplete reports whether all are decided, or only the last decision ends the evaluation early.
func isComplete(decisions []Decision, count int, semantic string) bool {
	if semantic != DenyOnFirstDeny && semantic != PermitOnFirstPermit {
		return len(decisions) == count
	}
	settles := semantic == PermitOnFirstPermit
	for index, decision := range decisions {
		if decision.Decision == settles {
			return index == len(decisions)-1 && len(decisions) <= count
		}
	}
	return len(decisions) == count
}

// SearchSubjects yields the subjects of a type that may perform the action on the resource.
func (c *Client) SearchSubjects(ctx context.Context, request SubjectSearch) iter.Seq2[FoundEntity, error] {
	return search(request.Page, func(page *SearchPage) ([]FoundEntity, string, error) {
		request.Page = page
		found, err := c.SearchSubjectsPage(ctx, request)
		return found.Results, found.Page.NextToken, err
	})
}

// SearchSubjectsPage reads one page.
func (c *Client) SearchSubjectsPage(ctx context.Context, request SubjectSearch) (EntitySearchResult, error) {
	return callForAll(ctx, c, post("searchSubjects", "/access/v1/search/subject", request), decodeEntitySearchResult)
}

// SearchResources yields the resources of a type on which the subject may perform the action.
func (c *Client) SearchResources(ctx context.Context, request ResourceSearch) iter.Seq2[FoundEntity, error] {
	return search(request.Page, func(page *SearchPage) ([]FoundEntity, string, error) {
		request.Page = page
		found, err := c.SearchResourcesPage(ctx, request)
		return found.Results, found.Page.NextToken, err
	})
}

// SearchResourcesPage reads one page.
func (c *Client) SearchResourcesPage(ctx context.Context, request ResourceSearch) (EntitySearchResult, error) {
	return callForAll(ctx, c, post("searchResources", "/access/v1/search/resource", request), decodeEntitySearchResult)
}

// SearchActions yields the actions that the subject may perform on the resource.
func (c *Client) SearchActions(ctx context.Context, request ActionSearch) iter.Seq2[FoundAction, error] {
	return search(request.Page, func(page *SearchPage) ([]FoundAction, string, error) {
		request.Page = page
		found, err := c.SearchActionsPage(ctx, request)
		return found.Results, found.Page.NextToken, err
	})
}

// SearchActionsPage reads one page.
func (c *Client) SearchActionsPage(ctx context.Context, request ActionSearch) (ActionSearchResult, error) {
	return callForAll(ctx, c, post("searchActions", "/access/v1/search/action", request), decodeActionSearchResult)
}

func search[T any](first *SearchPage, page func(*SearchPage) ([]T, string, error)) iter.Seq2[T, error] {
	var limit *int64
	token := ""
	if first != nil {
		limit, token = first.Limit, first.Token
	}
	return pages(token, func(token string) ([]T, string, error) {
		return page(&SearchPage{Token: token, Limit: limit})
	})
}
