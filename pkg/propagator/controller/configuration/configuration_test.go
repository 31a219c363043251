package configuration

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/kinds"
)

func cluster(incomplete error) Cluster {
	core, networking, rbac := schema.GroupVersion{Version: "v1"}, schema.GroupVersion{Group: "networking.k8s.io", Version: "v1"}, schema.GroupVersion{Group: "rbac.authorization.k8s.io", Version: "v1"}
	m := meta.NewDefaultRESTMapper([]schema.GroupVersion{core, networking, rbac, v1beta1.SchemeGroupVersion})
	m.Add(core.WithKind("Secret"), meta.RESTScopeNamespace)
	m.Add(core.WithKind("ConfigMap"), meta.RESTScopeNamespace)
	m.Add(core.WithKind("Node"), meta.RESTScopeRoot)
	m.Add(networking.WithKind("NetworkPolicy"), meta.RESTScopeNamespace)
	m.Add(rbac.WithKind("Role"), meta.RESTScopeNamespace)
	m.Add(rbac.WithKind("RoleBinding"), meta.RESTScopeNamespace)
	m.Add(v1beta1.SchemeGroupVersion.WithKind("Hierarchy"), meta.RESTScopeNamespace)
	return Cluster{Mapper: m, Incomplete: incomplete}
}

// configuration reads entries "resource.group mode [onConflict]".
func configuration(entries ...string) *v1beta1.HNCConfiguration {
	c := &v1beta1.HNCConfiguration{}
	c.Generation = 7
	for _, entry := range entries {
		words := append(strings.Fields(entry), "", "")
		resource, group, _ := strings.Cut(words[0], ".")
		c.Spec.Resources = append(c.Spec.Resources, v1beta1.ResourceSpec{
			Group: group, Resource: resource, Mode: v1beta1.SynchronizationMode(words[1]), OnConflict: v1beta1.ConflictPolicy(words[2]),
		})
	}
	return c
}

// show writes the configured entries as "resource.version.group=mode".
func show(r resolution) string {
	var words []string
	for _, e := range r.Entries[len(kinds.Enforced):] {
		word := fmt.Sprintf("%s.%s.%s=%s", e.Kind.Resource, e.Kind.Version, e.Kind.Group, e.Policy.Mode)
		if e.Policy.Keep {
			word += "/keep"
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// The names carry the rows of docs/spec/hnc.md 1.4, 3.11 and 3.12.
func TestResolve(t *testing.T) {
	for name, test := range map[string]struct {
		entries []string
		want    string
		// reasons are those of the problems.
		reasons string
	}{
		"3.12.2 nothing but what is enforced":                {nil, "", ""},
		"MODE-Propagate":                                     {[]string{"secrets Propagate"}, "secrets.v1.=Propagate", ""},
		"CASE-6 an empty mode":                               {[]string{"secrets"}, "secrets.v1.=Propagate", ""},
		"MODE-AllowPropagate":                                {[]string{"secrets AllowPropagate"}, "secrets.v1.=AllowPropagate", ""},
		"MODE-Remove":                                        {[]string{"secrets Remove"}, "secrets.v1.=Remove", ""},
		"MODE-Ignore":                                        {[]string{"secrets Ignore"}, "secrets.v1.=Ignore", ""},
		"MODE-Ignore an unknown mode":                        {[]string{"secrets Copy"}, "secrets.v1.=Ignore", ""},
		"onConflict Keep":                                    {[]string{"secrets Propagate Keep"}, "secrets.v1.=Propagate/keep", ""},
		"onConflict Overwrite":                               {[]string{"secrets Propagate Overwrite"}, "secrets.v1.=Propagate", ""},
		"3.12.3 a singular name":                             {[]string{"Secret Propagate"}, "secrets.v1.=Propagate", ""},
		"3.12.3 any case":                                    {[]string{"NetworkPolicies Propagate"}, "networkpolicies.v1.networking.k8s.io=Propagate", ""},
		"3.12.3 no group matches any":                        {[]string{"networkpolicies Propagate"}, "networkpolicies.v1.networking.k8s.io=Propagate", ""},
		"3.12.3 a group":                                     {[]string{"networkpolicies.networking.k8s.io Propagate"}, "networkpolicies.v1.networking.k8s.io=Propagate", ""},
		"3.12.3 a group that is cut short":                   {[]string{"networkpolicies.networking Propagate"}, "networkpolicies.v1.networking.k8s.io=Propagate", ""},
		"3.12.3 no short names":                              {[]string{"netpol Propagate"}, "", "ResourceNotFound"},
		"CONF-ResourceNotFound":                              {[]string{"gizmos.example.com Propagate"}, "", "ResourceNotFound"},
		"CONF-ResourceNotFound another group":                {[]string{"secrets.example.com Propagate"}, "", "ResourceNotFound"},
		"CONF-ResourceNotNamespaced":                         {[]string{"nodes Propagate"}, "", "ResourceNotNamespaced"},
		"CONF-MultipleConfigurationsForType the first wins":  {[]string{"secrets Remove", "secret Propagate"}, "secrets.v1.=Remove", "MultipleConfigurationsForType"},
		"CONF-MultipleConfigurationsForType the same":        {[]string{"secrets Remove", "secrets. Remove"}, "secrets.v1.=Remove", "MultipleConfigurationsForType"},
		"CONF-MultipleConfigurationsForType an enforced one": {[]string{"roles Remove"}, "", "MultipleConfigurationsForType"},
		"the hierarchy itself":                               {[]string{"hierarchies.hnc.x-k8s.io Propagate"}, "", "ResourceNotPropagatable"},
		"an invalid entry does not affect others": {
			[]string{"nodes Propagate", "secrets Propagate", "gizmos Remove", "configmaps Remove"},
			"secrets.v1.=Propagate configmaps.v1.=Remove", "ResourceNotNamespaced ResourceNotFound",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := resolve(configuration(test.entries...), nil, cluster(nil), resolution{})
			if got := show(r); got != test.want {
				t.Errorf("entries %q, want %q", got, test.want)
			}
			if got := reasons(r); got != test.reasons {
				t.Errorf("problems %q, want %q", got, test.reasons)
			}
			if r.Generation != 7 {
				t.Errorf("generation %d", r.Generation)
			}
		})
	}
}

func reasons(r resolution) string {
	var words []string
	for _, p := range r.Problems {
		words = append(words, p.Reason)
	}
	return strings.Join(words, " ")
}

func TestWhatWasFoundStaysWhileItsGroupDoesNotAnswer(t *testing.T) {
	old := resolve(configuration("secrets Propagate"), nil, cluster(nil), resolution{})
	without := Cluster{Mapper: meta.NewDefaultRESTMapper(nil), Incomplete: errors.New("core does not answer")}
	r := resolve(configuration("secrets Remove", "configmaps Propagate"), nil, without, old)
	if got := show(r); got != "secrets.v1.=Remove" {
		t.Errorf("entries %q", got)
	}
	if problems := problemsOf("spec.resources", r.Problems); len(problems) != 2 || problems[0].Condition != hnc.ConditionOutOfSync || !strings.Contains(problems[0].Message, "does not answer") {
		t.Errorf("problems %v", problems)
	}
	// Once all groups answer, it is known to be gone.
	without.Incomplete = nil
	if r = resolve(configuration("secrets Remove"), nil, without, r); show(r) != "" || reasons(r) != hnc.ReasonResourceNotFound {
		t.Errorf("entries %q, problems %v", show(r), r.Problems)
	}
}

func TestNoConfigurationLeavesWhatIsEnforced(t *testing.T) {
	r := resolve(nil, nil, cluster(nil), resolution{})
	if len(r.Entries) != 2 || r.Entries[0].Resource != "roles" || r.Entries[1].Resource != "rolebindings" || r.Generation != 0 {
		t.Errorf("%+v", r)
	}
}

func TestStatus(t *testing.T) {
	c := configuration("secrets AllowPropagate", "NetworkPolicy Remove", "configmaps Ignore")
	r := resolve(c, nil, cluster(nil), resolution{})
	state := func(resource schema.GroupResource) kindState {
		return kindState{Synced: true, Sources: len(resource.Resource), Copies: 2}
	}
	status := Status(c, r, state, nothing(), metav1.Now())
	var got []string
	for _, s := range status.Resources {
		number := func(n *int32) string {
			if n == nil {
				return "-"
			}
			return fmt.Sprint(*n)
		}
		got = append(got, fmt.Sprintf("%s/%s/%s=%s %s/%s", s.Group, s.Version, s.Resource, s.Mode, number(s.NumPropagatedObjects), number(s.NumSourceObjects)))
	}
	// By group, then resource, spelled as in the configuration (3.12.6).
	want := `/v1/NetworkPolicy=Remove 2/-, /v1/configmaps=Ignore -/-, /v1/secrets=AllowPropagate 2/7, ` +
		`rbac.authorization.k8s.io/v1/rolebindings=Propagate 2/12, rbac.authorization.k8s.io/v1/roles=Propagate 2/5`
	if text := strings.Join(got, ", "); text != want {
		t.Errorf("resources\n%s, want\n%s", text, want)
	}
	if text := conditionsOf(status); text != "Ready=True Ready" {
		t.Errorf("conditions %q", text)
	}
}

// nothing is the summary of namespaces without conditions.
func nothing() *summary { return newSummary(func(string, string, int) {}) }

func conditionsOf(status v1beta1.HNCConfigurationStatus) string {
	var words []string
	for _, c := range status.Conditions {
		words = append(words, fmt.Sprintf("%s=%s %s", c.Type, c.Status, c.Reason))
	}
	return strings.Join(words, ", ")
}

func TestConditions(t *testing.T) {
	synced, failing, waiting := kindState{Synced: true}, kindState{Synced: true, Error: "can't write"}, kindState{}
	for name, test := range map[string]struct {
		entries []string
		state   kindState
		want    string
	}{
		"all is well":                           {[]string{"secrets Propagate"}, synced, "Ready=True Ready"},
		"not known yet":                         {[]string{"secrets Propagate"}, waiting, "Ready=False Pending"},
		"CONF-OutOfSync failing":                {[]string{"secrets Propagate"}, failing, "OutOfSync=True Unknown, Ready=False Unknown"},
		"failing with one that is ignored":      {[]string{"secrets Ignore"}, failing, "Ready=True Ready"},
		"CONF-ResourceNotNamespaced bad":        {[]string{"nodes Propagate", "gizmos Propagate"}, synced, "BadConfiguration=True ResourceNotNamespaced, Ready=False ResourceNotNamespaced"},
		"CONF-ResourceNotFound bad and failing": {[]string{"secrets Propagate", "gizmos Propagate"}, failing, "BadConfiguration=True ResourceNotFound, OutOfSync=True Unknown, Ready=False ResourceNotFound"},
		"bad and not known yet":                 {[]string{"secrets Propagate", "gizmos Propagate"}, waiting, "BadConfiguration=True ResourceNotFound, Ready=False ResourceNotFound"},
	} {
		t.Run(name, func(t *testing.T) {
			c := configuration(test.entries...)
			r := resolve(c, nil, cluster(nil), resolution{})
			status := Status(c, r, func(resource schema.GroupResource) kindState {
				if resource.Group != "" {
					return synced
				}
				return test.state
			}, nothing(), metav1.Now())
			if got := conditionsOf(status); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
			for _, condition := range status.Conditions {
				if condition.ObservedGeneration != 7 || condition.Message == "" {
					t.Errorf("%+v", condition)
				}
			}
		})
	}
}

func TestEquivalentStatusesAreTheSame(t *testing.T) {
	c := configuration("gizmos Propagate")
	r := resolve(c, nil, cluster(nil), resolution{})
	state := func(schema.GroupResource) kindState { return kindState{Synced: true} }
	then, now := metav1.NewTime(time.Unix(1000, 0)), metav1.NewTime(time.Unix(2000, 0))
	c.Status = Status(c, r, state, nothing(), then)
	if again := Status(c, r, state, nothing(), now); !sameStatus(c.Status, again) {
		t.Errorf("%+v, then %+v", c.Status, again)
	}
	// A condition that ends is removed, and Ready changes with its time.
	mended := Status(c, resolve(configuration(), nil, cluster(nil), r), state, nothing(), now)
	if got := conditionsOf(mended); got != "Ready=True Ready" || !mended.Conditions[0].LastTransitionTime.Equal(&now) {
		t.Errorf("conditions %+v", mended.Conditions)
	}
}

func TestAMessageDoesNotGrowWithoutBounds(t *testing.T) {
	var entries []string
	for i := range 100 {
		entries = append(entries, fmt.Sprintf("gizmos%d Propagate", i))
	}
	c := configuration(entries...)
	status := Status(c, resolve(c, nil, cluster(nil), resolution{}), func(schema.GroupResource) kindState { return kindState{Synced: true} }, nothing(), metav1.Now())
	bad := meta.FindStatusCondition(status.Conditions, hnc.ConditionBadConfiguration)
	if bad == nil || !strings.HasSuffix(bad.Message, "; and 90 more") || strings.Count(bad.Message, "gizmos") != 10 {
		t.Errorf("%+v", bad)
	}
}
