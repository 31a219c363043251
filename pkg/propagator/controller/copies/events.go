package copies

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/copies"
)

// Events. Source: spec/hnc.md 3.7. The recorder counts repetitions instead of writing them again.

func (c *Controller) eventFinalized(kind copies.Kind, source *copies.Object) {
	c.Events.Eventf(source.Reference(kind), corev1.EventTypeWarning, hnc.EventCannotPropagate,
		"Objects with finalizers are not propagated; remove the finalizers to have it in the namespaces below %q", source.Namespace)
}

func (c *Controller) eventUnreadable(kind copies.Kind, source *copies.Object) {
	c.Events.Eventf(source.Reference(kind), corev1.EventTypeWarning, hnc.EventCannotParse,
		"Not propagated, because the namespaces cannot be determined: %v", source.Unreadable())
}

func (c *Controller) eventMisread(kind copies.Kind, o *copies.Object) {
	c.Events.Eventf(o.Reference(kind), corev1.EventTypeWarning, hnc.EventCannotParse,
		"Treated as if it neither allowed nor asked for an override: %v", o.Misread())
}

func (c *Controller) eventKept(w copies.Write) {
	c.Events.Eventf(w.Present.Reference(w.Kind), corev1.EventTypeWarning, hnc.EventKept,
		"Kept, although ancestor namespace %q has an object of the same name; delete it to inherit that one", w.Source.Namespace)
	c.Events.Eventf(w.Source.Reference(w.Kind), corev1.EventTypeWarning, hnc.EventKept,
		"Not propagated to namespace %q, which has an object of the same name that is kept", w.Namespace)
}

func (c *Controller) eventRefused(w copies.Write, err error) {
	if w.Verb == copies.Delete {
		c.Events.Eventf(w.Present.Reference(w.Kind), corev1.EventTypeWarning, hnc.EventCannotUpdate,
			"Could not remove the copy from source namespace %q: %v", w.Present.InheritedFrom, err)
		return
	}
	destination := w.Present
	if destination == nil {
		destination = &copies.Object{Namespace: w.Namespace, Name: w.Name}
	}
	c.Events.Eventf(destination.Reference(w.Kind), corev1.EventTypeWarning, hnc.EventCannotUpdate,
		"Could not write from source namespace %q: %v", w.Source.Namespace, err)
	c.Events.Eventf(w.Source.Reference(w.Kind), corev1.EventTypeWarning, hnc.EventCannotPropagate,
		"Could not write to destination namespace %q: %v", w.Namespace, err)
}

func (c *Controller) eventBlocked(w copies.Write) {
	c.Events.Eventf(w.Present.Reference(w.Kind), corev1.EventTypeWarning, hnc.EventCannotUpdate,
		"Being deleted but kept by its finalizers; remove them so that it is replaced or goes")
	if w.Source != nil {
		c.Events.Eventf(w.Source.Reference(w.Kind), corev1.EventTypeWarning, hnc.EventCannotPropagate,
			"Could not write to destination namespace %q: the object of the same name is being deleted but kept by its finalizers", w.Namespace)
	}
}

func (c *Controller) eventOverwritten(w copies.Write, kept backup) {
	c.Events.Eventf(w.Present.Reference(w.Kind), corev1.EventTypeWarning, hnc.EventOverwritten,
		"Overwritten by the object of the same name in ancestor namespace %q; %s; %s", w.Source.Namespace, kept.describe(w), howToKeep(w))
	c.Events.Eventf(w.Source.Reference(w.Kind), corev1.EventTypeWarning, hnc.EventOverwritten,
		"Has overwritten the object of the same name in namespace %q", w.Namespace)
}

// describe says where the content of the overwritten object is.
func (b backup) describe(w copies.Write) string {
	if b.lost != nil {
		return fmt.Sprintf("its content could not be kept: %v", b.lost)
	}
	return fmt.Sprintf("its content is kept for some time: kubectl hns explain %s/%s -n %s --overwritten", w.Kind.GroupResource(), w.Name, w.Namespace)
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
