// Evaluates grants under rules: a search from the name on the object, back to the subjects that hold it.

package grantdtest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/grantd/grantd/clients/go"
)

var relations = []string{"owner", "admin", "manager", "editor", "commenter", "viewer", "member", "guest", "parent"}

type ruleSet struct {
	Rules  []grantd.Rule `json:"rules"`
	Groups bool          `json:"groups"`
	Public []string      `json:"public"`
}

func (s ruleSet) revision() string {
	text, _ := json.Marshal(s)
	digest := sha256.Sum256(text)
	return hex.EncodeToString(digest[:16])
}

func (s ruleSet) defines(name string) bool {
	return slices.ContainsFunc(s.Rules, func(rule grantd.Rule) bool { return rule.Name == name })
}

// A name on an object.
type fact struct{ name, object string }

// A fact from which the wanted one follows: through the grant, if any, and then through the previous step.
type step struct {
	fact
	grant *grantd.Grant
	from  *step
}

var groupPattern = regexp.MustCompile(`^([^:]*:.+)#([A-Za-z][A-Za-z0-9_.-]{0,63})$`)

func (s ruleSet) groupOf(subject string) (fact, bool) {
	if parts := groupPattern.FindStringSubmatch(subject); s.Groups && parts != nil {
		return fact{parts[2], parts[1]}, true
	}
	return fact{}, false
}

func namespaceOf(identifier string) string {
	namespace, _, _ := strings.Cut(identifier, ":")
	return namespace
}

func (s ruleSet) isWildcard(subject string) bool {
	namespace := namespaceOf(subject)
	return subject == namespace+":*" && slices.Contains(s.Public, namespace)
}

func (f *Fake) sortedGrants() []*grantd.Grant {
	all := make([]*grantd.Grant, 0, len(f.grants))
	for _, grant := range f.grants {
		all = append(all, grant)
	}
	slices.SortFunc(all, func(a, b *grantd.Grant) int {
		if order := strings.Compare(a.Relation, b.Relation); order != 0 {
			return order
		}
		if order := strings.Compare(a.Object, b.Object); order != 0 {
			return order
		}
		return strings.Compare(a.Subject, b.Subject)
	})
	return all
}

// search visits every fact from which the wanted one follows, those with the fewest grants in between first, until
// `visit` returns true.
func (f *Fake) search(wanted fact, visit func(step *step) bool) {
	seen := map[fact]bool{}
	grants := f.sortedGrants()
	for now, next := []*step{{fact: wanted}}, []*step(nil); len(now) > 0; now, next = next, nil {
		for index := 0; index < len(now); index++ {
			at := now[index]
			if seen[at.fact] {
				continue
			}
			seen[at.fact] = true
			if visit(at) {
				return
			}
			for _, rule := range f.rules.Rules {
				if rule.Name != at.name || rule.Namespace != namespaceOf(at.object) {
					continue
				}
				for _, element := range rule.AnyOf {
					name, relation, isFrom := strings.Cut(element.Name, " from ")
					if !isFrom {
						now = append(now, &step{fact{name, at.object}, nil, at})
						continue
					}
					for _, grant := range grants {
						_, isGroup := f.rules.groupOf(grant.Subject)
						if grant.Relation == relation && grant.Object == at.object && !isGroup && !f.rules.isWildcard(grant.Subject) {
							next = append(next, &step{fact{name, grant.Subject}, grant, at})
						}
					}
				}
			}
			for _, grant := range grants {
				if group, isGroup := f.rules.groupOf(grant.Subject); isGroup && grant.Relation == at.name && grant.Object == at.object {
					next = append(next, &step{group, grant, at})
				}
			}
		}
	}
}

// holds returns a shortest chain of grants, from the subject to the object, if there is one.
func (f *Fake) holds(subject, name, object string) (because []*grantd.Grant, isHeld bool) {
	own, isGroup := f.rules.groupOf(subject)
	f.search(fact{name, object}, func(at *step) bool {
		if isGroup && at.fact == own {
			because, isHeld = chain(nil, at), true
			return true
		}
		wildcard := namespaceOf(subject) + ":*"
		for _, by := range []string{subject, wildcard} {
			if by == wildcard && by != subject && (isGroup || !f.rules.isWildcard(wildcard)) {
				continue
			}
			if grant := f.grants[tuple{by, at.name, at.object}]; grant != nil {
				because, isHeld = chain(grant, at), true
				return true
			}
		}
		return false
	})
	return because, isHeld
}

func chain(first *grantd.Grant, at *step) []*grantd.Grant {
	grants := []*grantd.Grant{}
	if first != nil {
		grants = append(grants, first)
	}
	for ; at != nil; at = at.from {
		if at.grant != nil {
			grants = append(grants, at.grant)
		}
	}
	return grants
}

// subjectsOf returns the subjects that hold the name on the object, ascending, including each group from which it
// follows; groups of the object itself only with hasSelf.
func (f *Fake) subjectsOf(name, object string, isDirect, hasSelf bool) []string {
	found := map[string]bool{}
	f.search(fact{name, object}, func(at *step) bool {
		if f.rules.Groups && !isDirect && (hasSelf || at.object != object) {
			found[at.object+"#"+at.name] = true
		}
		for of := range f.grants {
			if of.relation == at.name && of.object == at.object {
				found[of.subject] = true
			}
		}
		return isDirect
	})
	return sortedKeys(found)
}

// objectsOf returns the objects on which the subject holds the name, ascending.
func (f *Fake) objectsOf(subject, name string, isDirect bool) []string {
	candidates, found := map[string]bool{}, map[string]bool{}
	if own, isGroup := f.rules.groupOf(subject); isGroup && !isDirect {
		candidates[own.object] = true
	}
	for of := range f.grants {
		candidates[of.object] = true
	}
	for object := range candidates {
		isHeld := f.grants[tuple{subject, name, object}] != nil
		if !isDirect && !isHeld {
			_, isHeld = f.holds(subject, name, object)
		}
		if isHeld {
			found[object] = true
		}
	}
	return sortedKeys(found)
}

func sortedKeys(of map[string]bool) []string {
	keys := make([]string, 0, len(of))
	for one := range of {
		keys = append(keys, one)
	}
	slices.Sort(keys)
	return keys
}
