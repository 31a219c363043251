package diagnosis

import (
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/cert"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"k8s.io/utils/ptr"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

func expect(t *testing.T, name string, got Finding, severity Severity, text string) {
	t.Helper()
	if got.Severity != severity || !strings.Contains(got.Text, text) {
		t.Errorf("%s: got %s %q, want %s %q", name, got.Severity, got.Text, severity, text)
	}
	if got.Severity >= Warning && got.Hint == "" {
		t.Errorf("%s: no hint", name)
	}
}

func TestAPIServices(t *testing.T) {
	for name, test := range map[string]struct {
		change   func(*apiregistrationv1.APIService)
		severity Severity
		text     string
	}{
		"healthy":     {func(*apiregistrationv1.APIService) {}, OK, "available"},
		"unavailable": {func(s *apiregistrationv1.APIService) { s.Status.Conditions[0].Status = "False" }, Error, "no namespace in the cluster can finish"},
		"no bundle":   {func(s *apiregistrationv1.APIService) { s.Spec.CABundle = nil }, Error, "caBundle is empty"},
		"insecure":    {func(s *apiregistrationv1.APIService) { s.Spec.InsecureSkipTLSVerify = true }, Error, "any server that answers"},
		"HNC's":       {func(s *apiregistrationv1.APIService) { s.Spec.Service = nil }, Error, "CustomResourceDefinitions serve"},
		"automatic":   {func(s *apiregistrationv1.APIService) { delete(s.Labels, hnc.LabelAutoManaged) }, Error, "may take it over"},
	} {
		found := &apiregistrationv1.APIService{
			ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{hnc.LabelAutoManaged: "false"}},
			Spec: apiregistrationv1.APIServiceSpec{
				CABundle: []byte("a"), Service: &apiregistrationv1.ServiceReference{Name: "hns-apiserver", Namespace: hnc.SystemNamespace},
			},
			Status: apiregistrationv1.APIServiceStatus{Conditions: []apiregistrationv1.APIServiceCondition{{Type: apiregistrationv1.Available, Status: "True"}}},
		}
		test.change(found)
		expect(t, name, APIService(hnc.APIServices[0], found), test.severity, test.text)
	}
	expect(t, "required", APIService(hnc.APIService{Name: "a", Server: "b", Required: true}, nil), Error, "does not exist")
	expect(t, "optional", APIService(hnc.APIService{Name: "a", Server: "b"}, nil), OK, "not served")
}

func TestCertificates(t *testing.T) {
	certificate, key, err := cert.GenerateSelfSignedCertKey("hns-apiserver.hns-system.svc", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := cert.ParseCertsPEM(certificate)
	if err != nil {
		t.Fatal(err)
	}
	secret := &corev1.Secret{Data: map[string][]byte{"tls.crt": certificate, "tls.key": key}}
	end := parsed[0].NotAfter
	expect(t, "valid", Certificate(hnc.APIServerName, secret, true, certificate, time.Now()), OK, "valid for")
	expect(t, "expiring", Certificate(hnc.APIServerName, secret, true, certificate, end.Add(-48*time.Hour)), Warning, "expires in 48h")
	expect(t, "expired", Certificate(hnc.APIServerName, secret, true, certificate, end.Add(time.Hour)), Error, "has expired")
	expect(t, "untrusted", Certificate(hnc.APIServerName, secret, true, nil, time.Now()), Error, "does not trust")
	expect(t, "missing", Certificate(hnc.APIServerName, nil, true, nil, time.Now()), Error, "does not exist")
	expect(t, "not deployed", Certificate(hnc.APIServerName, nil, false, nil, time.Now()), OK, "not needed")
	expect(t, "damaged", Certificate(hnc.APIServerName, &corev1.Secret{}, true, nil, time.Now()), Error, "not a certificate")
}

func TestLeader(t *testing.T) {
	now := time.Now()
	lease := func(renewed time.Duration) *coordinationv1.Lease {
		return &coordinationv1.Lease{Spec: coordinationv1.LeaseSpec{
			HolderIdentity: ptr.To("a"), LeaseDurationSeconds: ptr.To[int32](15), RenewTime: &metav1.MicroTime{Time: now.Add(renewed)},
		}}
	}
	expect(t, "leads", Leader(hnc.PropagatorName, lease(-2*time.Second), now), OK, "a leads")
	expect(t, "gone", Leader(hnc.PropagatorName, lease(-time.Minute), now), Error, "not renewed it for 1m0s")
	expect(t, "ahead", Leader(hnc.PropagatorName, lease(time.Minute), now), Warning, "1m0s ahead")
	expect(t, "none", Leader(hnc.PropagatorName, nil, now), Error, "no replica")
	expect(t, "released", Leader(hnc.PropagatorName, &coordinationv1.Lease{Spec: coordinationv1.LeaseSpec{HolderIdentity: ptr.To("")}}, now), Error, "no replica")
	expect(t, "another server's", Leader(hnc.SyncName, lease(-time.Minute), now), Error, "repositories are not applied")
}

func TestConfiguration(t *testing.T) {
	configuration := &v1beta1.HNCConfiguration{}
	configuration.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: "False", Reason: "Any"}}
	if got := Configuration(configuration); len(got) != 1 || got[0].Severity != OK {
		t.Errorf("got %v", got)
	}
	configuration.Status.Conditions = append(configuration.Status.Conditions,
		metav1.Condition{Type: "BadConfiguration", Status: "True", Reason: "ResourceNotFound", Message: "widgets"})
	got := Configuration(configuration)
	if len(got) != 1 || got[0].Severity != Warning || got[0].Hint != "kubectl hns config describe shows the details" {
		t.Errorf("got %v", got)
	}
}

func TestLeftovers(t *testing.T) {
	roles := []string{"admin", "hnc-manager-role"}
	got := Leftovers([]string{"hierarchyconfigurations.hnc.x-k8s.io", "widgets.example.com"}, []string{"hnc-validating-webhook-configuration", "other"}, roles)
	if len(got) != 2 || Worst(got) != Warning {
		t.Errorf("while HNC manages the cluster: got %v", got)
	}
	if got := Leftovers(nil, []string{"hnc-validating-webhook-configuration", "other"}, nil); len(got) != 1 || Worst(got) != Error {
		t.Errorf("a webhook without HNC: got %v", got)
	}
	if got := Leftovers([]string{"widgets.example.com"}, nil, roles[:1]); len(got) != 1 || Worst(got) != OK {
		t.Errorf("without HNC: got %v", got)
	}
	// Nothing says that nothing is left.
	if got = Leftovers(nil, nil, roles); len(got) != 1 {
		t.Fatalf("the role without HNC: got %v", got)
	}
	expect(t, "the role without HNC", got[0], Warning, "allows everything")
}

func TestMissingPoliciesAreNamed(t *testing.T) {
	expect(t, "missing", Policies("a", []string{"copies", "views"}, []string{"views"}), Error, "copies")
	expect(t, "all", Policies("a", []string{"copies"}, []string{"views", "copies"}), OK, "")
}
