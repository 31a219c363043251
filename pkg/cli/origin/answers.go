package origin

import (
	"fmt"
	"strings"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

func (a *Answer) say(format string, args ...any) {
	a.Because = append(a.Because, fmt.Sprintf(format, args...))
}

// judge returns the source that counts for the namespace that is asked about, nil if there is none, and says why the others don't.
func (q *Question) judge(a *Answer) (governing *Namespace) {
	var order []string
	refused := map[string][]string{}
	for i := len(q.Chain) - 1; i > 0; i-- {
		above := &q.Chain[i]
		switch {
		case above.Unread != "":
			a.say("whether %s has one is not known: %s", above.Name, above.Unread)
			continue
		case !above.source():
			continue
		}
		why := q.refuses(above)
		switch {
		case why != "":
		case governing == nil || above.Object.overrides(governing.Object):
			governing = above
			continue
		default:
			why = "the one in " + governing.Name + " counts, for the topmost wins"
		}
		if refused[why] == nil {
			order = append(order, why)
		}
		refused[why] = append(refused[why], above.Name)
	}
	for _, why := range order {
		a.say("the one in %s is not copied to here: %s", strings.Join(refused[why], " and in "), why)
	}
	return governing
}

// copied explains a copy.
func (q *Question) copied(a *Answer) {
	distance := 0
	for i := range q.Chain {
		if i > 0 && q.Chain[i].Name == a.Source {
			distance = i
		}
	}
	if distance == 0 {
		a.say("it is a copy of the one in %s, which is no ancestor of %s now", a.Source, a.Namespace)
		// The hierarchies above that source are not read.
		q.stays(a, q.judge(a), q.Cluster)
		return
	}
	a.Path = q.path(distance + 1)
	levels := "its parent"
	if distance > 1 {
		levels = fmt.Sprintf("%d levels above", distance)
	}
	a.say("it is a copy of the one in %s, %s: change it there", a.Source, levels)
	source := &q.Chain[distance]
	if source.Object == nil && source.Unread == "" {
		a.say("%s does not have it any more", source.Name)
	}
	if governing := q.judge(a); source.Unread == "" && governing != source {
		q.stays(a, governing, source.Mode)
	}
}

// stays says what becomes of a copy whose own source does not govern it: governing does, if it is not nil. m is the mode of its own source.
func (q *Question) stays(a *Answer, governing *Namespace, m Mode) {
	switch {
	case q.obstacle() != "":
		a.say("the copy stays as it is for now: %s", q.obstacle())
	case governing != nil:
		a.say("the copy will be replaced by a copy of the one in %s", governing.Name)
	case m.Unread != "":
		a.say("what becomes of the copy is not known: %s", m.Unread)
	case !m.Configured || m.Mode == v1beta1.Ignore:
		a.say("the copy stays as it is; users who may update it and are admin of %s can make it an ordinary object: kubectl hns release %s -n %s",
			a.Source, a.Object, a.Namespace)
		a.say("an administrator can have all copies removed by the mode Remove")
	default:
		a.say("the copy will be removed")
	}
}

// local explains an object that is no copy.
func (q *Question) local(a *Answer) {
	here := q.here()
	a.say("it was made in %s", a.Namespace)
	above := q.judge(a)
	switch {
	case above == nil:
	case q.obstacle() != "":
		a.say("the one in %s is not copied to here: %s", above.Name, q.obstacle())
	case here.Object.overrides(above.Object):
		a.say("it overrides the one in %s, which allows that", above.Name)
	case above.Mode.Keep:
		a.say("the one in %s is not copied to here because of the conflict: onConflict is Keep, so the local one stays", above.Name)
	case here.Object.overriding().Requested:
		a.say("it asks to override the one in %s, which does not allow that and should be copied over it: annotate that one with %s", above.Name, hnc.AnnotationAllowOverride)
	default:
		a.say("the one in %s should be copied over it, for the topmost wins; what is in the way is told by: kubectl hns describe %s", above.Name, a.Namespace)
	}
	switch why := q.nowhere(here); {
	case why == "":
		a.say("it is copied to descendants: %s", goes(here.Object))
	case strings.Contains(strings.Join(a.Because, "\n"), why):
		a.say("it is not copied to descendants, for the same reason")
	default:
		a.say("it is not copied to descendants: %s", why)
	}
}

// absent explains why there is no such object.
func (q *Question) absent(a *Answer) {
	above := q.judge(a)
	switch {
	case above != nil && q.obstacle() != "":
		a.say("the one in %s is not copied to here: %s", above.Name, q.obstacle())
	case above != nil:
		a.say("the one in %s should be copied to here; if it isn't in a moment, what is in the way is told by: kubectl hns describe %s", above.Name, a.Namespace)
	case len(a.Because) > 0:
	case len(q.Chain) == 1:
		a.say("%s has no parent, so nothing is copied to it", a.Namespace)
		if why := q.obstacle(); why != "" {
			a.say("%s", why)
		}
	default:
		a.say("no ancestor has one")
	}
}
