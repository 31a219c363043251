package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pmezard/go-difflib/difflib"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "sigs.k8s.io/json"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/ui"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/yamlbody"
)

const (
	// maxUIEvents bounds the events that the page shows: the latest of those in so many pages of so many events.
	maxUIEvents     = 100
	maxUIEventPages = 5
	uiEventsPage    = 1000
	// maxUIDiffLines bounds the lines of objects that it compares.
	maxUIDiffLines = 2000
)

// What replaces the values of Secrets.
const (
	hiddenValue     = "(hidden)"
	hiddenDifferent = "(hidden, and different)"
)

func (r *uiReader) Content(ctx context.Context, namespace, resource, name string) (*ui.Content, error) {
	mapping, err := r.factory.Mapping(resource)
	if err != nil {
		return nil, err
	}
	return r.content(ctx, mapping.Resource, namespace, name)
}

func (r *uiReader) content(ctx context.Context, resource schema.GroupVersionResource, namespace, name string) (*ui.Content, error) {
	client := r.clients.Dynamic.Resource(resource)
	object, err := client.Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	answer := &ui.Content{Source: object.GetLabels()[hnc.LabelInheritedFrom]}
	if answer.Source != "" {
		source, err := client.Namespace(answer.Source).Get(ctx, name, metav1.GetOptions{})
		switch {
		case apierrors.IsForbidden(err):
			answer.Notes = append(answer.Notes, "the source cannot be compared: missing permission: "+missingPermission(err))
		case apierrors.IsNotFound(err):
			answer.Notes = append(answer.Notes, "the source in "+answer.Source+" does not exist")
		case err != nil:
			return nil, err
		default:
			answer.Difference = differenceOf(source, object)
		}
		before, note := r.overwritten(ctx, resource.GroupResource(), namespace, name)
		if note != "" {
			answer.Notes = append(answer.Notes, note)
		}
		if before != nil {
			answer.Overwritten = differenceOf(before, object)
		}
	}
	clean(object)
	hide(object, nil)
	answer.Manifest, err = manifestOf(object)
	return answer, err
}

// manifestOf returns an object as YAML, or why it is not shown.
func manifestOf(u *unstructured.Unstructured) (string, error) {
	text, err := yamlbody.Marshal(u.Object)
	if errors.Is(err, yamlbody.ErrTooDeep) {
		return "(" + err.Error() + ")\n", nil
	}
	return string(text), err
}

// overwritten returns the object that a copy has replaced, nil if none is kept. note says why it could not be read.
func (r *uiReader) overwritten(ctx context.Context, resource schema.GroupResource, namespace, name string) (before *unstructured.Unstructured, note string) {
	record, err := r.clients.Hierarchy.HncV1alpha3().OverwrittenObjects(namespace).Get(ctx, hnc.OverwrittenName(resource, name), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, ""
	}
	before = &unstructured.Unstructured{}
	if err == nil {
		err = kjson.UnmarshalCaseSensitivePreserveInts([]byte(record.Spec.Manifest), &before.Object)
	}
	if err != nil {
		why := ServerMessage(err)
		if permission := missingPermission(err); permission != "" {
			why = "missing permission: " + permission
		}
		return nil, "what it has overwritten is not known: " + why
	}
	return before, ""
}

// clean removes what the server manages.
func clean(u *unstructured.Unstructured) {
	for _, field := range []string{"managedFields", "uid", "resourceVersion", "creationTimestamp", "generation", "selfLink"} {
		unstructured.RemoveNestedField(u.Object, "metadata", field)
	}
	// The annotation repeats the object, including the content of a Secret.
	unstructured.RemoveNestedField(u.Object, "metadata", "annotations", corev1.LastAppliedConfigAnnotation)
	if len(u.GetAnnotations()) == 0 {
		unstructured.RemoveNestedField(u.Object, "metadata", "annotations")
	}
}

// hide replaces the values of a Secret. Values that differ from those of another one, if there is one, remain
// recognizable as such.
func hide(u, other *unstructured.Unstructured) {
	switch kind := u.GroupVersionKind().GroupKind(); kind {
	case schema.GroupKind{Group: hnc.GroupName, Kind: "OverwrittenObject"}:
		// It may contain a Secret.
		_ = unstructured.SetNestedField(u.Object, hiddenValue, "spec", "manifest")
		return
	case corev1.SchemeGroupVersion.WithKind("Secret").GroupKind():
	default:
		return
	}
	for _, field := range []string{"data", "stringData"} {
		values, _ := u.Object[field].(map[string]any)
		hidden := map[string]any{}
		for key, value := range values {
			hidden[key] = hiddenValue
			if other == nil {
				continue
			}
			if theirs, _ := other.Object[field].(map[string]any); theirs[key] != value {
				hidden[key] = hiddenDifferent
			}
		}
		if len(values) > 0 {
			u.Object[field] = hidden
		}
	}
}

// withoutMarks removes the labels and annotations that copies get or lose.
func withoutMarks(u *unstructured.Unstructured) {
	for _, field := range []string{"labels", "annotations"} {
		values, _, _ := unstructured.NestedMap(u.Object, "metadata", field)
		for key := range values {
			if copies.Internal(key) || key == hnc.LabelManagedBy {
				unstructured.RemoveNestedField(u.Object, "metadata", field, key)
				delete(values, key)
			}
		}
		if len(values) == 0 {
			unstructured.RemoveNestedField(u.Object, "metadata", field)
		}
	}
}

// differenceOf returns a unified difference of two objects apart from what the servers manage, and their namespaces.
func differenceOf(before, after *unstructured.Unstructured) string {
	before, after = before.DeepCopy(), after.DeepCopy()
	// The values of both are compared before any is hidden.
	hide(after, before)
	hide(before, nil)
	texts := make([][]string, 2)
	for i, u := range []*unstructured.Unstructured{before, after} {
		withoutMarks(u)
		clean(u)
		unstructured.RemoveNestedField(u.Object, "metadata", "namespace")
		text, err := yamlbody.Marshal(u.Object)
		if err != nil {
			return "(" + err.Error() + ")\n"
		}
		if texts[i] = difflib.SplitLines(string(text)); len(texts[i]) > maxUIDiffLines {
			return "(too long to be compared)\n"
		}
	}
	// An empty difference.
	if slices.Equal(texts[0], texts[1]) {
		return ""
	}
	text, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{A: texts[0], B: texts[1], FromFile: "before", ToFile: "here", Context: 3})
	if err != nil {
		return ""
	}
	return text
}

func (r *uiReader) Events(ctx context.Context, namespace string) (*ui.Events, error) {
	answer, latest, now := &ui.Events{Items: []ui.Event{}}, []corev1.Event(nil), time.Now()
	// Kubernetes returns them in the order of their names.
	options := metav1.ListOptions{Limit: uiEventsPage}
	for range maxUIEventPages {
		list, err := r.clients.Kube.CoreV1().Events(namespace).List(ctx, options)
		if err != nil {
			return nil, err
		}
		if latest = latestEvents(append(latest, list.Items...), now); len(latest) > maxUIEvents {
			latest = latest[:maxUIEvents]
			answer.Notes = []string{fmt.Sprintf("the latest %d events are shown; kubectl get events -n %s shows all", maxUIEvents, namespace)}
		}
		if options.Continue = list.Continue; options.Continue == "" {
			break
		}
	}
	if options.Continue != "" {
		answer.Notes = []string{fmt.Sprintf("the latest of %d events are shown; there are more, which are not read", uiEventsPage*maxUIEventPages)}
	}
	for i := range latest {
		answer.Items = append(answer.Items, newEvent(&latest[i], now))
	}
	return answer, nil
}

func newEvent(e *corev1.Event, now time.Time) ui.Event {
	return ui.Event{
		Warning: e.Type == corev1.EventTypeWarning, Reason: names.Shorten(e.Reason), Message: names.ShortenText(e.Message),
		Kind: names.Shorten(e.InvolvedObject.Kind), Name: names.Shorten(e.InvolvedObject.Name), Count: max(e.Count, 1), Last: lastSeen(e, now),
	}
}

// Mine returns the namespaces that RBAC lets the user get.
func (r *uiReader) Mine(ctx context.Context) ([]string, error) {
	mine, err := r.clients.Hierarchy.HncV1alpha3().MyNamespaces().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(mine.Items))
	for i := range mine.Items {
		names = append(names, mine.Items[i].Name)
	}
	return names, nil
}
