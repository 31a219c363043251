package migration

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	fakediscovery "k8s.io/client-go/discovery/fake"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/admissionpolicy"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	hierarchyfake "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/clientset/versioned/fake"
)

// continued returns a migration whose state has this data, by a user who may do everything, and what it prints.
func continued(t *testing.T, data map[string]string) (*Migration, *strings.Builder) {
	t.Helper()
	data[keyBackup] = "{}"
	c := fakeClients(t,
		systemNamespace(map[string]string{hnc.AnnotationStore: "uid"}),
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: hnc.SystemNamespace, Name: hnc.Migration}, Data: data},
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "extension-apiserver-authentication"}, Data: map[string]string{"requestheader-client-ca-file": "a"}},
	)
	server := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	c.config = &rest.Config{Host: server.URL}
	kube := c.kube.(*fake.Clientset)
	for _, name := range admissionpolicy.Validating() {
		_ = kube.Tracker().Add(&admissionregistrationv1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	for _, name := range admissionpolicy.Mutating() {
		_ = kube.Tracker().Add(&admissionregistrationv1.MutatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	kube.Discovery().(*fakediscovery.FakeDiscovery).Resources = []*metav1.APIResourceList{{
		GroupVersion: "admissionregistration.k8s.io/v1", APIResources: []metav1.APIResource{{Name: "validatingadmissionpolicies"}, {Name: "mutatingadmissionpolicies"}},
	}}
	kube.PrependReactor("create", "selfsubjectaccessreviews", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, &authorizationv1.SelfSubjectAccessReview{Status: authorizationv1.SubjectAccessReviewStatus{Allowed: true}}, nil
	})
	kube.PrependReactor("create", "selfsubjectreviews", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, &authenticationv1.SelfSubjectReview{Status: authenticationv1.SelfSubjectReviewStatus{UserInfo: authenticationv1.UserInfo{Username: "admin"}}}, nil
	})
	kube.PrependReactor("create", "configmaps", func(action clienttesting.Action) (bool, runtime.Object, error) {
		probe := action.(clienttesting.CreateAction).GetObject().(*corev1.ConfigMap).Name == probeName
		return probe, nil, apierrors.NewForbidden(corev1.Resource("configmaps"), probeName, nil)
	})
	out := &strings.Builder{}
	return &Migration{Options: Options{Out: out}, clients: c}, out
}

// A policy that has not been installed yet protects nothing.
func TestAMigrationWaitsForAllPolicies(t *testing.T) {
	for _, kind := range []struct {
		resource string
		names    []string
	}{{"validatingadmissionpolicy", admissionpolicy.Validating()}, {"mutatingadmissionpolicy", admissionpolicy.Mutating()}} {
		for _, name := range kind.names {
			m, out := continued(t, map[string]string{hnc.MigrationStep: "definitions"})
			bindings := admissionregistrationv1.SchemeGroupVersion.WithResource(kind.resource + "bindings")
			if err := m.kube.(*fake.Clientset).Tracker().Delete(bindings, "", name); err != nil {
				t.Fatal(err)
			}
			if err := m.finish(t.Context()); !errors.Is(err, errPoliciesMissing) || !strings.HasSuffix(err.Error(), ": "+kind.resource+" "+name) {
				t.Errorf("without %s: got %v", name, err)
			}
			if err := m.Run(t.Context()); err != nil || !strings.Contains(out.String(), kind.resource+" "+name+". Next:") {
				t.Errorf("without %s: got %v and %s", name, err, out)
			}
		}
	}
}

// The last request of a migration may fail. A repetition ends the freeze that it has begun.
func TestAMigrationIsCompletedAgain(t *testing.T) {
	m, _ := continued(t, map[string]string{hnc.MigrationStep: "definitions", hnc.MigrationDeleting: "true"})
	fails := true
	m.kube.(*fake.Clientset).PrependReactor("delete", "configmaps", func(clienttesting.Action) (bool, runtime.Object, error) {
		return fails, nil, errors.New("the last request fails")
	})
	if err := m.Run(t.Context()); err == nil || err.Error() != "the last request fails" {
		t.Fatalf("got %v", err)
	}
	fails = false
	if err := m.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if state, err := loadState(t.Context(), m.clients); err != nil || state != nil {
		t.Errorf("the migration is not completed: %v, %v", state, err)
	}
	bindings, err := m.kube.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().List(t.Context(), metav1.ListOptions{})
	if err != nil || len(bindings.Items) != len(admissionpolicy.Validating()) {
		t.Errorf("hierarchies stay frozen: %v, %v", bindings, err)
	}
}

// What was confirmed before an interruption may have changed since.
func TestDefinitionsAreDeletedAfterAQuestion(t *testing.T) {
	for name, test := range map[string]struct {
		data  map[string]string
		first string
	}{
		"confirmed before":     {map[string]string{hnc.MigrationStep: "preview"}, "preview"},
		"already deleted some": {map[string]string{hnc.MigrationStep: "preview", hnc.MigrationDeleting: "true"}, "definitions"},
	} {
		m, out := continued(t, test.data)
		m.DryRun = true
		if err := m.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(out.String(), "The migration will:\n  "+test.first+" ") {
			t.Errorf("%s: it continues with another step than %s:\n%s", name, test.first, out)
		}
	}
}

// A process that was suspended in the last step does not end the freeze of another one.
func TestASuspendedProcessDoesNotUnfreeze(t *testing.T) {
	m, _ := continued(t, map[string]string{hnc.MigrationStep: "definitions", hnc.MigrationDeleting: "true"})
	m.hierarchy.(*hierarchyfake.Clientset).PrependReactor("list", "subnamespaces", func(clienttesting.Action) (bool, runtime.Object, error) {
		another, err := loadState(t.Context(), m.clients)
		if err == nil {
			err = another.claim(t.Context())
		}
		return err != nil, nil, err
	})
	if err := m.Run(t.Context()); err == nil || !strings.Contains(err.Error(), errOther.Error()) {
		t.Errorf("got %v", err)
	}
	if _, err := m.kube.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().Get(t.Context(), hnc.MigrationPolicy, metav1.GetOptions{}); err != nil {
		t.Errorf("hierarchies are not frozen any more: %v", err)
	}
}
