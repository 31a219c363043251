package install

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	jsonserializer "k8s.io/apimachinery/pkg/runtime/serializer/json"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha2"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

// fuzzed are the kinds that bodies are decoded as.
var fuzzed = []schema.GroupVersionKind{
	v1alpha2.SchemeGroupVersion.WithKind("HierarchyConfiguration"),
	v1alpha2.SchemeGroupVersion.WithKind("SubnamespaceAnchor"),
	v1alpha2.SchemeGroupVersion.WithKind("HNCConfiguration"),
	v1alpha2.SchemeGroupVersion.WithKind("HierarchyConfigurationList"),
	v1beta1.SchemeGroupVersion.WithKind("Hierarchy"),
	v1beta1.SchemeGroupVersion.WithKind("Subnamespace"),
	v1beta1.SchemeGroupVersion.WithKind("HNCConfiguration"),
	v1beta1.SchemeGroupVersion.WithKind("SubnamespaceList"),
	v1alpha3.SchemeGroupVersion.WithKind("CopyRelease"),
	v1alpha3.SchemeGroupVersion.WithKind("RepositorySync"),
	v1alpha3.SchemeGroupVersion.WithKind("OverwrittenObject"),
	v1alpha3.SchemeGroupVersion.WithKind("HierarchyTree"),
	v1alpha3.SchemeGroupVersion.WithKind("HierarchyPlan"),
	v1alpha2.SchemeGroupVersion.WithKind("HierarchicalResourceQuota"),
	v1beta1.SchemeGroupVersion.WithKind("HierarchicalResourceQuota"),
}

var seeds = []string{
	`{}`,
	`{"metadata":{"name":"hierarchy","namespace":"a","labels":{"a":"b"},"creationTimestamp":"2020-01-01T00:00:00Z"},"spec":{"parent":"p","allowCascadingDeletion":false,"labels":[{"key":"k","value":"v"}],"annotations":[]},"status":{"children":["b"],"conditions":[{"type":"ActivitiesHalted","reason":"InCycle","status":"True","message":"m","lastTransitionTime":"2020-01-01T00:00:00Z"},{"type":"Ready","reason":"x"},{"type":"ActivitiesHalted","reason":"ParentMissing"}]}}`,
	`{"spec":{"namespaceLabels":[{"key":"k"}],"requiredChildren":["c"],"propagation":[{"resource":"secrets","mode":"Remove","onConflict":"Keep"}]}}`,
	`{"spec":{"labels":null},"status":{"status":"Ok","conditions":[]}}`,
	`{"spec":{"resources":[{"group":"","resource":"secrets","mode":"Propagate"},{"resource":"configmaps"}],"creatorRole":"r","subnamespaceNames":{"pattern":"a","prefix":"Parent"}},"status":{"resources":[{"group":"","version":"v1","resource":"secrets","numPropagatedObjects":1}],"conditions":[{"type":"NamespaceCondition","reason":"BadConfiguration","message":"a; b"},{"type":"NamespaceCondition","reason":"ActivitiesHalted","message":"c; d"}]}}`,
	`{"items":[{"spec":{"parent":"p"}},{}]}`,
	`{"apiVersion":"hnc.x-k8s.io/v1alpha2","kind":"SubnamespaceAnchor","spec":{"unknown":1,"unknown":2}}`,
	`{"metadata":{"ownerReferences":[{"uid":"u","controller":true}],"managedFields":[{"fieldsV1":{"f:a":{}}}],"deletionTimestamp":"0001-01-01T00:00:00Z"}}`,
	`{"metadata":{"creationTimestamp":"9999-12-31T23:59:59-00:01","managedFields":[{"time":"0000-01-01T00:00:00+00:01"}]},"status":{"conditions":[{"type":"Ready","lastTransitionTime":"9999-12-31T23:59:59-00:01"}]}}`,
	`{"spec":{"hard":{"pods":"1","requests.cpu":"1.5","limits.memory":"1e3Gi"},"scopes":["Terminating"],"scopeSelector":{"matchExpressions":[{"scopeName":"PriorityClass","operator":"In","values":["a"]}]}},"status":{"hard":{"pods":"1"},"used":{"pods":"-0"},"requestsSummary":"pods: 0/1"}}`,
	`{"spec":{"rules":{"excludedNamespaces":["a"],"includedNamespaceRegex":"a","stripTrackingMetadata":false,"managedNamespaceLabels":[],"skippedObjects":[{"matchLabels":{"a":"b"}}]},"onConflict":"Keep"}}`,
	`null`, `[]`, `{"spec":[]}`, `a: b`, "",
}

// FuzzConversion decodes bodies and converts the objects to the hub and back, and those of v1alpha2 through the stored
// version too. Nothing that the version of the body can express may be lost, except for conditions that HNC's clients
// do not get.
func FuzzConversion(f *testing.F) {
	for i := range fuzzed {
		for _, seed := range seeds {
			f.Add(byte(i), []byte(seed))
		}
	}
	s := scheme()
	options := jsonserializer.SerializerOptions{Yaml: true}
	lenient := jsonserializer.NewSerializerWithOptions(jsonserializer.DefaultMetaFactory, s, s, options)
	options.Strict = true
	strict := jsonserializer.NewSerializerWithOptions(jsonserializer.DefaultMetaFactory, s, s, options)
	f.Fuzz(func(t *testing.T, kind byte, body []byte) {
		gvk := fuzzed[int(kind)%len(fuzzed)]
		object, got, err := lenient.Decode(body, &gvk, nil)
		if same, _, strictErr := strict.Decode(body, &gvk, nil); strictErr == nil && (err != nil || !apiequality.Semantic.DeepEqual(object, same)) {
			t.Fatalf("decoded strictly it is %v, else %v, %v", same, object, err)
		}
		if err != nil || !slices.Contains(fuzzed, *got) {
			return
		}
		gvk = *got
		s.Default(object)
		object.GetObjectKind().SetGroupVersionKind(gvk)
		resetTimes(reflect.ValueOf(object), "")
		// From here on, times have no fractions.
		object, _, err = lenient.Decode(encode(t, object), &gvk, nil)
		if err != nil {
			t.Fatalf("it cannot be decoded again: %v", err)
		}
		object.GetObjectKind().SetGroupVersionKind(gvk)
		roundTrip(t, s, object)
		if gvk.Version != v1alpha2.SchemeGroupVersion.Version {
			return
		}
		stored := convert(t, s, convert(t, s, object.DeepCopyObject(), hnc.SchemeGroupVersion), v1beta1.SchemeGroupVersion)
		roundTrip(t, s, stored)
		stored, _, err = lenient.Decode(encode(t, stored), nil, nil)
		if err != nil {
			t.Fatalf("the stored object cannot be decoded: %v", err)
		}
		back := convert(t, s, convert(t, s, stored, hnc.SchemeGroupVersion), v1alpha2.SchemeGroupVersion)
		equal(t, object, back)
	})
}

// checkedTimes are the fields with times that clients cannot store with any value: the server sets them, only servers
// may write them, or, of managed fields, it rejects what cannot be decoded again.
var checkedTimes = []string{"CreationTimestamp", "DeletionTimestamp", "LastTransitionTime", "AppliedTime", "ExpirationTime", "ManagedFields"}

// resetTimes resets the times of these fields that cannot be decoded after they have been encoded. Field is the name of
// the field that has the value, for ManagedFields also of those below.
func resetTimes(value reflect.Value, field string) {
	if value.Type() == reflect.TypeFor[metav1.Time]() {
		if year := value.Interface().(metav1.Time).UTC().Year(); (year < 0 || year > 9999) && slices.Contains(checkedTimes, field) {
			value.SetZero()
		}
		return
	}
	switch value.Kind() {
	case reflect.Pointer:
		if !value.IsNil() {
			resetTimes(value.Elem(), field)
		}
	case reflect.Slice:
		for i := range value.Len() {
			resetTimes(value.Index(i), field)
		}
	case reflect.Struct:
		for i := range value.NumField() {
			name := value.Type().Field(i).Name
			if field == "ManagedFields" {
				name = field
			}
			resetTimes(value.Field(i), name)
		}
	}
}

// roundTrip converts an object to the hub and back, and encodes and decodes the result.
func roundTrip(t *testing.T, s *runtime.Scheme, object runtime.Object) {
	t.Helper()
	gvk := object.GetObjectKind().GroupVersionKind()
	back := convert(t, s, convert(t, s, object.DeepCopyObject(), hnc.SchemeGroupVersion), gvk.GroupVersion())
	if h, ok := object.(*v1beta1.Hierarchy); ok {
		h.Status.ChildCount = int32(len(h.Status.Children))
	}
	equal(t, object, back)
	again := reflect.New(reflect.TypeOf(back).Elem()).Interface().(runtime.Object)
	if err := json.Unmarshal(encode(t, back), again); err != nil {
		t.Fatal(err)
	}
	equal(t, back, again)
	if twice := convert(t, s, convert(t, s, again, hnc.SchemeGroupVersion), gvk.GroupVersion()); !bytes.Equal(encode(t, twice), encode(t, back)) {
		t.Fatalf("the second conversion differs: %s", cmp.Diff(back, twice))
	}
}

func convert(t *testing.T, s *runtime.Scheme, object runtime.Object, to schema.GroupVersion) runtime.Object {
	t.Helper()
	converted, err := s.ConvertToVersion(object, to)
	if err != nil {
		t.Fatal(err)
	}
	return converted
}

func encode(t *testing.T, object runtime.Object) []byte {
	t.Helper()
	data, err := json.Marshal(object)
	if err != nil {
		t.Skip(err)
	}
	return data
}

func equal(t *testing.T, want, got runtime.Object) {
	t.Helper()
	got = got.DeepCopyObject()
	got.GetObjectKind().SetGroupVersionKind(want.GetObjectKind().GroupVersionKind())
	want = want.DeepCopyObject()
	types := namespaceTypes
	if _, ok := want.(*v1alpha2.HNCConfiguration); ok {
		types = []string{hnc.ConditionBadConfiguration, hnc.ConditionOutOfSync, hnc.ConditionNamespace}
	}
	was, is := conditions(want), conditions(got)
	for i := range was {
		sameTypes(t, *was[i], *is[i], types)
		*was[i], *is[i] = nil, nil
	}
	if !apiequality.Semantic.DeepEqual(want, got) {
		t.Fatalf("%T: %s", want, cmp.Diff(want, got))
	}
}

// conditions returns the conditions of an object of v1alpha2, which has one of each type, and only of HNC's types.
func conditions(object runtime.Object) (all []*[]metav1.Condition) {
	switch o := object.(type) {
	case *v1alpha2.HierarchyConfiguration:
		all = append(all, &o.Status.Conditions)
	case *v1alpha2.HierarchyConfigurationList:
		for i := range o.Items {
			all = append(all, &o.Items[i].Status.Conditions)
		}
	case *v1alpha2.HNCConfiguration:
		all = append(all, &o.Status.Conditions)
	}
	return all
}

// namespaceTypes are the types of HNC's conditions of namespaces, and the reasons of its NamespaceConditions.
var namespaceTypes = []string{hnc.ConditionActivitiesHalted, hnc.ConditionBadConfiguration}

// sameTypes checks that got has one condition of each type that want has, and that it is one of want's.
func sameTypes(t *testing.T, want, got []metav1.Condition, types []string) {
	t.Helper()
	for _, c := range want {
		if !slices.Contains(types, c.Type) || c.Type == hnc.ConditionNamespace && !slices.Contains(namespaceTypes, c.Reason) {
			continue
		}
		if n := len(ofType(got, c.Type)); n != 1 {
			t.Fatalf("%d conditions of type %s in %v", n, c.Type, got)
		}
	}
	for _, c := range got {
		if !slices.ContainsFunc(want, func(w metav1.Condition) bool {
			if w.Type == hnc.ConditionNamespace {
				w.Message, _, _ = strings.Cut(w.Message, hnc.NamespaceConditionSeparator)
			}
			return apiequality.Semantic.DeepEqual(w, c)
		}) {
			t.Fatalf("the condition %v is not in %v", c, want)
		}
	}
}

func ofType(conditions []metav1.Condition, kind string) []metav1.Condition {
	return slices.DeleteFunc(slices.Clone(conditions), func(c metav1.Condition) bool { return c.Type != kind })
}
