// Checks, grants and listings.

package grantdtest

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"time"

	"github.com/grantd/grantd/clients/go"
)

const bulkMax = 100

// withSent is a view of the fake that also has the grants that the body brings along. The `context` has no effect: the
// fake knows no conditions.
func (c *call) withSent() *Fake {
	sent := listIn(c.body, "context_grants")
	if len(sent) > bulkMax {
		refuse("bulk-too-large", "There are %d context grants; at most %d are allowed.", len(sent), bulkMax)
	}
	if context, has := c.body["context"]; has {
		if _, isObject := context.(object); !isObject {
			refuse(invalidRequest, `"context" must be an object`)
		}
	}
	grants := maps.Clone(c.fake.grants)
	for index, one := range sent {
		of := tupleIn(one, elementOf("context_grants", index))
		if grants[of] == nil {
			grants[of] = &grantd.Grant{Subject: of.subject, Relation: of.relation, Object: of.object}
		}
	}
	return &Fake{rules: c.fake.rules, grants: grants}
}

// inContext is a listing whose parameters are members of a body.
func inContext(list func(*call) any) func(*call) any {
	return func(c *call) any {
		as := *c
		as.fake, as.query = c.withSent(), url.Values{}
		for name, value := range c.body {
			if name != "context" && name != "context_grants" {
				as.query.Set(name, fmt.Sprint(value))
			}
		}
		return list(&as)
	}
}

func check(c *call) any {
	question := c.questionIn(c.body, "")
	because, isHeld := c.withSent().holds(question.subject, question.relation, question.object)
	answer := object{"authorized": isHeld, "checked_at": timeText(c.fake.now())}
	if explain, _ := c.body["explain"].(bool); explain && isHeld {
		chain := []any{}
		for _, grant := range because {
			if grant.GrantID != "" {
				chain = append(chain, grantJSON(*grant))
			}
		}
		answer["because"] = chain
	}
	return answer
}

func checkBulk(c *call) any {
	checks := listIn(c.body, "checks")
	if _, has := c.body["checks"]; !has {
		refuse(invalidRequest, `"checks" is missing`)
	}
	if len(checks) > bulkMax {
		refuse("bulk-too-large", "There are %d checks; at most %d are allowed.", len(checks), bulkMax)
	}
	view := c.withSent()
	results := make([]any, len(checks))
	for index, one := range checks {
		question := c.questionIn(one, elementOf("checks", index))
		_, isHeld := view.holds(question.subject, question.relation, question.object)
		results[index] = object{"authorized": isHeld}
	}
	return object{"results": results, "checked_at": timeText(c.fake.now())}
}

// grant creates a grant, or changes the expiry of the one that exists.
func (o *operation) grant(of tuple, expires *time.Time, isGiven bool) (stored *grantd.Grant, created bool) {
	f := o.fake
	now := f.now()
	if stored = f.grants[of]; stored != nil {
		if isGiven && timeOrNull(stored.ExpiresAt) != timeOrNull(expires) {
			changed := *stored
			changed.ExpiresAt = expires
			f.grants[of] = &changed
			former := map[string]any{"expires_at": timeOrNull(stored.ExpiresAt)}
			o.record("grant.updated", "grant", grantJSON(changed), "former_terms", former)
		}
		return f.grants[of], false
	}
	for _, identifier := range []string{of.subject, of.object} {
		o.namespace(namespaceOf(identifier))
	}
	stored = &grantd.Grant{
		GrantID: newID("grt"), Subject: of.subject, Relation: of.relation, Object: of.object,
		CreatedAt: now, ExpiresAt: expires,
	}
	f.grants[of] = stored
	o.record("grant.created", "grant", grantJSON(*stored))
	return stored, true
}

func (o *operation) revoke(of tuple) bool {
	stored := o.fake.grants[of]
	if stored == nil {
		return false
	}
	delete(o.fake.grants, of)
	o.record("grant.revoked", "grant", grantJSON(*stored))
	return true
}

func createGrant(c *call) any {
	of := tupleIn(c.body, "")
	expires, isGiven := c.expiryIn(c.body, "")
	write := c.operation()
	stored, created := write.grant(of, expires, isGiven)
	write.commit()
	if created {
		c.status = http.StatusCreated
	}
	return grantJSON(*stored)
}

func revokeGrant(c *call) any {
	from := c.body
	if from == nil {
		from = c.queryObject("subject", "relation", "object")
	}
	of, write := tupleIn(from, ""), c.operation()
	if !write.revoke(of) {
		refuse("grant-not-found", "There is no such grant.")
	}
	write.commit()
	c.status = http.StatusNoContent
	return nil
}

type wantedGrant struct {
	of      tuple
	expires *time.Time
	isGiven bool
}

func (c *call) readBulk() (grants []wantedGrant, revocations []tuple) {
	wanted, removed, conditions := listIn(c.body, "grants"), listIn(c.body, "revocations"), listIn(c.body, "if")
	if count := len(wanted) + len(removed); count > bulkMax || len(conditions) > bulkMax {
		refuse("bulk-too-large", "There are %d changes and %d conditions; at most %d of each are allowed.",
			count, len(conditions), bulkMax)
	} else if count == 0 {
		refuse(invalidRequest, "There is nothing to change.")
	}
	seen := map[tuple]bool{}
	once := func(of tuple, place string) tuple {
		if seen[of] {
			refuse(invalidRequest, "%q names a tuple a second time.", place)
		}
		seen[of] = true
		return of
	}
	for index, one := range wanted {
		place := elementOf("grants", index)
		expires, isGiven := c.expiryIn(one, place)
		grants = append(grants, wantedGrant{once(tupleIn(one, place), place), expires, isGiven})
	}
	for index, one := range removed {
		place := elementOf("revocations", index)
		revocations = append(revocations, once(tupleIn(one, place), place))
	}
	for index, one := range conditions {
		place := elementOf("if", index)
		exists, isBoolean := one["exists"].(bool)
		if !isBoolean {
			refuse(invalidRequest, `"%sexists" must be a boolean`, place)
		}
		if (c.fake.grants[tupleIn(one, place)] != nil) != exists {
			refuse("precondition-failed", "%q is not met.", place)
		}
	}
	return grants, revocations
}

func writeBulk(c *call) any {
	grants, revocations := c.readBulk()
	write := c.operation()
	written, revoked := make([]any, len(grants)), make([]any, len(revocations))
	for index, one := range grants {
		stored, created := write.grant(one.of, one.expires, one.isGiven)
		record := grantJSON(*stored)
		record["created"] = created
		written[index] = record
	}
	for index, of := range revocations {
		revoked[index] = object{"revoked": write.revoke(of)}
	}
	write.commit()
	return object{"grants": written, "revocations": revoked}
}

// matching: the grants of a subject, or on an object, and perhaps of one relation.
func (c *call) matching(from object) []*grantd.Grant {
	_, hasSubject := from["subject"]
	_, hasObject := from["object"]
	if hasSubject == hasObject {
		refuse(invalidRequest, `Exactly one of "subject" and "object" must be given.`)
	}
	side := "object"
	if hasSubject {
		side = "subject"
	}
	wanted, relation := identifierIn(from, side, ""), ""
	if _, has := from["relation"]; has {
		relation = builtInIn(from, "")
	}
	found := []*grantd.Grant{}
	for _, grant := range c.fake.sortedGrants() {
		is := map[string]string{"subject": grant.Subject, "object": grant.Object}[side]
		if is == wanted && (relation == "" || relation == grant.Relation) {
			found = append(found, grant)
		}
	}
	return found
}

func revokeGrants(c *call) any {
	write, revoked := c.operation(), 0
	for _, grant := range c.matching(c.body) {
		write.revoke(tuple{grant.Subject, grant.Relation, grant.Object})
		revoked++
	}
	write.commit()
	return object{"revoked": revoked, "complete": true}
}

func listGrants(c *call) any {
	query := c.queryObject("subject", "object", "relation", "limit", "cursor")
	name := queryName("grants", query["subject"], query["object"], query["relation"])
	found, next := page(c, name, c.matching(query), func(grant *grantd.Grant) string {
		return grant.Relation + " " + grant.Object + " " + grant.Subject
	})
	grants := make([]any, len(found))
	for index, grant := range found {
		grants[index] = grantJSON(*grant)
	}
	c.answer.Set("X-Service-Cursor", feedCursor(len(c.fake.changes)))
	return object{"grants": grants, "next_cursor": next}
}

func listObjects(c *call) any {
	query := c.queryObject("subject", "relation", "namespace", "via", "limit", "cursor")
	subject, name := identifierIn(query, "subject", ""), c.nameIn(query, "")
	return c.identifiers("objects", query, subject, c.fake.objectsOf(subject, name, query["via"] == "direct"))
}

func listSubjects(c *call) any {
	query := c.queryObject("object", "relation", "namespace", "via", "include", "limit", "cursor")
	object, name := identifierIn(query, "object", ""), c.nameIn(query, "")
	found := c.fake.subjectsOf(name, object, query["via"] == "direct", query["include"] == "self")
	return c.identifiers("subjects", query, object, found)
}

func (c *call) identifiers(what string, query object, of string, all []string) any {
	found, next := page(c, queryName(what, of, query["relation"], query["namespace"], query["via"], query["include"]),
		ofNamespace(all, query["namespace"]), func(item string) string { return item })
	return object{what: found, "next_cursor": next}
}

func ofNamespace(all []string, namespace any) []string {
	found := []string{}
	for _, identifier := range all {
		if namespace == nil || namespace == namespaceOf(identifier) {
			found = append(found, identifier)
		}
	}
	return found
}
