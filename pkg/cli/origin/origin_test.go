package origin

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/modes"
)

var (
	propagate = Mode{Policy: modes.Policy{Mode: v1beta1.Propagate}}
	allow     = Mode{Policy: modes.Policy{Mode: v1beta1.AllowPropagate}}
	keep      = Mode{Policy: modes.Policy{Mode: v1beta1.Propagate, Keep: true}}
)

// source is an object with annotations: key, value, key, value.
func source(annotations ...string) *Object {
	o := &Object{Annotations: map[string]string{}}
	for i := 0; i+1 < len(annotations); i += 2 {
		o.Annotations[annotations[i]] = annotations[i+1]
	}
	return o
}

// refersTo is a RoleBinding to a Role with these sources in its own namespace and in the one in question.
func refersTo(there, here string) *Object {
	return &Object{Role: &Role{Name: "ops", There: there, Here: here}}
}

func copyOf(namespace string) *Object {
	return &Object{Labels: map[string]string{hnc.LabelInheritedFrom: namespace}}
}

// question is about the namespace "here", whose ancestors are "mid" and "top", all with the same mode.
func question(mode Mode, here, mid, top *Object) *Question {
	return &Question{
		Resource: schema.GroupResource{Resource: "configmaps"}, Kind: "ConfigMap", Name: "x",
		Labels:  map[string]string{"here.tree.hnc.x-k8s.io/depth": "0", "mid.tree.hnc.x-k8s.io/depth": "1", "top.tree.hnc.x-k8s.io/depth": "2"},
		Rules:   &copies.Rules{Skipped: []labels.Selector{labels.SelectorFromSet(labels.Set{"team": "none"})}},
		Cluster: mode,
		Chain:   []Namespace{{Name: "here", Object: here, Mode: mode}, {Name: "mid", Object: mid, Mode: mode}, {Name: "top", Object: top, Mode: mode}},
	}
}

func TestAnswers(t *testing.T) {
	with := func(q *Question, change func(*Question)) *Question {
		change(q)
		return q
	}
	halt := func(q *Question) { q.Halted = &metav1.Condition{Reason: "ParentMissing", Message: "gone"} }
	for name, row := range map[string]struct {
		question *Question
		state    State
		says     []string
	}{
		"a copy":                         {question(propagate, copyOf("top"), copyOf("top"), source()), Copy, []string{"the one in top, 2 levels above"}},
		"a copy from the parent":         {question(propagate, copyOf("mid"), source(), nil), Copy, []string{"the one in mid, its parent"}},
		"a copy without its source":      {question(propagate, copyOf("top"), nil, nil), Copy, []string{"top does not have it any more", "will be removed"}},
		"a copy from elsewhere":          {question(propagate, copyOf("else"), nil, nil), Copy, []string{"not an ancestor of here any more", "will be removed"}},
		"a copy of an ignored kind":      {question(Mode{Policy: modes.Policy{Mode: v1beta1.Ignore}}, copyOf("top"), nil, source()), Copy, []string{"their mode is Ignore", "stays as it is", "admins of top can", "kubectl hns detach configmap/x -n here"}},
		"ignored, from elsewhere":        {question(Mode{Policy: modes.Policy{Mode: v1beta1.Ignore}}, copyOf("else"), nil, nil), Copy, []string{"not an ancestor of here any more", "admins of else can"}},
		"ignored, and one above":         {with(question(propagate, copyOf("mid"), source(), source()), func(q *Question) { q.Chain[1].Mode.Mode = v1beta1.Ignore }), Copy, []string{"replaced by a copy of the one in top"}},
		"a copy that is halted":          {with(question(propagate, copyOf("top"), nil, nil), halt), Copy, []string{"stays as it is for now: activities are halted in here: ParentMissing: gone"}},
		"a copy beside a lower one":      {question(propagate, copyOf("top"), source(), source()), Copy, []string{"the one in mid is not copied here: the one in top takes precedence"}},
		"nothing above":                  {question(propagate, nil, nil, nil), Absent, []string{"no ancestor has one"}},
		"not configured":                 {question(Mode{}, nil, source(), source()), Absent, []string{"in top and in mid is not copied here: configmaps are not propagated, because the configuration does not list them"}},
		"removed":                        {question(Mode{Policy: modes.Policy{Mode: v1beta1.Remove}}, nil, nil, source()), Absent, []string{"their mode is Remove"}},
		"not allowed":                    {question(allow, nil, nil, source()), Absent, []string{"AllowPropagate, and no annotation"}},
		"allowed":                        {question(allow, nil, nil, source(hnc.AnnotationAll, "true")), Absent, []string{"should be copied here"}},
		"none":                           {question(propagate, nil, nil, source(hnc.AnnotationNone, "true")), Absent, []string{"it has the annotation propagate.hnc.x-k8s.io/none"}},
		"none is false":                  {question(propagate, nil, nil, source(hnc.AnnotationNone, "false")), Absent, []string{"should be copied here"}},
		"not selected":                   {question(propagate, nil, nil, source(hnc.AnnotationSelect, "a=b")), Absent, []string{`leave here out (propagate.hnc.x-k8s.io/select: "a=b")`}},
		"another subtree":                {question(propagate, nil, nil, source(hnc.AnnotationTreeSelect, "!mid")), Absent, []string{`treeSelect: "!mid"`}},
		"unreadable":                     {question(propagate, nil, nil, source(hnc.AnnotationTreeSelect, ",")), Absent, []string{"item 1 is empty"}},
		"a finalizer":                    {question(propagate, nil, nil, &Object{Finalizers: []string{"a/b"}}), Absent, []string{"objects with finalizers are never copied (a/b)"}},
		"a label of a rule":              {question(propagate, nil, nil, &Object{Labels: map[string]string{"team": "none"}}), Absent, []string{"objects whose labels match team=none are never copied"}},
		"a label of no rule":             {question(propagate, nil, nil, &Object{Labels: map[string]string{"cattle.io/creator": "norman"}}), Absent, []string{"should be copied"}},
		"labels and unknown rules":       {with(question(propagate, nil, nil, &Object{Labels: map[string]string{"team": "none"}}), func(q *Question) { q.Rules, q.RulesUnread = nil, "missing permission" }), Absent, []string{"should be copied", "not known: missing permission"}},
		"a token":                        {with(question(propagate, nil, nil, &Object{Type: "helm.sh/release.v1"}), func(q *Question) { q.Kind = "Secret" }), Absent, []string{"Secrets of type helm.sh/release.v1 are never copied"}},
		"a Secret of another group":      {with(question(propagate, nil, nil, &Object{Type: "helm.sh/release.v1"}), func(q *Question) { q.Resource.Group, q.Kind = "example.com", "Secret" }), Absent, []string{"should be copied here"}},
		"of a quota":                     {with(question(propagate, nil, nil, &Object{}), func(q *Question) { q.Kind, q.Name = "ResourceQuota", "hrq.hnc.x-k8s.io" }), Absent, []string{"it holds the limits of hierarchical quotas"}},
		"another role here":              {question(propagate, nil, nil, refersTo("top", "mid")), Absent, []string{"which is not the same in top: there it comes from top, here from mid"}},
		"no role here":                   {question(propagate, nil, nil, refersTo("top", "")), Absent, []string{`it refers to role "ops", which here does not inherit`}},
		"no role there":                  {question(propagate, nil, nil, refersTo("", "mid")), Absent, []string{`top has no role "ops"`}},
		"the same role":                  {question(propagate, nil, nil, refersTo("top", "top")), Absent, []string{"should be copied here"}},
		"an unknown role":                {question(propagate, nil, nil, &Object{Role: &Role{Name: "ops", Unread: "no permission"}}), Absent, []string{`depends on role "ops", which is not known: no permission`}},
		"halted":                         {with(question(propagate, nil, nil, source()), halt), Absent, []string{"activities are halted in here: ParentMissing: gone"}},
		"excluded":                       {with(question(propagate, nil, nil, source()), func(q *Question) { q.Excluded = "excluded by a rule" }), Absent, []string{"here is excluded by a rule"}},
		"terminating":                    {with(question(propagate, nil, nil, source()), func(q *Question) { q.Terminating = true }), Absent, []string{"here is being deleted"}},
		"no permission to look":          {with(question(propagate, nil, nil, nil), func(q *Question) { q.Chain[2].Unread = "no permission" }), Absent, []string{"whether top has one is not known: no permission"}},
		"no permission to know the mode": {question(Mode{Unread: "no permission"}, nil, nil, source()), Absent, []string{"whether the one in top is copied here is not known: no permission"}},
		"no permission, many sources":    {question(Mode{Unread: "no permission"}, nil, source(), source()), Absent, []string{"whether the one in top or in mid is copied here is not known: no permission"}},
		"no permission, and a copy":      {question(Mode{Unread: "no permission"}, copyOf("top"), nil, source()), Copy, []string{"whether it is kept up to date, left as it is, replaced or removed is not known: no permission"}},
		"no permission, and a local one": {question(Mode{Unread: "no permission"}, source(), nil, nil), Local, []string{"whether it is copied to descendants is not known: no permission"}},
		"a root":                         {with(question(propagate, nil, nil, nil), func(q *Question) { q.Chain = q.Chain[:1] }), Absent, []string{"here has no parent"}},
		"a mode of the upper tree":       {with(question(Mode{}, nil, source(), source()), func(q *Question) { q.Chain[1].Mode = propagate }), Absent, []string{"the one in top is not copied", "the one in mid should be copied here"}},
		"local, and a source":            {question(propagate, source(), nil, nil), Local, []string{"it was created in here", "it is copied to descendants: all of them"}},
		"local, of an unknown kind":      {question(Mode{}, source(), nil, nil), Local, []string{"it is not copied to descendants: configmaps are not propagated"}},
		"local, to some":                 {question(propagate, source(hnc.AnnotationSelect, "a=b"), nil, nil), Local, []string{"those whose labels match a=b"}},
		"local, kept":                    {question(keep, source(), nil, source()), Local, []string{"because of the conflict: onConflict is Keep"}},
		"local, about to go":             {question(propagate, source(), nil, source()), Local, []string{"the one in top should be copied over it"}},
		"local, overriding":              {question(propagate, source(hnc.AnnotationOverride, "true"), nil, source(hnc.AnnotationAllowOverride, "true")), Local, []string{"it overrides the one in top"}},
		"local, overriding in vain":      {question(propagate, source(hnc.AnnotationOverride, "true"), nil, source()), Local, []string{"which does not allow that"}},
		"a copy of what overrides":       {question(propagate, copyOf("mid"), source(hnc.AnnotationOverride, "true"), source(hnc.AnnotationAllowOverride, "true")), Copy, []string{"the one in mid, its parent"}},
		"local, not copied all over":     {question(Mode{}, source(), source(), nil), Local, []string{"it is not copied to descendants, for the same reason"}},
	} {
		answer := row.question.Ask()
		said := strings.Join(answer.Because, "\n")
		if answer.State != row.state {
			t.Errorf("%s: got %s, want %s", name, answer.State, row.state)
		}
		for _, part := range row.says {
			if !strings.Contains(said, part) {
				t.Errorf("%s: %q is missing in\n%s", name, part, said)
			}
		}
	}
}

func TestCopyThatIsRightHasOneReason(t *testing.T) {
	a := question(propagate, copyOf("top"), copyOf("top"), source()).Ask()
	if len(a.Because) != 1 || a.Source != "top" || strings.Join(a.Path, " ") != "here mid top" {
		t.Errorf("got %+v", a)
	}
}
