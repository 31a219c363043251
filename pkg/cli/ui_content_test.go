package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	kubefake "k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	clienttesting "k8s.io/client-go/testing"
	"sigs.k8s.io/yaml"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli/origin"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/clientset/versioned/fake"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/yamlbody"
)

func secret(namespace, a, b string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret", "data": map[string]any{"a": a, "b": b},
		"metadata": map[string]any{"name": "s", "namespace": namespace, "uid": namespace, "annotations": map[string]any{
			"kubectl.kubernetes.io/last-applied-configuration": a + b,
		}},
	}}
}

// Each line of YAML repeats the indentation of all levels around it.
func TestDeepObjectsAreNotShown(t *testing.T) {
	deep, want := secret("acme", "first", "same"), "(the object is too deep to be written as YAML)\n"
	inner := map[string]any{}
	deep.Object["spec"] = inner
	for range 4000 {
		next := map[string]any{}
		inner["a"], inner = next, next
	}
	if got := differenceOf(secret("acme", "first", "same"), deep); got != want {
		t.Errorf("the difference is %.100q", got)
	}
	if got, err := manifestOf(deep); got != want || err != nil {
		t.Errorf("the manifest is %.100q, %v", got, err)
	}
	output := OutputFlag{Format: "yaml"}
	if _, err := output.Print(io.Discard, deep, nil); !errors.Is(err, yamlbody.ErrTooDeep) {
		t.Errorf("--output=yaml: %v", err)
	}
	resource := schema.GroupResource{Resource: "secrets"}
	record := &v1alpha3.OverwrittenObject{ObjectMeta: metav1.ObjectMeta{Namespace: "acme", Name: hnc.OverwrittenName(resource, "first")}}
	record.Spec.Manifest = strings.Repeat(`{"a":`, 4000) + "1" + strings.Repeat("}", 4000)
	o := &whyOptions{}
	o.object.namespace, o.object.name = "acme", "first"
	err := o.printOverwritten(t.Context(), &Clients{Hierarchy: fake.NewClientset(record)}, resource)
	if err == nil || !strings.HasSuffix(err.Error(), "; use kubectl get overwrittenobject secrets:first -n acme --output=json") {
		t.Errorf("kubectl hns why --overwritten: %v", err)
	}
}

func TestLargeIntegersOfOverwrittenObjectsStay(t *testing.T) {
	resource := schema.GroupResource{Resource: "configmaps"}
	record := &v1alpha3.OverwrittenObject{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: hnc.OverwrittenName(resource, "c")}}
	record.Spec.Manifest = `{"spec":{"a":9007199254740993}}`
	r := &uiReader{clients: &Clients{Hierarchy: fake.NewClientset(record)}}
	before, note := r.overwritten(t.Context(), resource, "team-a", "c")
	if before == nil || note != "" {
		t.Fatal(note)
	}
	if text, err := manifestOf(before); text != "spec:\n  a: 9007199254740993\n" || err != nil {
		t.Errorf("got %q, %v", text, err)
	}
}

// Users with edit may write events, with any text and with any time that protobuf has.
func TestEventsOfTenantsDoNotBreakThePage(t *testing.T) {
	now := time.Now().UTC().Truncate(time.Second)
	created := now.Add(-time.Hour)
	long := strings.Repeat("x", 100_000)
	for _, seen := range []time.Time{{}, time.Unix(-1e12, 0), now.Add(6 * time.Minute), time.Unix(1e12, 0)} {
		for name, e := range map[string]*corev1.Event{
			"last timestamp": {LastTimestamp: metav1.NewTime(seen)},
			"event time":     {EventTime: metav1.NewMicroTime(seen)},
			"series":         {Series: &corev1.EventSeries{LastObservedTime: metav1.NewMicroTime(seen)}},
		} {
			e.CreationTimestamp, e.Reason, e.Message = metav1.NewTime(created), long, long
			shown := newEvent(e, now)
			text, err := json.Marshal(shown)
			if err != nil || !shown.Last.Equal(created) || len(text) > 1000 {
				t.Errorf("%s %s: last seen %s, %d bytes, %v", name, seen, shown.Last, len(text), err)
			}
		}
	}
	client := kubefake.NewClientset(&corev1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: "acme", Name: "e"}, Reason: long, Message: long})
	about := eventsAbout(t.Context(), &Clients{Kube: client}, &origin.Question{Chain: []origin.Namespace{{Name: "acme"}}})
	if len(about) != 1 || len(about[0]) > 1000 {
		t.Errorf("kubectl hns why prints %d events, %.100q", len(about), about)
	}
	forged := &corev1.EventList{}
	for i := range 3 * maxEventsAbout {
		forged.Items = append(forged.Items, corev1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: "acme", Name: fmt.Sprint(i)}, Message: fmt.Sprint(i), LastTimestamp: metav1.NewTime(now.Add(-time.Hour))})
	}
	forged.Items[2*maxEventsAbout].LastTimestamp = metav1.NewTime(now.Add(-time.Minute))
	forged.Items = append(forged.Items, corev1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: "root", Name: "e"}, Message: "m", LastTimestamp: metav1.NewTime(now.Add(-2 * time.Hour))})
	about = eventsAbout(t.Context(), &Clients{Kube: kubefake.NewClientset(forged)}, &origin.Question{Chain: []origin.Namespace{{Name: "acme"}, {Name: "root"}}})
	if len(about) != maxEventsAbout+2 || about[0] != fmt.Sprintf("event in acme: : %d", 2*maxEventsAbout) ||
		about[maxEventsAbout] != "older events in acme are left out; kubectl get events -n acme shows them" || about[maxEventsAbout+1] != "event in root: : m" {
		t.Errorf("kubectl hns why prints %q", about)
	}
}

func TestThePageNeverReceivesTheDataOfSecrets(t *testing.T) {
	source, here := secret("acme", "first", "same"), secret("team-a", "second", "same")
	difference := differenceOf(source, here)
	hide(here, nil)
	clean(here)
	text, err := yaml.Marshal(here.Object)
	if err != nil {
		t.Fatal(err)
	}
	for _, value := range []string{"first", "second", "same"} {
		if strings.Contains(difference, value) || strings.Contains(string(text), value) {
			t.Errorf("the value %s is not hidden in:\n%s\n%s", value, difference, text)
		}
	}
	want := "--- before\n+++ here\n@@ -1,6 +1,6 @@\n apiVersion: v1\n data:\n-  a: (hidden)\n+  a: (hidden, and different)\n   b: (hidden)\n kind: Secret\n metadata:\n"
	if difference != want {
		t.Errorf("got the difference:\n%s\nwant:\n%s", difference, want)
	}
	overwritten := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "hnc.x-k8s.io/v1alpha3", "kind": "OverwrittenObject", "spec": map[string]any{"manifest": "first"},
	}}
	hide(overwritten, nil)
	if manifest, _, _ := unstructured.NestedString(overwritten.Object, "spec", "manifest"); manifest != hiddenValue {
		t.Errorf("the manifest of an overwritten object is %q", manifest)
	}
}

// Kubernetes lists events by name: the latest may be on the last page.
func TestEventsAreTheLatestOfAllPages(t *testing.T) {
	pages := 0
	client := kubefake.NewClientset()
	client.PrependReactor("list", "events", func(clienttesting.Action) (bool, runtime.Object, error) {
		pages++
		list := &corev1.EventList{}
		if pages != 3 {
			list.Continue = "more"
		}
		for i := range maxUIEvents {
			list.Items = append(list.Items, corev1.Event{Reason: fmt.Sprint("page ", pages), Message: fmt.Sprint(i), LastTimestamp: metav1.Unix(int64(1000*pages+i), 0)},
				corev1.Event{Reason: fmt.Sprint("repeated on page ", pages), LastTimestamp: metav1.Unix(int64(1000*pages+i), 0)})
		}
		return true, list, nil
	})
	r := &uiReader{clients: &Clients{Kube: client}}
	events, err := r.Events(t.Context(), "acme")
	if err != nil || pages != 3 || len(events.Items) != maxUIEvents || events.Items[maxUIEvents-1].Reason != "page 3" || !strings.Contains(fmt.Sprint(events.Notes), "kubectl get events -n acme shows all") {
		t.Errorf("after %d pages %d events, the notes %v, and %v", pages, len(events.Items), events.Notes, err)
	}
	if events, err = r.Events(t.Context(), "acme"); err != nil || pages != 3+maxUIEventPages || !strings.Contains(fmt.Sprint(events.Notes), "not read") {
		t.Errorf("after %d pages the notes %v, and %v", pages, events.Notes, err)
	}
}

// What cannot be read is not reported as equal, or as nothing.
func TestContentOfACopy(t *testing.T) {
	configMap := func(namespace, value string, labels map[string]any) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "c", "namespace": namespace, "labels": labels}, "data": map[string]any{"key": value},
		}}
	}
	copied := map[string]any{hnc.LabelInheritedFrom: "acme", hnc.LabelManagedBy: hnc.GroupName, "app": "web"}
	denied := apierrors.NewForbidden(schema.GroupResource{}, "c", errors.New(`User "u" cannot get resource "overwrittenobjects" in API group "hnc.x-k8s.io" in the namespace "team-a"`))
	for name, row := range map[string]struct {
		source             *unstructured.Unstructured
		overwritten        error
		difference, missed string
	}{
		"equal":               {configMap("acme", "same", map[string]any{"app": "web", hnc.LabelManagedBy: "Helm"}), nil, "", ""},
		"different":           {configMap("acme", "other", nil), nil, "-  key: other", ""},
		"no source":           {nil, nil, "", "the source in acme does not exist"},
		"unknown overwriting": {configMap("acme", "same", map[string]any{"app": "web"}), denied, "", "get overwrittenobjects.hnc.x-k8s.io in namespace team-a"},
	} {
		t.Run(name, func(t *testing.T) {
			objects := []runtime.Object{configMap("team-a", "same", copied)}
			if row.source != nil {
				objects = append(objects, row.source)
			}
			client := fake.NewClientset()
			if row.overwritten != nil {
				client.PrependReactor("get", "overwrittenobjects", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, row.overwritten })
			}
			r := &uiReader{clients: &Clients{Dynamic: dynamicfake.NewSimpleDynamicClient(scheme.Scheme, objects...), Hierarchy: client}}
			content, err := r.content(t.Context(), corev1.SchemeGroupVersion.WithResource("configmaps"), "team-a", "c")
			if err != nil {
				t.Fatal(err)
			}
			if (content.Difference == "") != (row.difference == "") || !strings.Contains(content.Difference, row.difference) {
				t.Errorf("the difference is\n%s", content.Difference)
			}
			notes := strings.Join(content.Notes, "\n")
			if (notes == "") != (row.missed == "") || !strings.Contains(notes, row.missed) {
				t.Errorf("the notes are %q", notes)
			}
		})
	}
}
