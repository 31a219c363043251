package propagator

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/copies"
)

// Events. Source: spec/hnc.md 3.7. The recorder counts repetitions instead of writing them again.

func (p *Propagator) reportFinalized(kind copies.Kind, source *copies.Object) {
	p.Events.Eventf(source.Reference(kind), corev1.EventTypeWarning, hnc.EventCannotPropagate,
		"Objects with finalizers are not propagated; remove the finalizers to have it in the namespaces below %q", source.Namespace)
}

func (p *Propagator) reportUnreadable(kind copies.Kind, source *copies.Object) {
	p.Events.Eventf(source.Reference(kind), corev1.EventTypeWarning, hnc.EventCannotParse,
		"Not propagated, because it can't be told to which namespaces: %v", source.Unreadable())
}

func (p *Propagator) reportMisread(kind copies.Kind, o *copies.Object) {
	p.Events.Eventf(o.Reference(kind), corev1.EventTypeWarning, hnc.EventCannotParse,
		"Treated as if it neither allowed nor asked for an override: %v", o.Misread())
}

func (p *Propagator) reportKept(w copies.Write) {
	p.Events.Eventf(w.Present.Reference(w.Kind), corev1.EventTypeWarning, hnc.EventKept,
		"Kept, although ancestor namespace %q has an object of the same name; delete it to inherit that one", w.Source.Namespace)
	p.Events.Eventf(w.Source.Reference(w.Kind), corev1.EventTypeWarning, hnc.EventKept,
		"Not propagated to namespace %q, which has an object of the same name that is kept", w.Namespace)
}

func (p *Propagator) reportRefused(w copies.Write, err error) {
	if w.Verb == copies.Delete {
		p.Events.Eventf(w.Present.Reference(w.Kind), corev1.EventTypeWarning, hnc.EventCannotUpdate,
			"Could not remove the copy from source namespace %q: %v", w.Present.InheritedFrom, err)
		return
	}
	destination := w.Present
	if destination == nil {
		destination = &copies.Object{Namespace: w.Namespace, Name: w.Name}
	}
	p.Events.Eventf(destination.Reference(w.Kind), corev1.EventTypeWarning, hnc.EventCannotUpdate,
		"Could not write from source namespace %q: %v", w.Source.Namespace, err)
	p.Events.Eventf(w.Source.Reference(w.Kind), corev1.EventTypeWarning, hnc.EventCannotPropagate,
		"Could not write to destination namespace %q: %v", w.Namespace, err)
}

func (p *Propagator) reportBlocked(w copies.Write) {
	p.Events.Eventf(w.Present.Reference(w.Kind), corev1.EventTypeWarning, hnc.EventCannotUpdate,
		"Being deleted but kept by its finalizers; remove them so that it is replaced or goes")
	if w.Source != nil {
		p.Events.Eventf(w.Source.Reference(w.Kind), corev1.EventTypeWarning, hnc.EventCannotPropagate,
			"Could not write to destination namespace %q: the object of the same name is being deleted but kept by its finalizers", w.Namespace)
	}
}

func (p *Propagator) reportOverwritten(w copies.Write, kept backup) {
	p.Events.Eventf(w.Present.Reference(w.Kind), corev1.EventTypeWarning, hnc.EventOverwritten,
		"Overwritten by the object of the same name in ancestor namespace %q; %s; %s", w.Source.Namespace, kept.tell(w), howToKeep(w))
	p.Events.Eventf(w.Source.Reference(w.Kind), corev1.EventTypeWarning, hnc.EventOverwritten,
		"Has overwritten the object of the same name in namespace %q", w.Namespace)
}

// tell says where the content of the overwritten object is.
func (b backup) tell(w copies.Write) string {
	if b.lost != nil {
		return fmt.Sprintf("its content could not be kept: %v", b.lost)
	}
	return fmt.Sprintf("its content is kept for some time: kubectl hns explain %s/%s -n %s --overwritten", w.Kind.GroupResource(), w.Name, w.Namespace)
}

// howToKeep says how the object that was overwritten could have been kept.
func howToKeep(w copies.Write) string {
	if w.Present.AsksToOverride() {
		return fmt.Sprintf("that one does not allow its override: to have an object of your own, choose another name, or have that one annotated with %s: \"true\"",
			hnc.AnnotationAllowOverride)
	}
	return fmt.Sprintf("choose another name to have an object of your own, or annotate it with %s: \"true\" if that one is annotated with %s: \"true\"",
		hnc.AnnotationOverride, hnc.AnnotationAllowOverride)
}
