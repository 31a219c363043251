package origin

import (
	"cmp"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/exceptions"
)

// excludedBy returns why the source in a namespace is not copied to the namespace in question, "" if it is.
func (q *Question) excludedBy(in *Namespace) string {
	if why := q.notPropagated(in); why != "" {
		return why
	}
	source := in.Object
	values := exceptions.Of(source.Annotations)
	e, err := exceptions.Parse(values)
	if err != nil || e.Selects(in.Mode.Mode == v1beta1.Propagate, q.Labels) {
		return q.otherRole(in)
	}
	var said []string
	for _, annotation := range []struct{ key, value string }{
		{hnc.AnnotationSelect, values.Select}, {hnc.AnnotationTreeSelect, values.TreeSelect},
		{hnc.AnnotationNone, values.None}, {hnc.AnnotationAll, values.All},
	} {
		if annotation.value != "" {
			said = append(said, fmt.Sprintf("%s: %q", annotation.key, annotation.value))
		}
	}
	return fmt.Sprintf("its exceptions leave %s out (%s)", q.here().Name, strings.Join(said, ", "))
}

// otherRole returns why a RoleBinding is not copied although nothing else excludes it, "" if it is: the Role that it
// refers to is another one here.
func (q *Question) otherRole(in *Namespace) string {
	r := in.Object.Role
	switch {
	case r.same():
		return ""
	case r.There == "":
		return fmt.Sprintf("%s has no role %q, which it refers to", in.Name, r.Name)
	case r.Here == "":
		return fmt.Sprintf("it refers to role %q, which %s does not inherit", r.Name, q.here().Name)
	}
	return fmt.Sprintf("it refers to role %q, which is not the same in %s: there it comes from %s, here from %s", r.Name, in.Name, r.There, r.Here)
}

// notPropagated returns why the source in a namespace is not copied to any other, "" if it is copied to some.
func (q *Question) notPropagated(in *Namespace) string {
	m, source := in.Mode, in.Object
	switch {
	case m.Mode == "":
		return fmt.Sprintf("%s are not propagated, because the configuration does not list them; to change that: kubectl hns config set %[1]s Propagate", q.Resource)
	case !m.Copies():
		return fmt.Sprintf("%s are not propagated, because their mode is %s", q.Resource, m.Mode)
	}
	values := exceptions.Of(source.Annotations)
	_, err := exceptions.Parse(values)
	object := &metav1.ObjectMeta{Name: q.Name, Labels: source.Labels, Annotations: source.Annotations, Finalizers: source.Finalizers}
	never := cmp.Or(q.Rules, &copies.Rules{}).Excludes(object, schema.GroupKind{Group: q.Resource.Group, Kind: q.Kind}, source.Type)
	switch {
	case err != nil:
		return err.Error()
	case never != "":
		return never
	case values.None != "" && !neutral(values):
		return fmt.Sprintf("it has the annotation %s", hnc.AnnotationNone)
	case m.Mode == v1beta1.AllowPropagate && values.Select == "" && values.TreeSelect == "" && values.All == "":
		return fmt.Sprintf("the mode of %s is AllowPropagate, and no annotation (%s, %s or %s) asks for it",
			q.Resource, hnc.AnnotationSelect, hnc.AnnotationTreeSelect, hnc.AnnotationAll)
	}
	return ""
}

// neutral reports whether the annotation "none" excludes nothing.
func neutral(values exceptions.Annotations) bool {
	e, err := exceptions.Parse(exceptions.Annotations{None: values.None})
	return err == nil && e.Selects(true, nil)
}

// explainUnknownRules lists the sources that unknown rules may exclude.
func (q *Question) explainUnknownRules(a *Answer) {
	for i := range q.Chain {
		if in := &q.Chain[i]; i > 0 && in.hasSource() && in.Object.Role != nil && in.Object.Role.Unread != "" {
			a.addf("whether the one in %s is copied here depends on role %q, which is not known: %s", in.Name, in.Object.Role.Name, in.Object.Role.Unread)
		}
	}
	if q.Rules != nil {
		return
	}
	for i := range q.Chain {
		if in := &q.Chain[i]; in.hasSource() && in.Mode.Unread == "" && len(in.Object.Labels) > 0 && q.notPropagated(in) == "" {
			a.addf("whether the labels of the one in %s exclude it is not known: %s", in.Name, q.RulesUnread)
		}
	}
}

// obstacle returns why nothing is copied to the namespace, "" if nothing prevents it.
func (q *Question) obstacle() string {
	name := q.here().Name
	switch {
	case q.Excluded != "":
		return name + " is " + q.Excluded
	case q.Terminating:
		return name + " is being deleted, so nothing is copied to it any more"
	case q.Halted != nil:
		return fmt.Sprintf("activities are halted in %s: %s", name, q.Halted.Reason+": "+q.Halted.Message)
	}
	return ""
}

// targets describes the descendants that a source is copied to.
func targets(source *Object) string {
	values := exceptions.Of(source.Annotations)
	var said []string
	if values.Select != "" {
		said = append(said, "those whose labels match "+values.Select)
	}
	if values.TreeSelect != "" {
		said = append(said, "those of "+values.TreeSelect)
	}
	if len(said) == 0 {
		return "all of them"
	}
	return strings.Join(said, ", and ")
}
