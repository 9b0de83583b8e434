package main

// The grants with a condition, and questions about them. They are distributed like wide grants, and each holds at work:
// in the hours of an office, at home's own zone. Every question brings a moment.

import "google.golang.org/protobuf/types/known/structpb"

const (
	// The name of the condition in all models.
	atWork = "at_work"
	// As many grants as a tenth of all, but no fewer than there are questions in a warm cache.
	conditionalShare = 10
	opens, closes    = 9 * 3600, 17 * 3600
	daySeconds       = 24 * 3600
	homeZone, abroad = "CET", "PST"
)

var recordViewer = &kinds{"user", "", "viewer", "record"}

// condition names the condition of a grant; most have none.
func (k *kinds) condition() string {
	if k == recordViewer {
		return atWork
	}
	return ""
}

// moment is the context of a check: the values of the condition's parameters.
type moment struct {
	Second int    `json:"second"`
	Zone   string `json:"zone"`
	Home   string `json:"home"`
}

// asStruct is what the peers' requests carry; nil without a moment.
func (m *moment) asStruct() *structpb.Struct {
	if m == nil {
		return nil
	}
	return &structpb.Struct{Fields: map[string]*structpb.Value{
		"second": structpb.NewNumberValue(float64(m.Second)),
		"zone":   structpb.NewStringValue(m.Zone),
		"home":   structpb.NewStringValue(m.Home),
	}}
}

func (d dataSet) conditionalCount() int { return max(questionCount, d.grants/conditionalShare) }

func (d dataSet) conditionalGrant(number int) tuple {
	// Half of a data set is wide.
	found := dataSet{grants: 2 * d.conditionalCount()}.wide(number/wideObjects, number%wideObjects)
	found.of = recordViewer
	return found
}

// Every other question is allowed. The user always holds the grant, so the moment decides: half of those that are not
// allowed come after hours, the others from abroad. The same grant is asked about at another moment each time.
func (d dataSet) conditionalQuestion(number int) question {
	half, count := number/2, d.conditionalCount()
	// Coprime to the number of grants, like the other strides.
	about := d.conditionalGrant(half * stride % count)
	second := (half + half/count) % (closes - opens)
	at := &moment{opens + second, homeZone, homeZone}
	switch {
	case number%2 == 0:
	case half%2 == 0:
		at.Second = (closes + second) % daySeconds
	default:
		at.Zone = abroad
	}
	return question{about, number%2 == 0, at}
}
