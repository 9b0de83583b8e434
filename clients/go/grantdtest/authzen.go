// The AuthZEN evaluations and searches.

package grantdtest

import (
	"slices"
)

// The type of the error of each part of a request.
var wrongParts = map[string]string{
	"subject": "invalid-subject", "action": "invalid-relation", "resource": "invalid-object",
}

// entityIn: the problem is nil unless it is ill-formed.
func entityIn(from object, name string) (identifier string, wrong *problem) {
	entity, _ := from[name].(object)
	kind, _ := entity["type"].(string)
	id, _ := entity["id"].(string)
	if !namespacePattern.MatchString(kind) || id == "" {
		return "", &problem{kind: wrongParts[name], detail: `"` + name + `" must have a type and an id`}
	}
	return kind + ":" + id, nil
}

func actionIn(from object) (name string, wrong *problem) {
	action, _ := from["action"].(object)
	name, isText := action["name"].(string)
	if !isText {
		return "", &problem{kind: wrongParts["action"], detail: `"action" must have a name`}
	}
	return name, nil
}

func (c *call) decide(from object) (isHeld bool, wrong *problem) {
	subject, wrong := entityIn(from, "subject")
	if wrong != nil {
		return false, wrong
	}
	name, wrong := actionIn(from)
	if wrong != nil {
		return false, wrong
	}
	resource, wrong := entityIn(from, "resource")
	if wrong != nil {
		return false, wrong
	}
	if !c.isName(name) || !identifierPattern.MatchString(subject) || !identifierPattern.MatchString(resource) {
		return false, nil
	}
	_, isHeld = c.fake.holds(subject, name, resource)
	return isHeld, nil
}

func (c *call) isName(name string) bool {
	return slices.Contains(relations, name) || c.fake.rules.defines(name)
}

func evaluate(c *call) any {
	isHeld, wrong := c.decide(c.body)
	if wrong != nil {
		panic(*wrong)
	}
	return object{"decision": isHeld}
}

func evaluateMany(c *call) any {
	given, _ := c.body["evaluations"].([]any)
	if len(given) == 0 {
		return evaluate(c)
	}
	if len(given) > bulkMax {
		refuse("bulk-too-large", "There are %d evaluations; at most %d are allowed.", len(given), bulkMax)
	}
	options, _ := c.body["options"].(object)
	semantic := options["evaluations_semantic"]
	decisions := []any{}
	for _, one := range given {
		from := object{}
		for _, name := range []string{"subject", "action", "resource"} {
			from[name] = c.body[name]
		}
		own, _ := one.(object)
		for name, value := range own {
			from[name] = value
		}
		isHeld, wrong := c.decide(from)
		decision := object{"decision": isHeld}
		if wrong != nil {
			decision["context"] = object{"error": object{"status": 400, "message": wrong.detail}}
		}
		decisions = append(decisions, decision)
		if (semantic == "deny_on_first_deny" && !isHeld) || (semantic == "permit_on_first_permit" && isHeld) {
			break
		}
	}
	return object{"evaluations": decisions}
}

func (c *call) given(name string) string {
	identifier, wrong := entityIn(c.body, name)
	if wrong != nil {
		panic(*wrong)
	}
	return identifier
}

func (c *call) wanted(name string) string {
	entity, _ := c.body[name].(object)
	kind, isText := entity["type"].(string)
	if !isText {
		refuse(wrongParts[name], `"%s" must have a type`, name)
	}
	return kind
}

func (c *call) action() string {
	name, wrong := actionIn(c.body)
	if wrong != nil {
		panic(*wrong)
	}
	return name
}

func searchSubjects(c *call) any {
	resource, kind, name := c.given("resource"), c.wanted("subject"), c.action()
	return c.entities("subjects", kind, ofNamespace(c.fake.subjectsOf(name, resource, false, false), kind), resource, name)
}

func searchResources(c *call) any {
	subject, kind, name := c.given("subject"), c.wanted("resource"), c.action()
	return c.entities("resources", kind, ofNamespace(c.fake.objectsOf(subject, name, false), kind), subject, name)
}

func (c *call) entities(what, kind string, all []string, of, name string) any {
	if !c.isName(name) {
		all = nil
	}
	found, next := c.searchPage(queryName(what, kind, of, name), all)
	results := make([]any, len(found))
	for index, identifier := range found {
		results[index] = object{"type": kind, "id": identifier[len(kind)+1:]}
	}
	return object{"page": object{"next_token": next, "count": len(results)}, "results": results}
}

func (c *call) searchPage(query string, all []string) ([]string, string) {
	page, _ := c.body["page"].(object)
	limit, token := limitMax, ""
	if given, isNumber := page["limit"].(float64); isNumber {
		limit = max(1, min(int(given), limitMax))
	}
	token, _ = page["token"].(string)
	return cut(query, all, func(item string) string { return item }, limit, token)
}

func searchActions(c *call) any {
	subject, resource := c.given("subject"), c.given("resource")
	names := map[string]bool{}
	for _, rule := range c.fake.rules.Rules {
		if rule.Namespace == namespaceOf(resource) && !slices.Contains(relations, rule.Name) {
			names[rule.Name] = true
		}
	}
	if len(names) == 0 {
		for _, name := range relations {
			names[name] = true
		}
	}
	held := []string{}
	for _, name := range sortedKeys(names) {
		if _, isHeld := c.fake.holds(subject, name, resource); isHeld {
			held = append(held, name)
		}
	}
	found, next := c.searchPage(queryName("actions", subject, resource), held)
	results := make([]any, len(found))
	for index, name := range found {
		results[index] = object{"name": name}
	}
	return object{"page": object{"next_token": next, "count": len(results)}, "results": results}
}
