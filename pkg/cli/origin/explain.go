package origin

import (
	"fmt"
	"strings"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
)

func (a *Answer) addf(format string, args ...any) {
	a.Because = append(a.Because, fmt.Sprintf(format, args...))
}

// explainSources returns the source that is propagated to the namespace in question, nil if none is, and explains why
// the others are not. A source of which it is not known whether it is propagated is explained and skipped.
func (q *Question) explainSources(a *Answer) (governing *Namespace) {
	var excluded, unknown grouped
	for i := len(q.Chain) - 1; i > 0; i-- {
		above := &q.Chain[i]
		switch {
		case above.Unread != "":
			a.addf("whether %s has one is not known: %s", above.Name, above.Unread)
			continue
		case !above.hasSource():
			continue
		case above.Mode.Unread != "":
			// For the source of a copy, explainUnsourced says so.
			if above.Name != a.Source {
				unknown.add(above.Mode.Unread, above.Name)
			}
			continue
		}
		why := q.excludedBy(above)
		switch {
		case why != "":
		case governing == nil || above.Object.overrides(governing.Object):
			governing = above
			continue
		default:
			why = "the one in " + governing.Name + " takes precedence, because it is nearer to the root"
		}
		excluded.add(why, above.Name)
	}
	for _, why := range unknown.reasons {
		a.addf("whether the one in %s is copied here is not known: %s", strings.Join(unknown.names[why], " or in "), why)
	}
	for _, why := range excluded.reasons {
		a.addf("the one in %s is not copied here: %s", strings.Join(excluded.names[why], " and in "), why)
	}
	return governing
}

// grouped collects names by reason, in the order of the first name of each reason.
type grouped struct {
	reasons []string
	names   map[string][]string
}

func (g *grouped) add(reason, name string) {
	if g.names == nil {
		g.names = map[string][]string{}
	}
	if g.names[reason] == nil {
		g.reasons = append(g.reasons, reason)
	}
	g.names[reason] = append(g.names[reason], name)
}

// explainCopy explains a copy.
func (q *Question) explainCopy(a *Answer) {
	distance := 0
	for i := range q.Chain {
		if i > 0 && q.Chain[i].Name == a.Source {
			distance = i
		}
	}
	if distance == 0 {
		a.addf("it is a copy of the one in %s, which is not an ancestor of %s any more", a.Source, a.Namespace)
		// The hierarchies above that source are not read.
		governing, mode := q.explainSources(a), q.Cluster
		if governing != nil {
			mode = governing.Mode
		}
		q.explainUnsourced(a, governing, mode)
		return
	}
	a.Path = q.path(distance + 1)
	levels := "its parent"
	if distance > 1 {
		levels = fmt.Sprintf("%d levels above", distance)
	}
	a.addf("it is a copy of the one in %s, %s: change it there", a.Source, levels)
	source := &q.Chain[distance]
	if source.Object == nil && source.Unread == "" {
		a.addf("%s does not have it any more", source.Name)
	}
	if governing := q.explainSources(a); source.Unread == "" && governing != source {
		q.explainUnsourced(a, governing, source.Mode)
	}
}

// explainUnsourced explains what happens to a copy that its own source does not govern. governing is the source that
// does, if there is one, and m is the mode of its own source.
func (q *Question) explainUnsourced(a *Answer, governing *Namespace, m Mode) {
	switch {
	case q.obstacle() != "":
		a.addf("the copy stays as it is for now: %s", q.obstacle())
	case m.Unread != "":
		a.addf("whether it is kept up to date, left as it is, replaced or removed is not known: %s", m.Unread)
	case governing != nil:
		a.addf("the copy will be replaced by a copy of the one in %s", governing.Name)
	case m.Mode == "" || m.Mode == v1beta1.Ignore:
		a.addf("the copy stays as it is; users allowed to update it who are admins of %s can make it an ordinary object: kubectl hns detach %s -n %s",
			a.Source, names.ShellWord(a.Object), a.Namespace)
		a.addf("an administrator can remove all copies by setting the mode to Remove")
	default:
		a.addf("the copy will be removed")
	}
}

// explainLocal explains an object that is not a copy.
func (q *Question) explainLocal(a *Answer) {
	here := q.here()
	a.addf("it was created in %s", a.Namespace)
	above := q.explainSources(a)
	switch {
	case above == nil:
	case q.obstacle() != "":
		a.addf("the one in %s is not copied here: %s", above.Name, q.obstacle())
	case here.Object.overrides(above.Object):
		a.addf("it overrides the one in %s, which allows that", above.Name)
	case here.Object.Labels[hnc.LabelRepositorySync] != "":
		a.addf("the one in %s is not copied here: the local one belongs to the RepositorySync %s, so it stays", above.Name, here.Object.Labels[hnc.LabelRepositorySync])
	case above.Mode.Keep:
		a.addf("the one in %s is not copied here because of the conflict: onConflict is Keep, so the local one stays", above.Name)
	case here.Object.overriding().Requested:
		a.addf("it asks to override the one in %s, which does not allow that and should be copied over it: annotate that one with %s", above.Name, hnc.AnnotationAllowOverride)
	default:
		a.addf("the one in %s should be copied over it, because the source nearest to the root takes precedence; for errors, see: kubectl hns describe %s", above.Name, a.Namespace)
	}
	switch why := q.notPropagated(here); {
	case here.Mode.Unread != "":
		a.addf("whether it is copied to descendants is not known: %s", here.Mode.Unread)
	case why == "":
		a.addf("it is copied to descendants: %s", targets(here.Object))
	case strings.Contains(strings.Join(a.Because, "\n"), why):
		a.addf("it is not copied to descendants, for the same reason")
	default:
		a.addf("it is not copied to descendants: %s", why)
	}
}

// explainAbsent explains why the namespace has no such object.
func (q *Question) explainAbsent(a *Answer) {
	above := q.explainSources(a)
	switch {
	case above != nil && q.obstacle() != "":
		a.addf("the one in %s is not copied here: %s", above.Name, q.obstacle())
	case above != nil:
		a.addf("the one in %s should be copied here; if it does not appear in a moment, see: kubectl hns describe %s", above.Name, a.Namespace)
	case len(a.Because) > 0:
	case len(q.Chain) == 1:
		a.addf("%s has no parent, so nothing is copied to it", a.Namespace)
		if why := q.obstacle(); why != "" {
			a.addf("%s", why)
		}
	default:
		a.addf("no ancestor has one")
	}
}
