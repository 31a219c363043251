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

// batch is of how many namespaces the effects are held at a time.
const batch = 32

// show returns what the requester may see of a plan, from a place on, and at most so many writes.
func (p *Planner) show(ctx context.Context, m *made, from place, limit int) (hnc.HierarchyPlanStatus, error) {
	status := hnc.HierarchyPlanStatus{Unknown: m.unknown, Refusals: refusals(m.refusals)}
	s := p.sight(m)
	status.Hidden = s.hidden(ctx)
	page := &page{Planner: p, sight: s, status: &status, from: from, started: from.Namespace == "", limit: limit}
	pending := make([]plan.Effect, 0, batch)
	flush := func() error {
		s.ask(ctx, pending)
		for _, e := range pending {
			if e, ok := s.visible(ctx, e); ok {
				count(&status.Summary, e)
				page.add(ctx, e)
			}
		}
		pending = pending[:0]
		return ctx.Err()
	}
	for e := range m.effects {
		if pending = append(pending, e); len(pending) == batch {
			if err := flush(); err != nil {
				return status, apierrors.NewTimeoutError("the change affects too much to be told in time; ask about a smaller subtree", 0)
			}
		}
	}
	if err := flush(); err != nil {
		return status, apierrors.NewTimeoutError("the change affects too much to be told in time; ask about a smaller subtree", 0)
	}
	return status, nil
}

// page collects the part of an answer that is asked for.
type page struct {
	*Planner
	sight  *sight
	status *hnc.HierarchyPlanStatus
	from   place
	// started says that the place has been reached, full that what comes next is not part of the answer.
	started, full bool
	limit         int
}

// add adds the effect in one namespace if it belongs to the page.
func (p *page) add(ctx context.Context, e plan.Effect) {
	first := 0
	if !p.started {
		if e.Namespace != p.from.Namespace {
			return
		}
		p.started, first = true, min(p.from.Write, len(e.Writes))
	}
	if p.full {
		return
	}
	if p.limit <= 0 {
		p.end(e, first)
		return
	}
	last := min(len(e.Writes), first+p.limit)
	p.status.Namespaces = append(p.status.Namespaces, p.namespace(ctx, p.sight, e, first, last))
	p.limit -= max(1, last-first)
	if last < len(e.Writes) {
		p.end(e, last)
	}
}

func (p *page) end(e plan.Effect, write int) {
	p.full, p.status.Continue = true, place{Namespace: e.Namespace, Write: write}.String()
}

// namespace returns the writes from first to last of one namespace.
func (p *Planner) namespace(ctx context.Context, s *sight, e plan.Effect, first, last int) hnc.NamespacePlan {
	n := hnc.NamespacePlan{Name: e.Namespace, Fate: e.Fate}
	for _, w := range e.Writes[first:last] {
		n.Objects = append(n.Objects, hnc.PlannedObject{
			Action: action(w), Group: w.Kind.Group, Version: w.Kind.Version, Resource: w.Kind.Resource, Kind: w.Kind.Kind, Name: w.Name,
			Source: origin(w), Difference: p.difference(ctx, s, w),
		})
	}
	if first == 0 {
		n.Access = s.access(e)
		n.Quotas = p.quotas(ctx, s, e)
	}
	return n
}

func refusals(errs []error) []hnc.PlannedRefusal {
	var list []hnc.PlannedRefusal
	for _, err := range errs {
		list = append(list, hnc.PlannedRefusal{Reason: apierrors.ReasonForError(err), Message: err.Error()})
	}
	return list
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

// count adds the effect in one namespace to a summary.
func count(s *hnc.PlanSummary, e plan.Effect) {
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
