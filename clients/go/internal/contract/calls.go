// The methods of this client for the calls of a case.

package main

import (
	"context"
	"iter"
	"strings"
	"time"

	"github.com/grantd/grantd/clients/go"
)

type call struct {
	ctx    context.Context
	client *grantd.Client
	args   object
	isPage bool
	take   int
}

func (c *call) text(name string) string {
	text, _ := c.args[name].(string)
	return text
}

// texts: of a list, or of a text with commas.
func (c *call) texts(name string) []string {
	if text := c.text(name); text != "" {
		return strings.Split(text, ",")
	}
	list, _ := c.args[name].([]any)
	texts := make([]string, len(list))
	for index, each := range list {
		texts[index] = each.(string)
	}
	return texts
}

// limit: the zero value of Go leaves it to the service, so a limit of 0 is sent as another one that is out of bounds.
func (c *call) limit() int {
	if limit, has := c.args["limit"].(float64); has {
		if limit == 0 {
			return -1
		}
		return int(limit)
	}
	return 0
}

func listed[T any](c *call, items iter.Seq2[T, error]) any {
	found := []any{}
	for item, err := range items {
		if err != nil {
			return outcomeOf(nil, err)
		}
		found = append(found, plain(item))
		if len(found) == c.take {
			break
		}
	}
	return object{"items": found}
}

func pageOf[T any](items []T, cursor any, err error) any {
	if err != nil {
		return outcomeOf(nil, err)
	}
	return object{"page": object{"items": plain(items), "cursor": plain(cursor)}}
}

func grantRequest(from object) grantd.GrantRequest {
	text := func(name string) string {
		given, _ := from[name].(string)
		return given
	}
	request := grantd.GrantRequest{Subject: text("subject"), Relation: text("relation"), Object: text("object")}
	if at, has := from["expires_at"]; has && at == nil {
		request.Expires = grantd.NeverExpires
	} else if has {
		parsed, err := time.Parse(time.RFC3339Nano, at.(string))
		if err != nil {
			panic(err)
		}
		request.Expires = grantd.ExpiresAt(parsed)
	}
	if condition, has := from["condition"]; has && condition == nil {
		request.Condition = grantd.Unconditional
	} else if has {
		decode(condition, &request.Condition)
	}
	return request
}

var calls = map[string]func(*call) any{
	"check":             check,
	"checkBulk":         checkBulk,
	"createGrant":       createGrant,
	"revokeGrant":       revokeGrant,
	"writeBulk":         writeBulk,
	"revokeGrants":      revokeGrants,
	"listObjects":       listObjects,
	"listSubjects":      listSubjects,
	"listGrants":        listGrants,
	"snapshotGrants":    snapshotGrants,
	"listNamespaces":    listNamespaces,
	"createNamespace":   createNamespace,
	"listKeys":          listKeys,
	"createKey":         createKey,
	"revokeKey":         revokeKey,
	"readRules":         readRules,
	"listRulesVersions": listRulesVersions,
	"readRulesVersion":  readRulesVersion,
	"writeRules":        writeRules,
	"listChanges":       listChanges,
	"evaluate":          evaluate,
	"evaluateMany":      evaluateMany,
	"searchSubjects":    searchSubjects,
	"searchResources":   searchResources,
	"searchActions":     searchActions,
	"readJoin":          readJoin,
	"readSets":          readSets,
	"readOpenapi":       readOpenapi,
}

// with: the context of the call, if any.
func (c *call) with() grantd.CallContext {
	var with grantd.CallContext
	decode(object{"context": c.args["context"], "context_grants": c.args["context_grants"]}, &with)
	return with
}

func check(c *call) any {
	subject, relation, of, with := c.text("subject"), c.text("relation"), c.text("object"), c.with()
	if explain, _ := c.args["explain"].(bool); explain {
		return outcomeOf(c.client.ExplainWith(c.ctx, with, subject, relation, of))
	}
	if with.Context != nil || with.ContextGrants != nil {
		return outcomeOf(c.client.CheckWith(c.ctx, with, subject, relation, of))
	}
	return outcomeOf(c.client.Check(c.ctx, subject, relation, of))
}

func checkBulk(c *call) any {
	var questions []grantd.Question
	decode(c.args["checks"], &questions)
	result, err := c.client.CheckBulkWith(c.ctx, c.with(), questions)
	authorized := make([]bool, len(result.Results))
	for index, one := range result.Results {
		authorized[index] = one.Authorized
	}
	return outcomeOf(authorized, err)
}

func createGrant(c *call) any { return outcomeOf(c.client.CreateGrant(c.ctx, grantRequest(c.args))) }

func revokeGrant(c *call) any {
	tuple := grantd.Tuple{Subject: c.text("subject"), Relation: c.text("relation"), Object: c.text("object")}
	return outcomeOf(c.client.RevokeGrant(c.ctx, tuple))
}

func writeBulk(c *call) any {
	var write grantd.BulkWrite
	grants, _ := c.args["grants"].([]any)
	for _, one := range grants {
		write.Grants = append(write.Grants, grantRequest(one.(object)))
	}
	decode(c.args["revocations"], &write.Revocations)
	decode(c.args["if"], &write.If)
	return outcomeOf(c.client.WriteBulk(c.ctx, write))
}

func revokeGrants(c *call) any {
	var filter grantd.GrantFilter
	decode(c.args, &filter)
	return outcomeOf(c.client.RevokeGrants(c.ctx, filter))
}

func listObjects(c *call) any {
	query := grantd.ObjectsQuery{
		Subject: c.text("subject"), Relation: c.text("relation"), Namespace: c.text("namespace"), Via: c.text("via"),
		Limit: c.limit(), Cursor: c.text("cursor"), CallContext: c.with(),
	}
	if c.isPage {
		page, err := c.client.ListObjectsPage(c.ctx, query)
		return pageOf(page.Objects, page.NextCursor, err)
	}
	return listed(c, c.client.ListObjects(c.ctx, query))
}

func listSubjects(c *call) any {
	query := grantd.SubjectsQuery{
		Object: c.text("object"), Relation: c.text("relation"), Namespace: c.text("namespace"), Via: c.text("via"),
		Include: c.text("include"), Limit: c.limit(), Cursor: c.text("cursor"), CallContext: c.with(),
	}
	if c.isPage {
		page, err := c.client.ListSubjectsPage(c.ctx, query)
		outcome := pageOf(page.Subjects, page.NextCursor, err)
		if len(page.Excluded) > 0 && err == nil {
			outcome.(object)["page"].(object)["excluded"] = plain(page.Excluded)
		}
		return outcome
	}
	return listed(c, c.client.ListSubjects(c.ctx, query))
}

func listGrants(c *call) any {
	query := grantd.GrantsQuery{
		Subject: c.text("subject"), Object: c.text("object"), Relation: c.text("relation"),
		Limit: c.limit(), Cursor: c.text("cursor"),
	}
	if !c.isPage {
		return listed(c, c.client.ListGrants(c.ctx, query))
	}
	page, err := c.client.ListGrantsPage(c.ctx, query)
	if err != nil {
		return outcomeOf(nil, err)
	}
	items, cursor := plain(page.Grants), plain(page.NextCursor)
	return object{"page": object{"items": items, "cursor": cursor, "feed_cursor": page.FeedCursor}}
}

func snapshotGrants(c *call) any {
	query := grantd.SnapshotQuery{On: c.texts("on"), Limit: c.limit(), Cursor: c.text("cursor")}
	if c.isPage {
		page, err := c.client.SnapshotGrantsPage(c.ctx, query)
		outcome := pageOf(page.Grants, page.NextCursor, err)
		if err == nil {
			members := outcome.(object)["page"].(object)
			members["feed_cursor"], members["seq"] = page.FeedCursor, page.Seq
		}
		return outcome
	}
	return listed(c, func(yield func(grantd.Grant, error) bool) {
		for page, err := range c.client.SnapshotGrants(c.ctx, query) {
			if err != nil {
				yield(grantd.Grant{}, err)
				return
			}
			for _, grant := range page.Grants {
				if !yield(grant, nil) {
					return
				}
			}
		}
	})
}

func listNamespaces(c *call) any {
	namespaces, err := c.client.ListNamespaces(c.ctx)
	if err != nil || c.isPage {
		return pageOf(namespaces, nil, err)
	}
	return object{"items": plain(namespaces)}
}

func createNamespace(c *call) any {
	return outcomeOf(c.client.CreateNamespace(c.ctx, c.text("name")))
}

func listKeys(c *call) any {
	query := grantd.KeysQuery{Limit: c.limit(), Cursor: c.text("cursor")}
	if c.isPage {
		page, err := c.client.ListKeysPage(c.ctx, query)
		return pageOf(page.Keys, page.NextCursor, err)
	}
	return listed(c, c.client.ListKeys(c.ctx, query))
}

func createKey(c *call) any {
	var request grantd.KeyRequest
	decode(c.args, &request)
	request.IdempotencyKey = c.text("idempotency_key")
	return outcomeOf(c.client.CreateKey(c.ctx, request))
}

func revokeKey(c *call) any { return outcomeOf(c.client.RevokeKey(c.ctx, c.text("key_id"))) }

func readRules(c *call) any {
	if isText, _ := c.args["text"].(bool); isText {
		return readRulesText(c, 0)
	}
	if revision := c.text("unless_revision"); revision != "" {
		rules, err := c.client.ReadRulesUnless(c.ctx, revision)
		if err != nil || rules == nil {
			return outcomeOf(nil, err)
		}
		return rulesOutcome(*rules, nil)
	}
	return rulesOutcome(c.client.ReadRules(c.ctx))
}

func listRulesVersions(c *call) any {
	versions, err := c.client.ListRulesVersions(c.ctx)
	if err != nil || c.isPage {
		return pageOf(versions, nil, err)
	}
	return object{"items": plain(versions)}
}

func readRulesVersion(c *call) any {
	version, _ := c.args["version"].(float64)
	if isText, _ := c.args["text"].(bool); isText {
		return readRulesText(c, int64(version))
	}
	return rulesOutcome(c.client.ReadRulesVersion(c.ctx, int64(version)))
}

func readRulesText(c *call, version int64) any {
	rules, err := c.client.ReadRulesText(c.ctx, version)
	return outcomeOf(object{"text": rules.Text, "revision": rules.Revision}, err)
}

func rulesOutcome(rules grantd.Rules, err error) any {
	return outcomeOf(object{"rule_set": rules.RuleSet, "revision": rules.Revision}, err)
}

func writeRules(c *call) any {
	dryRun, _ := c.args["dry_run"].(bool)
	if text, isText := c.args["rule_set"].(string); isText {
		var options []grantd.RulesOption
		if c.text("outside_types") == "keep" {
			options = append(options, grantd.KeepOutsideTypes)
		}
		if dryRun {
			return outcomeOf(c.client.PreviewRulesText(c.ctx, text, c.text("revision"), options...))
		}
		return rulesOutcome(c.client.WriteRulesText(c.ctx, text, c.text("revision"), options...))
	}
	var rules grantd.RuleSetRequest
	decode(c.args["rule_set"], &rules)
	if dryRun {
		return outcomeOf(c.client.PreviewRules(c.ctx, rules, c.text("revision")))
	}
	return rulesOutcome(c.client.WriteRules(c.ctx, rules, c.text("revision")))
}

func listChanges(c *call) any {
	query := grantd.ChangesQuery{
		Cursor: c.text("cursor"), Since: c.text("since"), Namespaces: c.texts("namespace"),
		Relations: c.texts("relation"), On: c.texts("on"), Actions: c.texts("action"),
		Checkpoints: c.text("checkpoints") == "batch",
	}
	if c.isPage {
		page, err := c.client.ListChangesPage(c.ctx, query, c.limit(), 0)
		outcome := pageOf(page.Changes, page.NextCursor, err)
		if err == nil {
			outcome.(object)["page"].(object)["seq"] = page.Seq
		}
		return outcome
	}
	return listed(c, func(yield func(object, error) bool) {
		for event, err := range c.client.Changes(c.ctx, query) {
			outcome := object{"cursor": event.Cursor, "change": event.Change}
			if event.Change == nil {
				outcome = object{"cursor": event.Cursor, "seq": event.Seq}
			}
			if !yield(outcome, err) {
				return
			}
		}
	})
}

func evaluate(c *call) any {
	var request grantd.EvaluationRequest
	decode(c.args, &request)
	return outcomeOf(c.client.Evaluate(c.ctx, request))
}

func evaluateMany(c *call) any {
	var request grantd.EvaluationsRequest
	decode(c.args, &request.PartialEvaluation)
	decode(c.args["evaluations"], &request.Evaluations)
	options, _ := c.args["options"].(object)
	request.Semantic, _ = options["evaluations_semantic"].(string)
	return outcomeOf(c.client.EvaluateMany(c.ctx, request))
}

func searchedPage[T any](items []T, info grantd.PageInfo, err error) any {
	if info.NextToken == "" {
		return pageOf(items, nil, err)
	}
	return pageOf(items, info.NextToken, err)
}

func searchSubjects(c *call) any {
	var request grantd.SubjectSearch
	decode(c.args, &request)
	if c.isPage {
		page, err := c.client.SearchSubjectsPage(c.ctx, request)
		return searchedPage(page.Results, page.Page, err)
	}
	return listed(c, c.client.SearchSubjects(c.ctx, request))
}

func searchResources(c *call) any {
	var request grantd.ResourceSearch
	decode(c.args, &request)
	if c.isPage {
		page, err := c.client.SearchResourcesPage(c.ctx, request)
		return searchedPage(page.Results, page.Page, err)
	}
	return listed(c, c.client.SearchResources(c.ctx, request))
}

func searchActions(c *call) any {
	var request grantd.ActionSearch
	decode(c.args, &request)
	if c.isPage {
		page, err := c.client.SearchActionsPage(c.ctx, request)
		return searchedPage(page.Results, page.Page, err)
	}
	return listed(c, c.client.SearchActions(c.ctx, request))
}

func readJoin(c *call) any {
	var query struct {
		Namespace, Name string
		Deep            []string
	}
	decode(c.args, &query)
	return outcomeOf(c.client.ReadJoin(c.ctx, query.Namespace, query.Name, query.Deep...))
}

func readSets(c *call) any {
	var sets grantd.SetsRequest
	decode(c.args, &sets)
	// JSON would change a text that is not UTF-8.
	sets.Subject = c.text("subject")
	return outcomeOf(c.client.ReadSets(c.ctx, sets))
}

func readOpenapi(c *call) any { return outcomeOf(c.client.ReadOpenAPI(c.ctx)) }
