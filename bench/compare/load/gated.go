package main

// The grants of the questions about gates, and those questions with their right answers. They come in units that are
// alike: 400 users, all of them readers of a thousand pages through a team. Each page is also shared with one of two
// teams, which have half of the users each: half of the pages with a team of editors, the others with one of guests. In
// addition there are twenty listers, viewers of ten thousand pages through a team, and editors of every tenth of these
// through another.
//
// The rules: a viewer who is an editor, too, may publish. A viewer who is no guest may read. Teams are groups.

import "fmt"

const (
	gatedUnitGrants   = 20_000
	gatedUnitsMin     = 5
	gatedUsers        = 400
	gatedPages        = 1000
	gatedSides        = 2
	publishedPages    = gatedPages / 2
	pagesOfSide       = publishedPages / gatedSides
	teamsOfReader     = 3
	gatedShares       = 2 * gatedPages
	gatedGrantsOfUnit = gatedShares + teamsOfReader*gatedUsers
	// The listers, and what they hold.
	gatedListers   = 20
	listCandidates = 10_000
	listEdited     = 1000
	listerShares   = listCandidates + listEdited
)

var (
	viewedPage   = &kinds{"team", "member", "viewer", "page"}
	editedPage   = &kinds{"team", "member", "editor", "page"}
	visitedPage  = &kinds{"team", "member", "guest", "page"}
	mayPublish   = &kinds{"user", "", "publish", "page"}
	mayRead      = &kinds{"user", "", "read", "page"}
	listViewers  = "list-viewers"
	listEditors  = "list-editors"
	gatesOfPages = []*kinds{mayPublish, mayRead}
)

func (d dataSet) gatedUnits() int { return max(gatedUnitsMin, d.grants/gatedUnitGrants) }

func (d dataSet) gatedCount() int {
	return d.gatedUnits()*gatedGrantsOfUnit + listerShares + 2*gatedListers
}

func readers(unit int) string       { return fmt.Sprintf("readers-%06d", unit) }
func editors(unit, side int) string { return fmt.Sprintf("editors-%06d-%d", unit, side) }
func guests(unit, side int) string  { return fmt.Sprintf("guests-%06d-%d", unit, side) }
func page(unit, number int) string  { return fmt.Sprintf("p-%06d-%04d", unit, number) }
func reader(unit, number int) string {
	return fmt.Sprintf("g-%06d-%03d", unit, number)
}
func gatedLister(number int) string { return fmt.Sprintf("gl-%06d", number) }
func listedPage(number int) string  { return fmt.Sprintf("pl-%06d", number) }

func (d dataSet) gatedGrant(number int) tuple {
	unit := number / gatedGrantsOfUnit
	if unit >= d.gatedUnits() {
		return gatedListerGrant(number - d.gatedUnits()*gatedGrantsOfUnit)
	}
	number %= gatedGrantsOfUnit
	if number < gatedShares {
		return pageGrant(unit, number/2, number%2)
	}
	number -= gatedShares
	user, side := number/teamsOfReader, number/teamsOfReader%gatedSides
	teams := []string{readers(unit), editors(unit, side), guests(unit, side)}
	return tuple{reader(unit, user), teams[number%teamsOfReader], teamMember}
}

func pageGrant(unit, number, index int) tuple {
	side := number % gatedSides
	switch {
	case index == 0:
		return tuple{readers(unit), page(unit, number), viewedPage}
	case number < publishedPages:
		return tuple{editors(unit, side), page(unit, number), editedPage}
	default:
		return tuple{guests(unit, side), page(unit, number), visitedPage}
	}
}

func gatedListerGrant(number int) tuple {
	if number < listCandidates {
		return tuple{listViewers, listedPage(number), viewedPage}
	}
	number -= listCandidates
	if number < listEdited {
		return tuple{listEditors, listedPage(number * listCandidates / listEdited), editedPage}
	}
	number -= listEdited
	teams := []string{listViewers, listEditors}
	return tuple{gatedLister(number / 2), teams[number%2], teamMember}
}

// Every other question is allowed, and every other pair is about the same gate. In each case the user is a viewer, so
// that the other operand decides. All are different until every user was asked about every page of its unit.
func (d dataSet) gatedQuestion(number int) question {
	asked := number / (2 * len(gatesOfPages))
	users := d.gatedUnits() * gatedUsers
	user := asked * stride % users
	gate := gatesOfPages[number/2%len(gatesOfPages)]
	allowed := number%2 == 0
	// An editor may publish, a guest may not read.
	side, about := user%gatedSides, (asked+asked/users)%pagesOfSide*gatedSides
	if allowed != (gate == mayPublish) {
		side = 1 - side
	}
	if gate == mayRead {
		about += publishedPages
	}
	unit := user / gatedUsers
	return question{tuple{reader(unit, user%gatedUsers), page(unit, about+side), gate}, allowed, nil}
}

func gatedObjects(number int) listing {
	found := listing{name: gatedLister(number), of: mayPublish}
	for index := range listEdited {
		found.expected.add([]byte(listedPage(index * listCandidates / listEdited)))
	}
	return found
}
