package main

// The grants of the questions about rules, and those questions with their right answers. They come in units that are
// alike: a tree of folders (1, 10 and 100 on three levels) with a thousand files, each folder shared with five teams of
// its own; 200 users in ten teams each, of which one shares the top folder of the unit, and nine the lowest folders of
// other units; one lister, who holds the thousand files through ten teams and ten folders; and one crowded file, which a
// thousand users in ten teams hold through two folders.
//
// The rules: whoever is viewer of a folder is viewer of the folders and files in it. Teams are groups.

import "fmt"

const (
	ruledUnitGrants = 5000
	ruledUnitsMin   = 20
	ruledUsers      = 200
	ruledFiles      = 1000
	foldersMiddle   = 10
	foldersLow      = 100
	teamsOfFolder   = 5
	teamsOfUser     = 10
	listTeams       = 10
	crowdTeams      = 10
	// Teams of the folders on the three levels: 0 to 4, 5 to 49, 50 to 99.
	middleTeams, lowTeams = 5, 50
	middleCount, lowCount = 45, 50
	listerTeam, crowdTeam = 100, 110
	parentFolders         = foldersMiddle + foldersLow + ruledFiles
	shares                = (1 + foldersMiddle + foldersLow) * teamsOfFolder
	memberships           = ruledUsers * teamsOfUser
	listerGrants          = 2 * listTeams
	crowdGrants           = ruledFiles + crowdTeams + 2
	ruledGrantsOfUnit     = parentFolders + shares + memberships + listerGrants + crowdGrants
	foreignTeams          = teamsOfUser - 1
)

var (
	inFolder     = &kinds{"folder", "", "parent", "folder"}
	fileIn       = &kinds{"folder", "", "parent", "file"}
	sharedFolder = &kinds{"team", "member", "viewer", "folder"}
	teamMember   = &kinds{"user", "", "member", "team"}
	fileViewer   = &kinds{"user", "", "viewer", "file"}
)

func (d dataSet) ruledUnits() int { return max(ruledUnitsMin, d.grants/ruledUnitGrants) }

func team(unit, number int) string { return fmt.Sprintf("t-%06d-%03d", unit, number) }

// The folders of a unit: 0 is the top, then those in the middle, then the lowest.
func folder(unit, number int) string { return fmt.Sprintf("f-%06d-%03d", unit, number) }
func file(unit, number int) string   { return fmt.Sprintf("r-%06d-%04d", unit, number) }
func ruledUser(unit, number int) string {
	return fmt.Sprintf("u-%06d-%03d", unit, number)
}
func crowdUser(unit, number int) string { return fmt.Sprintf("x-%06d-%04d", unit, number) }
func lister(unit int) string            { return fmt.Sprintf("l-%06d", unit) }
func crowdFile(unit int) string         { return fmt.Sprintf("c-%06d", unit) }

func (d dataSet) ruledGrant(number int) tuple {
	unit := number / ruledGrantsOfUnit
	number %= ruledGrantsOfUnit
	if number < parentFolders {
		return parentGrant(unit, number)
	}
	number -= parentFolders
	if number < shares {
		return shareGrant(unit, number/teamsOfFolder, number%teamsOfFolder)
	}
	number -= shares
	if number < memberships {
		return d.membership(unit, number/teamsOfUser, number%teamsOfUser)
	}
	number -= memberships
	if number < listerGrants {
		return listerGrant(unit, number)
	}
	return crowdGrant(unit, number-listerGrants)
}

func parentGrant(unit, number int) tuple {
	if number < foldersMiddle {
		return tuple{folder(unit, 0), folder(unit, 1+number), inFolder}
	}
	number -= foldersMiddle
	if number < foldersLow {
		return tuple{folder(unit, 1+number%foldersMiddle), folder(unit, 1+foldersMiddle+number), inFolder}
	}
	number -= foldersLow
	return tuple{folder(unit, 1+foldersMiddle+number%foldersLow), file(unit, number), fileIn}
}

func shareGrant(unit, of, index int) tuple {
	number := index
	switch {
	case of > foldersMiddle:
		number = lowTeams + ((of-1-foldersMiddle)*teamsOfFolder+index)%lowCount
	case of > 0:
		number = middleTeams + ((of-1)*teamsOfFolder+index)%middleCount
	}
	return tuple{team(unit, number), folder(unit, of), sharedFolder}
}

func (d dataSet) membership(unit, user, index int) tuple {
	if index == 0 {
		return tuple{ruledUser(unit, user), team(unit, user%teamsOfFolder), teamMember}
	}
	other := (unit + index) % d.ruledUnits()
	return tuple{ruledUser(unit, user), team(other, lowTeams+(user+index*wideStride)%lowCount), teamMember}
}

func listerGrant(unit, number int) tuple {
	index := number % listTeams
	if number < listTeams {
		return tuple{lister(unit), team(unit, listerTeam+index), teamMember}
	}
	return tuple{team(unit, listerTeam+index), folder(unit, 1+index), sharedFolder}
}

func crowdGrant(unit, number int) tuple {
	const inner, outer = 1 + foldersMiddle + foldersLow, 2 + foldersMiddle + foldersLow
	if number < ruledFiles {
		return tuple{crowdUser(unit, number), team(unit, crowdTeam+number%crowdTeams), teamMember}
	}
	number -= ruledFiles
	switch number {
	case crowdTeams:
		return tuple{folder(unit, inner), crowdFile(unit), fileIn}
	case crowdTeams + 1:
		return tuple{folder(unit, outer), folder(unit, inner), inFolder}
	default:
		return tuple{team(unit, crowdTeam+number), folder(unit, outer), sharedFolder}
	}
}

// Every other question is allowed, through a team and three folders; the next is about the same user and a file of a
// unit with which that user has nothing to do. All are different until every user was asked about a thousand files.
func (d dataSet) ruledQuestion(number int) question {
	half := number / 2
	units := d.ruledUnits()
	users := units * ruledUsers
	user := half * stride % users
	unit := user / ruledUsers
	about := (half + half/users) % ruledFiles
	subject := ruledUser(unit, user%ruledUsers)
	if number%2 == 0 {
		return question{tuple{subject, file(unit, about), fileViewer}, true, nil}
	}
	foreign := (unit + 1 + foreignTeams + half%(units-1-foreignTeams)) % units
	return question{tuple{subject, file(foreign, about), fileViewer}, false, nil}
}

func (d dataSet) ruledObjects(unit int) listing {
	found := listing{name: lister(unit), of: fileViewer}
	for number := range ruledFiles {
		found.expected.add([]byte(file(unit, number)))
	}
	return found
}

func (d dataSet) ruledSubjects(unit int) listing {
	found := listing{name: crowdFile(unit), of: fileViewer}
	for number := range ruledFiles {
		found.expected.add([]byte(crowdUser(unit, number)))
	}
	return found
}
