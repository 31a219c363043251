package mapping

import (
	"encoding/json"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestEachGroupHasOneNameInTheView(t *testing.T) {
	for realGroup, want := range map[string]string{
		"example.com." + ownSuffix:                   "example.com",
		"gone.example.com." + ownSuffix:              "gone.example.com." + ownSuffix,
		"example.com":                                "example.com.external",
		"example.com.external":                       "example.com.external.external",
		"cert-manager.io":                            "cert-manager.io",
		"example.com.other-12345.views.hnc.x-k8s.io": "example.com.other-12345.views.hnc.x-k8s.io",
		"apps":                      "apps",
		"":                          "",
		"rbac.authorization.k8s.io": "rbac.authorization.k8s.io",
		ownSuffix:                   ownSuffix,
		"example.com." + ownSuffix + "." + ownSuffix:   "example.com." + ownSuffix + "." + ownSuffix,
		"not.installed.com":                            "not.installed.com",
		"not.installed.com.external." + ExternalSuffix: "not.installed.com.external." + ExternalSuffix + ExternalSuffix,
	} {
		if got := testGroups.Out(realGroup); got != want {
			t.Errorf("%q is shown as %q, want %q", realGroup, got, want)
		}
		if got := testGroups.In(testGroups.Out(realGroup)); got != realGroup {
			t.Errorf("%q becomes %q", realGroup, got)
		}
	}
	if got := testGroups.In("example.com"); got != "example.com."+ownSuffix {
		t.Errorf("example.com means %s", got)
	}
}

// A group that is not known yet is looked for, as one that another replica has created.
func TestAnUnknownGroupIsLookedFor(t *testing.T) {
	known := map[string]bool{"cert-manager.io": true}
	looked := 0
	g := &Groups{Suffix: testGroups.Suffix, Known: func(group string) bool { return known[group] }, Refresh: func() { looked++; known["example.com."+ownSuffix] = true }}
	for _, group := range []string{"example.com", "cert-manager.io", "apps"} {
		g.In(group)
	}
	if got := g.In("example.com"); got != "example.com."+ownSuffix || looked != 1 {
		t.Errorf("example.com means %s, looked %d times", got, looked)
	}
}

func TestReferencesToOwnCustomResources(t *testing.T) {
	m := testMapper()
	realGroup := "example.com." + ownSuffix
	for _, test := range []struct {
		kind schema.GroupVersionKind
		view string
	}{
		{kindOf(realGroup+"/v1", "Widget"), `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a","managedFields":[{"apiVersion":"example.com/v1","manager":"m"}]},"spec":{"apiVersion":"example.com.external/v1"}}`},
		{kindOf("v1", "ConfigMap"), `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"ownerReferences":[{"apiVersion":"example.com/v1","kind":"Widget","name":"a","uid":"u"}]}}`},
		{kindOf("rbac.authorization.k8s.io/v1", "Role"), `{"rules":[{"apiGroups":["","example.com","example.com.external"],"resources":["*"],"verbs":["*"]}]}`},
		{kindOf("autoscaling/v2", "HorizontalPodAutoscaler"), `{"spec":{"scaleTargetRef":{"apiVersion":"example.com/v1","kind":"Widget","name":"a"}}}`},
		{kindOf("v1", "PersistentVolumeClaim"), `{"spec":{"dataSourceRef":{"apiGroup":"example.com","kind":"Widget","name":"a"}}}`},
		{kindOf("v1", "Event"), `{"involvedObject":{"apiVersion":"example.com/v1","kind":"Widget","name":"a"}}`},
		{kindOf("authorization.k8s.io/v1", "SubjectAccessReview"), `{"spec":{"resourceAttributes":{"group":"example.com","resource":"widgets"}}}`},
	} {
		stored, err := m.Object(In, test.kind, []byte(test.view))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(stored), realGroup) {
			t.Errorf("%s is stored as %s", test.view, stored)
		}
		shown, err := m.Object(Out, test.kind, stored)
		if err != nil {
			t.Fatal(err)
		}
		if test.kind.Kind == "Widget" {
			continue // Its own fields are as they are.
		}
		if string(shown) != test.view {
			t.Errorf("%s is shown as %s", test.view, shown)
		}
	}
}

// Quotas count own custom resources under the name that they have in the view.
func TestQuotasOfOwnCustomResources(t *testing.T) {
	m := testMapper()
	const counts = `{"count/widgets.example.com":"1","count/widgets.example.com.external":"2","count/widgets.cert-manager.io":"3","count/configmaps":"4","pods":5,"requests.example.com/a":"6"}`
	realCounts := strings.ReplaceAll(strings.ReplaceAll(counts, "widgets.example.com\"", "widgets.example.com."+ownSuffix+"\""), "widgets.example.com.external\"", "widgets.example.com\"")
	for kind, view := range map[schema.GroupVersionKind]string{
		kindOf("v1", "ResourceQuota"):                                `{"spec":{"hard":COUNTS},"status":{"hard":COUNTS,"used":COUNTS}}`,
		kindOf("hnc.x-k8s.io/v1beta1", "HierarchicalResourceQuota"):  `{"spec":{"hard":COUNTS},"status":{"hard":COUNTS,"used":COUNTS,"namespaces":[{"namespace":"default","used":COUNTS}]}}`,
		kindOf("hnc.x-k8s.io/v1alpha2", "HierarchicalResourceQuota"): `{"spec":{"hard":COUNTS},"status":{"hard":COUNTS,"used":COUNTS}}`,
		kindOf("hnc.x-k8s.io/v1alpha3", "HierarchyPlan"):             `{"status":{"namespaces":[{"quotas":[{"resource":"count/widgets.example.com"}]}],"exceededQuotas":[{"namespace":"default","resource":"count/widgets.example.com"}]}}`,
	} {
		stored := strings.ReplaceAll(strings.ReplaceAll(view, "COUNTS", realCounts), `"default"`, `"acme"`)
		stored = strings.ReplaceAll(stored, `"count/widgets.example.com"}]`, `"count/widgets.example.com.`+ownSuffix+`"}]`)
		view = strings.ReplaceAll(view, "COUNTS", counts)
		if got, err := m.Object(In, kind, []byte(view)); err != nil || string(got) != stored {
			t.Errorf("%s is stored as %s: %v", view, got, err)
		}
		if got, err := m.Object(Out, kind, []byte(stored)); err != nil || string(got) != view {
			t.Errorf("%s is shown as %s: %v", stored, got, err)
		}
	}
	patch, err := m.Patch("application/json-patch+json", kindOf("v1", "ResourceQuota"), []byte(`[{"op":"remove","path":"/spec/hard/count~1widgets.example.com"}]`))
	if want := `[{"op":"remove","path":"/spec/hard/count~1widgets.example.com.` + ownSuffix + `"}]`; err != nil || string(patch) != want {
		t.Errorf("%s %v", patch, err)
	}
	quota := corev1.ResourceQuota{Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"count/widgets.example.com": resource.MustParse("7")}}}
	message, err := quota.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	envelope := func(message []byte) []byte {
		return join([]byte(protobufPrefix), bytesField(1, join(stringField(1, "v1"), stringField(2, "ResourceQuota"))...), bytesField(2, message...))
	}
	encoded, err := m.Protobuf(In, schema.GroupVersionKind{}, envelope(message))
	quota.Spec.Hard = corev1.ResourceList{corev1.ResourceName("count/widgets.example.com." + ownSuffix): resource.MustParse("7")}
	want, marshalErr := quota.Marshal()
	if err != nil || marshalErr != nil || string(encoded) != string(envelope(want)) {
		t.Errorf("in protobuf %q %v %v", encoded, err, marshalErr)
	}
	out, err := respond(m, kindOf("v1", "ResourceQuota"), true, `{"kind":"Table","apiVersion":"meta.k8s.io/v1","columnDefinitions":[{"name":"Name"},{"name":"Request"},{"name":"Limit"}],"rows":[{"cells":["a","count/widgets.example.com.`+ownSuffix+`: 1/2, pods: 3/4, count/widgets.example.com: 5/6",""]}]}`)
	if want := `["a","count/widgets.example.com: 1/2, pods: 3/4, count/widgets.example.com.external: 5/6",""]`; err != nil || !strings.Contains(out, want) {
		t.Errorf("%s %v", out, err)
	}
}

func TestListsAndErrorsOfOwnCustomResources(t *testing.T) {
	m, kind := testMapper(), kindOf("example.com."+ownSuffix+"/v1", "Widget")
	out, err := respond(m, kind, true, `{"apiVersion":"`+kind.GroupVersion().String()+`","items":[{"apiVersion":"`+kind.GroupVersion().String()+`","kind":"Widget"}],"kind":"WidgetList"}`)
	if want := `{"apiVersion":"example.com/v1","items":[{"apiVersion":"example.com/v1","kind":"Widget"}],"kind":"WidgetList"}`; err != nil || out != want {
		t.Errorf("%v %s", err, out)
	}
	out, err = respond(m, kind, true, `{"kind":"WidgetList","items":[],"apiVersion":"`+kind.GroupVersion().String()+`"}`)
	if want := `{"kind":"WidgetList","items":[],"apiVersion":"example.com/v1"}`; err != nil || out != want {
		t.Errorf("%v %s", err, out)
	}
	out, err = respond(m, kind, false, `{"kind":"Status","apiVersion":"v1","message":"widgets.`+kind.Group+` \"a\" not found","details":{"name":"a","group":"`+kind.Group+`","kind":"widgets"}}`)
	if want := `{"kind":"Status","apiVersion":"v1","message":"widgets.example.com \"a\" not found","details":{"name":"a","group":"example.com","kind":"widgets"}}`; err != nil || out != want {
		t.Errorf("%v %s", err, out)
	}
}

// A CustomResourceDefinition of the view is cluster-scoped, and stored as a ViewDefinition of the root.
func TestDefinitionsAreStoredInTheRoot(t *testing.T) {
	m := testMapper()
	const stored = `{"apiVersion":"hnc.x-k8s.io/v1alpha3","kind":"ViewDefinition","metadata":{"name":"widgets.example.com","namespace":"acme","managedFields":[{"apiVersion":"hnc.x-k8s.io/v1alpha3"}]},"spec":{"group":"example.com"}}`
	const shown = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.example.com","managedFields":[{"apiVersion":"apiextensions.k8s.io/v1"}]},"spec":{"group":"example.com"}}`
	for _, where := range []string{`"name":"widgets.example.com","namespace":"acme"`, `"namespace":"acme","name":"widgets.example.com"`, ` "name":"widgets.example.com" , "namespace" : "acme" `, `"namespace":"acme"`} {
		text := strings.Replace(stored, `"name":"widgets.example.com","namespace":"acme"`, where, 1)
		out, err := m.Object(Out, Definition, []byte(text))
		if err != nil || !json.Valid(out) || strings.Contains(string(out), "acme") {
			t.Errorf("%v %s", err, out)
		}
		if where == `"name":"widgets.example.com","namespace":"acme"` && string(out) != shown {
			t.Errorf("shown as %s", out)
		}
	}
	back, err := m.Object(In, Definition, []byte(shown))
	if want := strings.Replace(stored, `,"namespace":"acme"`, "", 1); err != nil || string(back) != want {
		t.Errorf("%v %s", err, back)
	}
	for _, twice := range []string{`"name":"a.harmless.io","name":"b.example.com"`, `"name":"a.harmless.io","Name":"b.example.com"`} {
		if out, err := m.Object(In, Definition, []byte(`{"metadata":{`+twice+`}}`)); !apierrors.IsBadRequest(err) {
			t.Errorf("%s: %v %s", twice, err, out)
		}
	}
	out, err := respond(m, Definition, true, `{"kind":"ViewDefinitionList","apiVersion":"hnc.x-k8s.io/v1alpha3","items":[]}`)
	if want := `{"kind":"CustomResourceDefinitionList","apiVersion":"apiextensions.k8s.io/v1","items":[]}`; err != nil || out != want {
		t.Errorf("%v %s", err, out)
	}
	out, err = respond(m, Definition, false, `{"kind":"Status","apiVersion":"v1","message":"viewdefinitions.hnc.x-k8s.io \"a\" not found","details":{"group":"hnc.x-k8s.io","kind":"viewdefinitions"}}`)
	if want := `{"kind":"Status","apiVersion":"v1","message":"customresourcedefinitions.apiextensions.k8s.io \"a\" not found","details":{"group":"apiextensions.k8s.io","kind":"customresourcedefinitions"}}`; err != nil || out != want {
		t.Errorf("%v %s", err, out)
	}
}
