// Namespaces, keys and rules.

package grantdtest

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/grantd/grantd/clients/go"
)

// namespace creates it, if it does not exist.
func (o *operation) namespace(name string) (created bool) {
	if _, has := o.fake.namespaces[name]; has {
		return false
	}
	o.fake.namespaces[name] = o.fake.now()
	o.record("namespace.created", "namespace", object{"name": name})
	return true
}

func (f *Fake) namespaceJSON(name string) object {
	return object{"name": name, "created_at": timeText(f.namespaces[name])}
}

func listNamespaces(c *call) any {
	names := map[string]bool{}
	for name := range c.fake.namespaces {
		names[name] = true
	}
	list := []any{}
	for _, name := range sortedKeys(names) {
		list = append(list, c.fake.namespaceJSON(name))
	}
	return object{"namespaces": list}
}

func createNamespace(c *call) any {
	name, _ := c.body["name"].(string)
	if !namespacePattern.MatchString(name) {
		refuse(invalidRequest, `"name" is no name of a namespace`)
	}
	write := c.operation()
	if write.namespace(name) {
		c.status = http.StatusCreated
	}
	write.commit()
	return c.fake.namespaceJSON(name)
}

func keyJSON(record grantd.Key) object {
	return object{
		"key_id": record.KeyID, "name": record.Name, "scopes": record.Scopes,
		"created_at": timeText(record.CreatedAt), "expires_at": timeOrNull(record.ExpiresAt),
	}
}

func listKeys(c *call) any {
	found, next := page(c, "keys", c.fake.sortedKeys(), func(one *key) string { return one.record.KeyID })
	keys := make([]any, len(found))
	for index, one := range found {
		record := keyJSON(one.record)
		record["last_used_at"] = nil
		keys[index] = record
	}
	return object{"keys": keys, "next_cursor": next}
}

func (f *Fake) sortedKeys() []*key {
	sorted := slices.Clone(f.keys)
	slices.SortFunc(sorted, func(a, b *key) int { return strings.Compare(a.record.KeyID, b.record.KeyID) })
	return sorted
}

func createKey(c *call) any {
	scopes := textsIn(c.body, "scopes", func(scope string) bool {
		return slices.Contains([]string{"check:read", "grant:write", "admin"}, scope)
	})
	if len(scopes) == 0 {
		refuse(invalidRequest, `"scopes" must have an element`)
	}
	name, _ := c.body["name"].(string)
	expires, _ := c.expiryIn(c.body, "")
	repeat := c.header.Get("Idempotency-Key")
	if before, isRepeat := c.fake.created[repeat]; isRepeat && before.body != c.raw {
		refuse("idempotency-key-reused", "An earlier request with this Idempotency-Key had another body.")
	} else if isRepeat {
		panic(problem{"already-created", "An earlier request has created a key.", object{"key_id": before.keyID}})
	}
	added := c.fake.addKey(name, scopes, expires, c.fake.now())
	if repeat != "" {
		c.fake.created[repeat] = createdKey{added.record.KeyID, c.raw}
	}
	answer := keyJSON(added.record)
	answer["key"] = added.text
	c.status = http.StatusCreated
	return answer
}

func revokeKey(c *call) any {
	id := strings.TrimPrefix(c.path, "/v1/keys/")
	index := slices.IndexFunc(c.fake.keys, func(one *key) bool { return one.record.KeyID == id })
	if index < 0 {
		refuse("key-not-found", "The tenant has no key with this id.")
	}
	c.fake.keys = slices.Delete(c.fake.keys, index, index+1)
	c.status = http.StatusNoContent
	return nil
}

func readRules(c *call) any {
	tag := `"` + c.fake.rules.revision() + `"`
	c.answer.Set("ETag", tag)
	if c.header.Get("If-None-Match") == tag {
		c.status = http.StatusNotModified
		return nil
	}
	return c.fake.rules
}

// rulesVersions has a version for each change of the rules, ascending, and its rules.
func (f *Fake) rulesVersions() (versions []object, rules []ruleSet) {
	for _, change := range f.changes {
		set, isRules := change["rules"].(ruleSet)
		if !isRules {
			continue
		}
		lines, before := set.lines(), change["former"].(ruleSet).lines()
		versions = append(versions, object{
			"version": len(versions) + 1, "revision": set.revision(), "at": change["at"], "actor": change["actor"],
			"request_id": change["request_id"], "added": lacking(lines, before), "removed": lacking(before, lines),
		})
		rules = append(rules, set)
	}
	return versions, rules
}

func (s ruleSet) lines() []string {
	lines := append([]string{strconv.FormatBool(s.Groups)}, s.Public...)
	for _, rule := range s.Rules {
		text, _ := json.Marshal(rule)
		lines = append(lines, string(text))
	}
	return lines
}

// lacking counts the lines that the others lack.
func lacking(lines, others []string) (count int) {
	for _, line := range lines {
		if !slices.Contains(others, line) {
			count++
		}
	}
	return count
}

func listRulesVersions(c *call) any {
	versions, _ := c.fake.rulesVersions()
	list := []any{}
	for _, version := range slices.Backward(versions) {
		list = append(list, version)
	}
	return object{"versions": list}
}

func readRulesVersion(c *call) any {
	_, rules := c.fake.rulesVersions()
	version, _ := strconv.Atoi(strings.TrimPrefix(c.path, "/v1/rules/versions/"))
	if version < 1 || version > len(rules) {
		refuse("rules-version-not-found", "The rules have no such version.")
	}
	c.answer.Set("ETag", `"`+rules[version-1].revision()+`"`)
	return rules[version-1]
}

var elementPattern = regexp.MustCompile(`^` + namespaceRule + `( from ` + namespaceRule + `)?$`)

func (c *call) rulesIn() ruleSet {
	if _, has := c.body["rules"]; !has {
		refuse(invalidRequest, `"rules" is missing`)
	}
	for _, unknown := range []string{"relations", "conditions", "types"} {
		if _, has := c.body[unknown]; has {
			refuse(invalidRequest, "The fake has no %q.", unknown)
		}
	}
	set := ruleSet{Rules: []grantd.Rule{}, Public: []string{}}
	for _, one := range listIn(c.body, "rules") {
		namespace, _ := one["namespace"].(string)
		name, _ := one["name"].(string)
		if !namespacePattern.MatchString(namespace) || !namespacePattern.MatchString(name) {
			refuse(invalidRequest, "A rule has no namespace or no name.")
		}
		anyOf := textsIn(one, "any_of", elementPattern.MatchString)
		set.Rules = append(set.Rules, grantd.Rule{Namespace: namespace, Name: name, AnyOf: grantd.Names(anyOf...)})
	}
	set.Groups, _ = c.body["groups"].(bool)
	if _, has := c.body["public"]; has {
		set.Public = textsIn(c.body, "public", namespacePattern.MatchString)
	}
	for _, rule := range set.Rules {
		for _, element := range rule.AnyOf {
			name, relation, isFrom := strings.Cut(element.Name, " from ")
			if !slices.Contains(relations, name) && !set.defines(name) {
				refuse(invalidRequest, "Nothing defines the name %q.", name)
			}
			if isFrom && !slices.Contains(relations, relation) {
				refuse(invalidRequest, "%q is no built-in relation.", relation)
			}
		}
	}
	return set
}

func writeRules(c *call) any {
	set, before := c.rulesIn(), c.fake.rules
	wanted := c.header.Get("If-Match")
	if wanted != "" && wanted != "*" && wanted != `"`+before.revision()+`"` {
		refuse("precondition-failed", "The present rules have another revision.")
	}
	if c.query.Get("dry_run") == "true" {
		return c.preview(set)
	}
	write := c.operation()
	if set.revision() != before.revision() {
		c.fake.rules = set
		write.record("rules.updated", "rules", set, "former", before)
	}
	write.commit()
	c.answer.Set("ETag", `"`+set.revision()+`"`)
	return set
}

func (c *call) preview(set ruleSet) any {
	before := c.fake.rules
	groups, wildcard, granted := map[string]bool{}, 0, map[[2]string]bool{}
	for of := range c.fake.grants {
		granted[[2]string{namespaceOf(of.object), of.relation}] = true
		if groupPattern.MatchString(of.subject) && set.Groups != before.Groups {
			groups[of.subject] = true
		}
		if set.isWildcard(of.subject) != before.isWildcard(of.subject) {
			wildcard++
		}
	}
	ungranted := []any{}
	for _, rule := range set.Rules {
		for _, element := range rule.AnyOf {
			name, relation, _ := strings.Cut(element.Name, " from ")
			for _, one := range []string{name, relation} {
				place := [2]string{rule.Namespace, one}
				if slices.Contains(relations, one) && !granted[place] && (one == relation || relation == "") {
					granted[place] = true
					ungranted = append(ungranted, object{"namespace": rule.Namespace, "relation": one})
				}
			}
		}
	}
	return object{
		"rule_set": set, "revision": set.revision(), "current_revision": before.revision(),
		"changed": set.revision() != before.revision(), "group_subjects": len(groups), "public_grants": wildcard,
		"ungranted": ungranted, "complete": true, "scanned_grants": len(c.fake.grants), "scanned_grants_max": limitMax,
		// The fake does not look for them.
		"grants_not_followed": 0, "grants_outside_types": 0,
	}
}
