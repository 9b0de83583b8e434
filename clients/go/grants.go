// Grants: created, revoked, and both at once. Every write may be repeated without a double effect.

package grantd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// Expiry says until when a grant holds. The zero value leaves it to the service: a new grant never expires, and an
// existing one keeps its expiry.
type Expiry struct {
	at    time.Time
	isSet bool
}

// NeverExpires removes the expiry of an existing grant.
var NeverExpires = Expiry{isSet: true}

// ExpiresAt lets a grant hold until just before the time.
func ExpiresAt(at time.Time) Expiry { return Expiry{at: at, isSet: true} }

// GrantRequest is a grant to create.
type GrantRequest struct {
	Subject  string `json:"subject"`
	Relation string `json:"relation"`
	Object   string `json:"object"`
	Expires  Expiry `json:"expires_at"`
	// Under which it holds. Nil: an existing grant keeps its own. Unconditional removes it.
	Condition *GrantConditionRequest `json:"condition"`
}

// Unconditional is no condition.
var Unconditional = &GrantConditionRequest{}

// MarshalJSON leaves out an expiry and a condition that are left to the service.
func (g GrantRequest) MarshalJSON() ([]byte, error) {
	// A nil pointer in an interface is sent as null, and a nil interface is left out.
	var wire struct {
		Tuple
		ExpiresAt any `json:"expires_at,omitempty"`
		Condition any `json:"condition,omitempty"`
	}
	wire.Tuple = Tuple{Subject: g.Subject, Relation: g.Relation, Object: g.Object}
	if g.Expires.isSet {
		var at *time.Time
		if !g.Expires.at.IsZero() {
			utc := g.Expires.at.UTC()
			at = &utc
		}
		wire.ExpiresAt = at
	}
	if condition := g.Condition; condition != nil {
		// By identity: one whose name is empty by mistake is refused, and removes nothing.
		if condition == Unconditional {
			condition = nil
		}
		wire.Condition = condition
	}
	return json.Marshal(wire)
}

func (g GrantRequest) isFor(subject, relation, object string) bool {
	return g.Subject == subject && g.Relation == relation && g.Object == object
}

var errOtherTuple = errors.New("it is the grant of another tuple")

// CreateGrant creates a grant, or returns the existing one; Created says which. It is durable when this returns.
func (c *Client) CreateGrant(ctx context.Context, grant GrantRequest) (WrittenGrant, error) {
	call := post("createGrant", "/v1/grants", grant, http.StatusOK, http.StatusCreated)
	stored, answer, err := callFor(ctx, c, call, func(value any) (Grant, error) {
		stored, err := decodeGrant(value)
		if err == nil && !grant.isFor(stored.Subject, stored.Relation, stored.Object) {
			err = errOtherTuple
		}
		return stored, err
	})
	if err != nil {
		return WrittenGrant{}, err
	}
	return WrittenGrant{
		GrantID: stored.GrantID, Subject: stored.Subject, Relation: stored.Relation, Object: stored.Object,
		CreatedAt: stored.CreatedAt, ExpiresAt: stored.ExpiresAt, Condition: stored.Condition,
		Created: answer.status == http.StatusCreated,
	}, nil
}

// RevokeGrant revokes the grant of one tuple and reports whether it existed. After a lost response, the retry may find
// none although this call has removed it.
func (c *Client) RevokeGrant(ctx context.Context, tuple Tuple) (revoked bool, err error) {
	return c.remove(ctx, TypeGrantNotFound, request{
		operation: "revokeGrant",
		path:      "/v1/grants",
		// In the query, since some proxies drop the body of a DELETE.
		query: url.Values{
			"subject": {tuple.Subject}, "relation": {tuple.Relation}, "object": {tuple.Object},
		},
	})
}

// remove reports whether there was something to remove.
func (c *Client) remove(ctx context.Context, notFound string, r request) (bool, error) {
	r.method, r.accepts = http.MethodDelete, []int{http.StatusNoContent}
	_, err := c.call(ctx, r)
	if ErrorType(err) == notFound {
		return false, nil
	}
	return err == nil, err
}

// BulkWrite is up to 100 grants and revocations together, and up to 100 conditions.
type BulkWrite struct {
	Grants      []GrantRequest `json:"grants,omitempty"`
	Revocations []Tuple        `json:"revocations,omitempty"`
	// On the state before the call. Unless all are met, nothing is changed.
	If []Condition `json:"if,omitempty"`
}

// WriteBulk makes all changes at one moment, or none. An unmet condition is an error of the type
// TypePreconditionFailed.
func (c *Client) WriteBulk(ctx context.Context, write BulkWrite) (BulkWriteResult, error) {
	call := post("writeBulk", "/v1/grants/bulk", write)
	call.conditional = len(write.If) > 0
	return callForAll(ctx, c, call, func(value any) (BulkWriteResult, error) {
		result, err := decodeBulkWriteResult(value)
		if err == nil && len(result.Grants) != len(write.Grants) {
			err = fmt.Errorf("%d results for %d grants", len(result.Grants), len(write.Grants))
		}
		if err == nil && len(result.Revocations) != len(write.Revocations) {
			err = fmt.Errorf("%d results for %d revocations", len(result.Revocations), len(write.Revocations))
		}
		if err != nil {
			return BulkWriteResult{}, err
		}
		for index, stored := range result.Grants {
			if !write.Grants[index].isFor(stored.Subject, stored.Relation, stored.Object) {
				return BulkWriteResult{}, errOtherTuple
			}
		}
		return result, nil
	})
}

// GrantFilter names all grants of a subject, or all on an object: exactly one of the two, and perhaps one relation.
type GrantFilter struct {
	Subject  string `json:"subject,omitempty"`
	Object   string `json:"object,omitempty"`
	Relation string `json:"relation,omitempty"`
}

// RevokeGrants revokes every grant that matches, 1,000 at a time, until none is left, and counts them. With an error,
// it has revoked at least as many as it says.
func (c *Client) RevokeGrants(ctx context.Context, filter GrantFilter) (revoked int64, err error) {
	for {
		call := post("revokeGrants", "/v1/grants/revoke", filter)
		result, err := callForAll(ctx, c, call, decodeRevokeResult)
		if err != nil {
			return revoked, err
		}
		revoked += result.Revoked
		if result.Complete {
			return revoked, nil
		}
	}
}
