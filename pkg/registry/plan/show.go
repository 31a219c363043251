package plan

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/plan"
)

// place is where an answer begins: at a write, by its number, in a namespace; the zero value is the beginning.
type place struct {
	Namespace string `json:"n"`
	Write     int    `json:"w"`
}

var errContinue = errors.New("is none that an answer has given; ask from the beginning")

// position reads a place that an earlier answer has given.
func position(text string) (place, error) {
	var at place
	if text == "" {
		return at, nil
	}
	data, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || json.Unmarshal(data, &at) != nil || at.Namespace == "" || at.Write < 0 {
		return at, errContinue
	}
	return at, nil
}

func (at place) String() string {
	data, err := json.Marshal(at)
	if err != nil {
		panic(err) // a struct of a string and a number
	}
	return base64.RawURLEncoding.EncodeToString(data)
}

// show tells what the requester may see of a plan, from a place on, and at most so many writes.
func (p *Planner) show(ctx context.Context, m *made, from place, limit int) hnc.HierarchyPlanStatus {
	status := hnc.HierarchyPlanStatus{Unknown: m.unknown, Summary: summary(m.effects)}
	for _, err := range m.refusals {
		status.Refusals = append(status.Refusals, hnc.PlannedRefusal{Reason: apierrors.ReasonForError(err), Message: err.Error()})
	}
	s := p.sight(m)
	started := from.Namespace == ""
	for _, e := range m.effects {
		first := 0
		if !started {
			if e.Namespace != from.Namespace {
				continue
			}
			started, first = true, min(from.Write, len(e.Writes))
		}
		if limit <= 0 {
			status.Continue = place{Namespace: e.Namespace, Write: first}.String()
			break
		}
		last := min(len(e.Writes), first+limit)
		status.Namespaces = append(status.Namespaces, p.namespace(ctx, s, e, first, last))
		limit -= max(1, last-first)
		if last < len(e.Writes) {
			status.Continue = place{Namespace: e.Namespace, Write: last}.String()
			break
		}
	}
	return status
}

// namespace tells of one namespace the writes from first to last.
func (p *Planner) namespace(ctx context.Context, s *sight, e plan.Effect, first, last int) hnc.NamespacePlan {
	n := hnc.NamespacePlan{Name: e.Namespace, Fate: e.Fate}
	hidden := map[hnc.HiddenObjects]int{}
	for _, w := range e.Writes[first:last] {
		if !s.sees(ctx, w) {
			h := hnc.HiddenObjects{Action: action(w), Group: w.Kind.Group, Resource: w.Kind.Resource}
			at, ok := hidden[h]
			if !ok {
				at = len(n.Hidden)
				hidden[h] = at
				n.Hidden = append(n.Hidden, h)
			}
			n.Hidden[at].Count++
			continue
		}
		n.Objects = append(n.Objects, hnc.PlannedObject{
			Action: action(w), Group: w.Kind.Group, Version: w.Kind.Version, Resource: w.Kind.Resource, Kind: w.Kind.Kind, Name: w.Name,
			Source: origin(w), Difference: p.difference(ctx, s, w),
		})
	}
	if first == 0 {
		n.Access = s.access(ctx, e)
		n.Quotas = p.quotas(ctx, s, e)
	}
	return n
}

// action tells what a write does.
func action(w copies.Write) hnc.PlannedAction {
	switch {
	case w.Verb == copies.Create:
		return hnc.ActionAdd
	case w.Verb == copies.Delete:
		return hnc.ActionRemove
	case w.Verb == copies.Keep:
		return hnc.ActionKeep
	case w.Overwrites():
		return hnc.ActionOverwrite
	}
	return hnc.ActionChange
}

// origin is the namespace that an object comes from, or has come from.
func origin(w copies.Write) string {
	if w.Source == nil {
		return w.Present.InheritedFrom
	}
	return w.Source.Namespace
}

func summary(effects []plan.Effect) hnc.PlanSummary {
	var s hnc.PlanSummary
	for _, e := range effects {
		s.Namespaces++
		switch e.Fate {
		case hnc.FateDeleted:
			s.Deleted++
		case hnc.FateOrphaned:
			s.Orphaned++
		}
		for _, w := range e.Writes {
			switch action(w) {
			case hnc.ActionAdd:
				s.Added++
			case hnc.ActionChange:
				s.Changed++
			case hnc.ActionOverwrite:
				s.Overwritten++
			case hnc.ActionRemove:
				s.Removed++
			case hnc.ActionKeep:
				s.Kept++
			}
		}
	}
	return s
}
