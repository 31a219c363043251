package strategy

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// metadata returns metadata with these numbers of labels, finalizers and owner references, and an owner reference of
// some bytes.
func metadata(labels, finalizers, owners, bytes int) *metav1.ObjectMeta {
	m := &metav1.ObjectMeta{Labels: map[string]string{}}
	for i := range labels {
		m.Labels[fmt.Sprint(i)] = "x"
	}
	for i := range finalizers {
		m.Finalizers = append(m.Finalizers, fmt.Sprint("example.com/", i))
	}
	for range owners {
		m.OwnerReferences = append(m.OwnerReferences, metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "x", UID: "x"})
	}
	if bytes > 0 {
		m.OwnerReferences = append(m.OwnerReferences, metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: strings.Repeat("x", bytes), UID: "x"})
	}
	return m
}

// managed returns metadata with managed fields of some bytes.
func managed(bytes int) *metav1.ObjectMeta {
	fields := metav1.NewFieldsV1(`{"f:` + strings.Repeat("x", bytes) + `":{}}`)
	return &metav1.ObjectMeta{ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "m", Operation: "Update", FieldsV1: fields}}}
}

// deep returns metadata with managed fields of some levels.
func deep(levels int) *metav1.ObjectMeta {
	fields := metav1.NewFieldsV1(strings.Repeat(`{"f:{\\\"{":`, levels-1) + "{}" + strings.Repeat("}", levels-1))
	return &metav1.ObjectMeta{ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "m", Operation: "Update"}, {Manager: "n", Operation: "Update", FieldsV1: fields}}}
}

// timed returns metadata with managed fields of a time.
func timed(text string) *metav1.ObjectMeta {
	var entry metav1.ManagedFieldsEntry
	if err := json.Unmarshal(fmt.Appendf(nil, `{"manager":"m","operation":"Update","time":%q}`, text), &entry); err != nil {
		panic(err)
	}
	return &metav1.ObjectMeta{ManagedFields: []metav1.ManagedFieldsEntry{entry}}
}

// annotated returns metadata with an annotation with a value of some bytes.
func annotated(bytes int) *metav1.ObjectMeta {
	return &metav1.ObjectMeta{Annotations: map[string]string{"a": strings.Repeat("x", bytes)}}
}

// annotations returns metadata with some annotations.
func annotations(n int) *metav1.ObjectMeta {
	m := &metav1.ObjectMeta{Annotations: map[string]string{}}
	for i := range n {
		m.Annotations[fmt.Sprint(i)] = "x"
	}
	return m
}

func TestMetadataThatGrowsIsLimited(t *testing.T) {
	for name, test := range map[string]struct {
		now, before *metav1.ObjectMeta
		// want are the fields that the errors name.
		want string
	}{
		"as much as allowed":          {metadata(64, 32, 32, 0), nil, ""},
		"too many labels":             {metadata(65, 0, 0, 0), nil, "metadata.labels"},
		"too many finalizers":         {metadata(0, 33, 0, 0), nil, "metadata.finalizers"},
		"too many owner references":   {metadata(0, 0, 33, 0), nil, "metadata.ownerReferences"},
		"too many bytes":              {metadata(0, 0, 0, 64<<10+1), nil, "metadata"},
		"a long owner reference":      {&metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{{Name: strings.Repeat("x", 64<<10+1)}}}, nil, "metadata"},
		"everything":                  {metadata(65, 33, 33, 64<<10), nil, "metadata.labels metadata.finalizers metadata.ownerReferences metadata"},
		"stored ones stay":            {metadata(70, 40, 40, 70<<10), metadata(70, 40, 40, 70<<10), ""},
		"stored ones shrink":          {metadata(69, 39, 39, 69<<10), metadata(70, 40, 40, 70<<10), ""},
		"stored ones grow":            {metadata(71, 41, 41, 71<<10), metadata(70, 40, 40, 70<<10), "metadata.labels metadata.finalizers metadata.ownerReferences metadata"},
		"one grows, another shrinks":  {metadata(71, 39, 40, 0), metadata(70, 40, 40, 0), "metadata.labels"},
		"grows to what is allowed":    {metadata(64, 0, 0, 0), metadata(1, 0, 0, 0), ""},
		"grows to more than that":     {metadata(65, 0, 0, 0), metadata(64, 0, 0, 0), "metadata.labels"},
		"many annotations":            {annotations(256), nil, ""},
		"too many annotations":        {annotations(257), nil, "metadata.annotations"},
		"as many as stored":           {annotations(300), annotations(300), ""},
		"an invalid label":            {&metav1.ObjectMeta{Labels: map[string]string{"a": "!"}}, nil, "metadata.labels"},
		"an invalid annotation":       {&metav1.ObjectMeta{Annotations: map[string]string{"!": ""}}, nil, "metadata.annotations"},
		"an invalid finalizer":        {&metav1.ObjectMeta{Finalizers: []string{"!"}}, nil, "metadata.finalizers"},
		"an invalid owner":            {&metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "x"}}}, nil, "metadata.ownerReferences[0].uid"},
		"a Namespace as owner":        {&metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Namespace", Name: "x"}}}, nil, ""},
		"an invalid manager":          {&metav1.ObjectMeta{ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "\x01", Operation: "Update"}}}, nil, "metadata.managedFields[0].manager"},
		"a long manager":              {&metav1.ObjectMeta{ManagedFields: []metav1.ManagedFieldsEntry{{Manager: strings.Repeat("\x01", 129), Operation: "Update"}}}, nil, "metadata.managedFields[0].manager"},
		"large annotations":           {annotated(64<<10 - 1), nil, ""},
		"larger annotations":          {annotated(64 << 10), nil, "metadata.annotations"},
		"stored annotations stay":     {annotated(64 << 10), annotated(64 << 10), ""},
		"stored annotations grow":     {annotated(64<<10 + 1), annotated(64 << 10), "metadata.annotations"},
		"a long generateName":         {&metav1.ObjectMeta{GenerateName: strings.Repeat("x", 254)}, nil, "metadata.generateName"},
		"a stored generateName stays": {&metav1.ObjectMeta{GenerateName: strings.Repeat("x", 254)}, &metav1.ObjectMeta{GenerateName: strings.Repeat("y", 254)}, ""},
		"many managed fields":         {managed(128 << 10), nil, "metadata.managedFields"},
		"stored managed fields stay":  {managed(128 << 10), managed(128 << 10), ""},
		"managed fields grow":         {managed(128<<10 + 1), managed(128 << 10), "metadata.managedFields"},
		"many managers":               {&metav1.ObjectMeta{ManagedFields: make([]metav1.ManagedFieldsEntry, 65)}, nil, "metadata.managedFields"},
		"some managed fields":         {managed(127 << 10), nil, ""},
		"managed fields of 64 levels": {deep(64), nil, ""},
		"deep managed fields":         {deep(65), nil, "metadata.managedFields[1].fieldsV1"},
		"stored deep managed fields":  {deep(65), deep(65), "metadata.managedFields[1].fieldsV1"},
		"the first time":              {timed("0000-01-01T00:00:00Z"), nil, ""},
		"a time before it":            {timed("0000-01-01T00:00:00+00:01"), nil, "metadata.managedFields[0].time"},
		"the last time":               {timed("9999-12-31T23:59:59+23:59"), nil, ""},
		"a time after it":             {timed("9999-12-31T23:59:59-00:01"), nil, "metadata.managedFields[0].time"},
		"a stored time after it":      {timed("9999-12-31T23:59:59-23:59"), timed("9999-12-31T23:59:59-23:59"), "metadata.managedFields[0].time"},
		"nothing is stored, or given": {metadata(0, 0, 0, 0), nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			as := func(name string) string {
				old := test.before
				if old == nil {
					old = &metav1.ObjectMeta{}
				}
				object := func(m *metav1.ObjectMeta) runtime.Object { return &hnc.Hierarchy{ObjectMeta: *m} }
				attributes := admission.NewAttributesRecord(object(test.now), object(old), schema.GroupVersionKind{Group: hnc.GroupName, Kind: "Hierarchy"}, "a", "hierarchy",
					schema.GroupVersionResource{}, "", admission.Update, nil, false, nil)
				ctx := genericapirequest.WithUser(t.Context(), &user.DefaultInfo{Name: name})
				var fields []string
				for _, err := range []error{MetadataLimits{}.Admit(ctx, attributes, nil), MetadataLimits{}.Validate(ctx, attributes, nil)} {
					if status := apierrors.APIStatus(nil); errors.As(err, &status) {
						for _, cause := range status.Status().Details.Causes {
							fields = append(fields, cause.Field)
						}
					}
				}
				return strings.Join(fields, " ")
			}
			if got := as("ann"); got != test.want {
				t.Errorf("got errors of %q, want %q", got, test.want)
			}
			if got := as(hnc.PropagatorUser); got != "" {
				t.Errorf("the propagator gets errors of %q", got)
			}
		})
	}
}
