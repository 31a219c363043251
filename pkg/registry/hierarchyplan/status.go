package hierarchyplan

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/plan"
)

// position is where a page begins: the numbers of a write and of a change of access in a namespace. The zero value is
// the beginning.
type position struct {
	Namespace string `json:"n"`
	Write     int    `json:"w"`
	Access    int    `json:"a,omitempty"`
}

var errContinue = errors.New("must be the continue value of an earlier answer; omit it to start from the beginning")

// parsePosition decodes the continue value of an earlier answer.
func parsePosition(text string) (position, error) {
	var at position
	if text == "" {
		return at, nil
	}
	data, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || json.Unmarshal(data, &at) != nil || at.Namespace == "" || at.Write < 0 || at.Access < 0 {
		return at, errContinue
	}
	return at, nil
}

func (at position) String() string {
	data, err := json.Marshal(at)
	if err != nil {
		panic(err) // a string and a number always marshal
	}
	return base64.RawURLEncoding.EncodeToString(data)
}

// effectBatch bounds the namespaces whose effects are filtered at a time. Those with many writes are fewer.
const effectBatch = 32

// status returns what the requester may see of a plan, from a position on, with at most limit writes.
func (p *Planner) status(ctx context.Context, pr *prediction, from position, limit int) (hnc.HierarchyPlanStatus, error) {
	status := hnc.HierarchyPlanStatus{Unknown: pr.unknown, Refusals: refusals(pr.refusals)}
	v := p.visibility(pr)
	status.Hidden = v.hiddenKinds(ctx)
	page := &page{Planner: p, visibility: v, status: &status, start: from, started: from.Namespace == "", limit: limit}
	pending := make([]plan.Effect, 0, effectBatch)
	held := int64(0)
	flush := func() error {
		v.prefetch(ctx, pending)
		for _, e := range pending {
			if e, ok := v.filter(ctx, e); ok {
				count(&status.Summary, e)
				page.add(ctx, e)
			}
		}
		clear(pending) // or its capacity would keep the writes
		pending, held = pending[:0], 0
		if ctx.Err() != nil {
			return apierrors.NewTimeoutError("the change affects too many objects to plan in time; plan a smaller subtree", 0)
		}
		return nil
	}
	for e := range pr.effects {
		if pending, held = append(pending, e), held+pr.effectSize(e); len(pending) == effectBatch || held >= effectBytes {
			if err := flush(); err != nil {
				return status, err
			}
		}
	}
	err := flush() // It changes the status.
	return status, err
}

// page collects one page of a plan.
type page struct {
	*Planner
	visibility *visibility
	status     *hnc.HierarchyPlanStatus
	start      position
	// started reports that the position has been reached, full that the page is complete.
	started, full bool
	limit         int
}

// add adds the effect in one namespace if it belongs to the page.
func (p *page) add(ctx context.Context, e plan.Effect) {
	first := position{Namespace: e.Namespace}
	if !p.started {
		if e.Namespace != p.start.Namespace {
			return
		}
		p.started, first = true, p.start
		first.Write = min(first.Write, len(e.Writes))
	}
	if p.full {
		return
	}
	if p.limit <= 0 {
		p.stop(first)
		return
	}
	// A page counts what it contains: RoleBindings can have any number of subjects, and namespaces any number of quotas.
	var access []hnc.PlannedAccess
	if int64(p.visibility.subjects(e))*grantSize <= max(p.visibility.free, effectBytes) {
		access = p.visibility.accessChanges(ctx, e)
	} else {
		p.status.Unknown = append(p.status.Unknown, fmt.Sprintf("access in %s: there are too many subjects", e.Namespace))
	}
	first.Access = min(first.Access, len(access))
	last := position{e.Namespace, min(len(e.Writes), first.Write+p.limit), min(len(access), first.Access+p.limit)}
	n := p.namespace(ctx, e, first.Write, last.Write)
	n.Access = access[first.Access:last.Access]
	p.status.Namespaces = append(p.status.Namespaces, n)
	// Ten labels are as small as an object without its diff.
	p.limit -= max(1, last.Write-first.Write, last.Access-first.Access, (len(n.Labels)+9)/10, len(n.Quotas))
	if last.Write < len(e.Writes) || last.Access < len(access) {
		p.stop(last)
	}
}

func (p *page) stop(at position) { p.full, p.status.Continue = true, at.String() }

// namespace returns the writes from first to last in one namespace, and with the first one labels and quotas.
func (p *page) namespace(ctx context.Context, e plan.Effect, first, last int) hnc.NamespacePlan {
	n := hnc.NamespacePlan{Name: e.Namespace, Fate: e.Fate}
	for _, w := range e.Writes[first:last] {
		n.Objects = append(n.Objects, hnc.PlannedObject{
			Action: action(w), Group: w.Kind.Group, Version: w.Kind.Version, Resource: w.Kind.Resource, Kind: w.Kind.Kind, Name: w.Name,
			Source: w.From(), Difference: p.diff(ctx, p.visibility, w),
		})
	}
	if first == 0 {
		var err error
		n.Labels = e.Labels
		if n.Quotas, err = p.quotas(ctx, p.visibility, e); err != nil {
			p.status.Unknown = append(p.status.Unknown, fmt.Sprintf("quotas in %s: %v", e.Namespace, err))
		}
	}
	return n
}

// delayed returns the first error that is none of the change, but says when to try again.
func delayed(errs []error) error {
	for _, err := range errs {
		if _, later := apierrors.SuggestsClientDelay(err); later {
			return err
		}
	}
	return nil
}

func refusals(errs []error) []hnc.PlannedRefusal {
	var list []hnc.PlannedRefusal
	for _, err := range errs {
		list = append(list, hnc.PlannedRefusal{Reason: apierrors.ReasonForError(err), Message: err.Error()})
	}
	return list
}

// action returns the effect of a write.
func action(w copies.Write) hnc.PlannedAction {
	switch {
	case w.Verb == copies.Create:
		return hnc.ActionAdd
	case w.Overwrites():
		return hnc.ActionOverwrite
	case w.Verb == copies.Delete:
		return hnc.ActionRemove
	case w.Verb == copies.Keep:
		return hnc.ActionKeep
	}
	return hnc.ActionChange
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
