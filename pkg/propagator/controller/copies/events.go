package copies

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/record"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
)

// eventRecorder emits the events about sources and copies. Repetitions are counted instead of written again. Source:
// docs/spec/hnc.md 3.7.
type eventRecorder struct{ record.EventRecorder }

func (e eventRecorder) finalized(kind copies.Kind, source *copies.Object) {
	e.Eventf(source.Reference(kind), corev1.EventTypeWarning, hnc.EventCannotPropagate,
		"Objects with finalizers are not propagated; remove the finalizers to have it in the namespaces below %q", source.Namespace)
}

func (e eventRecorder) unaddressable(kind copies.Kind, source *copies.Object) {
	e.Eventf(source.Reference(kind), corev1.EventTypeWarning, hnc.EventCannotPropagate,
		"Objects with names of more than %d bytes are not propagated; create it under a shorter name to have it in the namespaces below %q",
		names.MaxLength, source.Namespace)
}

func (e eventRecorder) unreadable(kind copies.Kind, source *copies.Object) {
	e.Eventf(source.Reference(kind), corev1.EventTypeWarning, hnc.EventCannotParse,
		"Not propagated, because the namespaces cannot be determined: %v", source.Unreadable())
}

func (e eventRecorder) misread(kind copies.Kind, o *copies.Object) {
	e.Eventf(o.Reference(kind), corev1.EventTypeWarning, hnc.EventCannotParse,
		"Treated as if it neither allowed nor asked for an override: %v", o.Misread())
}

func (e eventRecorder) withheld(source *copies.Object, from string) {
	e.Eventf(source.Reference(copies.RoleBindings), corev1.EventTypeWarning, hnc.EventCannotPropagate,
		"Not propagated to namespaces such as %q, where role %q is not the one of namespace %q; create or propagate that role, or refer to a cluster role",
		from, names.Shorten(source.BindsRole()), source.Namespace)
}

func (e eventRecorder) kept(w copies.Write) {
	e.Eventf(w.Present.Reference(w.Kind), corev1.EventTypeWarning, hnc.EventKept,
		"Kept, although ancestor namespace %q has an object of the same name; delete it to inherit that one", w.Source.Namespace)
	e.Eventf(w.Source.Reference(w.Kind), corev1.EventTypeWarning, hnc.EventKept,
		"Not propagated to namespace %q, which has an object of the same name that is kept", w.Namespace)
}

func (e eventRecorder) refused(w copies.Write, err error) {
	why := names.ShortenText(err.Error())
	if w.Role != nil {
		e.Eventf(w.Present.Reference(w.Kind), corev1.EventTypeWarning, hnc.EventCannotUpdate,
			"Could not be removed, so role %q of ancestor namespace %q is not propagated to its namespace: %s", names.Shorten(w.Role.Name), w.Role.Namespace, why)
		e.withheldRole(w, why)
		return
	}
	if w.Verb == copies.Delete {
		e.Eventf(w.Present.Reference(w.Kind), corev1.EventTypeWarning, hnc.EventCannotUpdate,
			"Could not remove the copy from source namespace %q: %s", w.Present.InheritedFrom, why)
		return
	}
	destination := w.Present
	if destination == nil {
		destination = &copies.Object{Namespace: w.Namespace, Name: w.Name}
	}
	e.Eventf(destination.Reference(w.Kind), corev1.EventTypeWarning, hnc.EventCannotUpdate,
		"Could not write from source namespace %q: %s", w.Source.Namespace, why)
	e.Eventf(w.Source.Reference(w.Kind), corev1.EventTypeWarning, hnc.EventCannotPropagate,
		"Could not write to destination namespace %q: %s", w.Namespace, why)
}

// withheldRole says why a Role is not propagated to a namespace in which a RoleBinding refers to another one.
func (e eventRecorder) withheldRole(w copies.Write, why string) {
	e.Eventf(w.Role.Reference(copies.Roles), corev1.EventTypeWarning, hnc.EventCannotPropagate,
		"Could not write to destination namespace %q, where RoleBinding %q refers to another role of that name and cannot be removed: %s",
		w.Namespace, names.Shorten(w.Name), why)
}

func (e eventRecorder) blocked(w copies.Write) {
	e.Eventf(w.Present.Reference(w.Kind), corev1.EventTypeWarning, hnc.EventCannotUpdate,
		"Being deleted but kept by its finalizers; remove them so that it is replaced or goes")
	if w.Role != nil {
		e.withheldRole(w, "its finalizers keep it")
	}
	if w.Source != nil {
		e.Eventf(w.Source.Reference(w.Kind), corev1.EventTypeWarning, hnc.EventCannotPropagate,
			"Could not write to destination namespace %q: the object of the same name is being deleted but kept by its finalizers", w.Namespace)
	}
}

func (e eventRecorder) overwritten(w copies.Write, kept backup) {
	if w.Role != nil {
		e.Eventf(w.Present.Reference(w.Kind), corev1.EventTypeWarning, hnc.EventOverwritten,
			"Removed, because role %q, to which it refers, is now that of ancestor namespace %q; %s; bind that one again if its permissions may be granted",
			names.Shorten(w.Role.Name), w.Role.Namespace, kept.describe(w))
		e.Eventf(w.Role.Reference(copies.Roles), corev1.EventTypeWarning, hnc.EventOverwritten,
			"Has invalidated RoleBinding %q in namespace %q, which referred to another role of that name", names.Shorten(w.Name), w.Namespace)
		return
	}
	e.Eventf(w.Present.Reference(w.Kind), corev1.EventTypeWarning, hnc.EventOverwritten,
		"Overwritten by the object of the same name in ancestor namespace %q; %s; %s", w.Source.Namespace, kept.describe(w), howToKeep(w))
	e.Eventf(w.Source.Reference(w.Kind), corev1.EventTypeWarning, hnc.EventOverwritten,
		"Has overwritten the object of the same name in namespace %q", w.Namespace)
}

// describe says where the content of the overwritten object is.
func (b backup) describe(w copies.Write) string {
	if b.lost != nil {
		return fmt.Sprintf("its content could not be kept: %v", b.lost)
	}
	return fmt.Sprintf("its content is kept for some time: kubectl hns why %s -n %s --overwritten",
		names.ShellWord(w.Kind.GroupResource().String()+"/"+w.Name), w.Namespace)
}

// howToKeep explains how the overwritten object could have been kept.
func howToKeep(w copies.Write) string {
	if w.Present.AsksToOverride() {
		return fmt.Sprintf("that one does not allow its override: to have an object of your own, choose another name, or have that one annotated with %s: \"true\"",
			hnc.AnnotationAllowOverride)
	}
	return fmt.Sprintf("choose another name to have an object of your own, or annotate it with %s: \"true\" if that one is annotated with %s: \"true\"",
		hnc.AnnotationOverride, hnc.AnnotationAllowOverride)
}
