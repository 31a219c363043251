package cli

import (
	"reflect"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

func TestSettingsAreSetAndUnset(t *testing.T) {
	kinds := []v1beta1.ResourceSpec{{Resource: "secrets", Mode: v1beta1.Propagate}}
	for path, test := range map[string]struct {
		value, shown string
		want         v1beta1.HNCConfigurationSpec
	}{
		"creatorRole":                     {"admin", "admin", v1beta1.HNCConfigurationSpec{CreatorRole: "admin"}},
		"subnamespaceNames.pattern":       {"[a-z]+: x", "[a-z]+: x", v1beta1.HNCConfigurationSpec{SubnamespaceNames: &v1beta1.SubnamespaceNames{Pattern: "[a-z]+: x"}}},
		"rules.managedNamespaceLabels":    {"team,env", "team,env", v1beta1.HNCConfigurationSpec{Rules: &v1beta1.Rules{ManagedNamespaceLabels: []string{"team", "env"}}}},
		"rules.droppedLabels":             {`["a", "b"]`, "a,b", v1beta1.HNCConfigurationSpec{Rules: &v1beta1.Rules{DroppedLabels: []string{"a", "b"}}}},
		"rules.stripTrackingMetadata":     {"false", "false", v1beta1.HNCConfigurationSpec{Rules: &v1beta1.Rules{StripTrackingMetadata: ptr.To(false)}}},
		"rules.excludedNamespaceSelector": {"matchLabels: {a: b}", `{"matchLabels":{"a":"b"}}`, v1beta1.HNCConfigurationSpec{Rules: &v1beta1.Rules{ExcludedNamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}}}},
	} {
		before := &v1beta1.HNCConfigurationSpec{Resources: kinds}
		test.want.Resources = kinds
		after := before.DeepCopy()
		err := changeSetting(after, path, &test.value)
		if err != nil || !reflect.DeepEqual(*after, test.want) {
			t.Errorf("%s: got %+v, %v, want %+v", path, after, err, test.want)
			continue
		}
		if shown, err := setting(after, path); err != nil || shown != test.shown {
			t.Errorf("%s: shown as %q, %v, want %q", path, shown, err, test.shown)
		}
		if err := changeSetting(after, path, nil); err != nil || !reflect.DeepEqual(after, before) {
			t.Errorf("%s: unset is %+v, %v, want %+v", path, after, err, before)
		}
	}
}

func TestInvalidSettingsAreErrorsOfUsage(t *testing.T) {
	for path, value := range map[string]string{
		"rules.stripTrackingMetadata":     "perhaps",
		"rules.excludedNamespaceSelector": "{nothing: x}",
		"rules":                           "{nothing: x}",
		"rules.droppedLabels":             "[{}]",
	} {
		if err := changeSetting(&v1beta1.HNCConfigurationSpec{}, path, &value); exitCode(err) != exitUsage || !strings.HasPrefix(err.Error(), path+": ") {
			t.Errorf("%s: got %v", path, err)
		}
	}
}

func TestEveryFieldIsASetting(t *testing.T) {
	for _, path := range []string{"creatorRole", "onConflict", "subnamespaceNames.prefix", "rules", "rules.skippedObjects"} {
		if settings[path] == nil {
			t.Errorf("%s is none", path)
		}
	}
	for _, path := range []string{"resources", "rules.excludedNamespaceSelector.matchLabels"} {
		if settings[path] != nil {
			t.Errorf("%s is one", path)
		}
	}
}

func TestLongSettingsAreComplete(t *testing.T) {
	value := strings.Repeat("x", 3000)
	var b strings.Builder
	if err := printSettings(&b, [][2]string{{"a", value}}); err != nil || !strings.Contains(b.String(), value) {
		t.Errorf("error %v, printed %s", err, b.String())
	}
}
