package main

import (
	"fmt"
	"testing"
)

// What the grants say, decided naively.
type held map[string]bool

func heldIn(data dataSet, shape string) held {
	found := held{}
	count, of := data.loaded(shape)
	for number := range count {
		grant := of(number)
		found[grant.fullSubject()+" "+grant.of.relation+" "+grant.fullObject()] = true
	}
	return found
}

// Directly, or through one of the teams.
func (h held) has(teams []string, subject, relation, object string) bool {
	if h[subject+" "+relation+" "+object] {
		return true
	}
	for _, team := range teams {
		if h[subject+" member team:"+team] && h["team:"+team+"#member "+relation+" "+object] {
			return true
		}
	}
	return false
}

func TestEveryQuestionAboutGatesHasTheAnswerThatTheGrantsGive(t *testing.T) {
	data := dataSet{grants: 20_000}
	grants := heldIn(data, "gated")
	if count := data.gatedCount(); len(grants) != count {
		t.Fatalf("%d of %d grants are different", len(grants), count)
	}
	teams := []string{listViewers, listEditors}
	for unit := range data.gatedUnits() {
		teams = append(teams, readers(unit))
		for side := range gatedSides {
			teams = append(teams, editors(unit, side), guests(unit, side))
		}
	}
	asked := map[tuple]bool{}
	allowed := 0
	for number := range 10 * questionCount {
		about := data.question("gated", number)
		asked[about.tuple] = true
		subject, object := about.fullSubject(), about.fullObject()
		if !grants.has(teams, subject, "viewer", object) {
			t.Fatalf("%s is no viewer of %s, so the other operand does not decide", subject, object)
		}
		right := !grants.has(teams, subject, "guest", object)
		if about.of == mayPublish {
			right = grants.has(teams, subject, "editor", object)
		}
		if about.allowed != right {
			t.Fatalf("question %d: %t instead of %t", number, about.allowed, right)
		}
		if right {
			allowed++
		}
	}
	if len(asked) != 10*questionCount || allowed != 5*questionCount {
		t.Fatalf("%d different questions, %d of them allowed", len(asked), allowed)
	}
}

func TestEveryQuestionAboutAConditionIsDecidedByItsMoment(t *testing.T) {
	data := dataSet{grants: 20_000}
	grants := heldIn(data, "conditional")
	if count := data.conditionalCount(); len(grants) != count {
		t.Fatalf("%d of %d grants are different", len(grants), count)
	}
	asked := map[string]bool{}
	for number := range 10 * questionCount {
		about := data.question("conditional", number)
		asked[fmt.Sprint(about.tuple, *about.context)] = true
		if !grants.has(nil, about.fullSubject(), "viewer", about.fullObject()) {
			t.Fatalf("question %d is about no grant", number)
		}
		at := about.context
		right := at.Second >= 32400 && at.Second < 61200 && at.Zone == at.Home
		if about.allowed != right || right != (number%2 == 0) {
			t.Fatalf("question %d: %t instead of %t", number, about.allowed, right)
		}
	}
	if len(asked) != 10*questionCount {
		t.Fatalf("%d different questions", len(asked))
	}
}
