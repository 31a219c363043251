package certificates

import (
	"bytes"
	"encoding/base64"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"
	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/testutil"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

func registration(name, service string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
		"metadata": map[string]any{"name": name},
		"spec":     map[string]any{"service": map[string]any{"name": service, "namespace": hnc.SystemNamespace, "port": int64(443)}},
	}}
}

// reconciled runs one reconciliation of a cluster with these Secrets and APIServices, and returns it with its error.
func reconciled(t *testing.T, secrets []*corev1.Secret, registrations ...*unstructured.Unstructured) (*Controller, error) {
	t.Helper()
	client := fake.NewClientset()
	kinds := map[schema.GroupVersionResource]string{hnc.APIServiceResource: "APIServiceList"}
	var objects []runtime.Object
	for _, r := range registrations {
		objects = append(objects, r)
	}
	c := New(client, dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), kinds, objects...), testLifetimes,
		metrics.NewKubeRegistry().MustRegister)
	for _, secret := range secrets {
		if err := client.Tracker().Add(secret); err != nil {
			t.Fatal(err)
		}
		store := map[string]cache.Store{AuthoritySecret: c.authority.GetStore(), ServingSecret: c.serving.GetStore(), GatewaySecret: c.gateway.GetStore()}[secret.Name]
		if err := store.Add(secret); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range registrations {
		if err := c.registrations.GetStore().Add(r); err != nil {
			t.Fatal(err)
		}
	}
	_, err := c.reconcile(t.Context())
	return c, err
}

func secret(t *testing.T, c *Controller, name string) *corev1.Secret {
	t.Helper()
	found, err := c.kubernetes.CoreV1().Secrets(hnc.SystemNamespace).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func bundle(t *testing.T, c *Controller, name string) []byte {
	t.Helper()
	found, err := c.dynamic.Resource(hnc.APIServiceResource).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	encoded, _, err := unstructured.NestedString(found.Object, "spec", "caBundle")
	if err != nil {
		t.Fatal(err)
	}
	data, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestFirstCertificate(t *testing.T) {
	c, err := reconciled(t, nil, registration(hnc.APIServices[0].Name, hnc.APIServerName), registration(hnc.APIServices[2].Name, hnc.APIServerName),
		registration(hnc.APIServices[1].Name, "other"), registration("v1.example.com", hnc.APIServerName))
	if err != nil {
		t.Fatal(err)
	}
	authority, serving := secret(t, c, AuthoritySecret), secret(t, c, ServingSecret)
	s, err := parse(authority, serving)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{hnc.APIServices[0].Name, hnc.APIServices[2].Name} {
		if got := bundle(t, c, name); !bytes.Equal(got, s.bundle()) {
			t.Errorf("%s has the bundle %q", name, got)
		}
	}
	for _, name := range []string{hnc.APIServices[1].Name, "v1.example.com"} {
		if got := bundle(t, c, name); len(got) > 0 {
			t.Errorf("%s, which is not ours, got a bundle", name)
		}
	}
	if err := verify(s.serving, serving.Data["ca.crt"], time.Now()); err != nil {
		t.Error(err)
	}
	for key, value := range serving.Data {
		if bytes.Contains(value, authority.Data[authorityKey]) {
			t.Errorf("the authority's key is in %s of the Secret that hns-apiserver mounts", key)
		}
	}
}

// hns-apiserver gets no certificate that kube-apiserver cannot trust yet.
func TestNothingIsServedBeforeItIsPublished(t *testing.T) {
	injected := registration(hnc.APIServices[0].Name, hnc.APIServerName)
	injected.SetAnnotations(map[string]string{injector: "hns-system/hns-apiserver-cert"})
	c, err := reconciled(t, nil, injected)
	if err == nil || !strings.Contains(err.Error(), "cert-manager") {
		t.Errorf("got %v", err)
	}
	if found, err := c.kubernetes.CoreV1().Secrets(hnc.SystemNamespace).Get(t.Context(), ServingSecret, metav1.GetOptions{}); err == nil {
		t.Errorf("the certificate is served although its authority is not published: %v", found.Name)
	}
	if len(bundle(t, c, hnc.APIServices[0].Name)) > 0 {
		t.Error("the bundle of cert-manager was replaced")
	}
}

func TestSecretsOfOtherIssuersAreLeftAlone(t *testing.T) {
	for _, name := range []string{AuthoritySecret, ServingSecret} {
		foreign := &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: hnc.SystemNamespace},
			Data:       map[string][]byte{"tls.crt": []byte("theirs")},
		}
		c, err := reconciled(t, []*corev1.Secret{foreign}, registration(hnc.APIServices[0].Name, hnc.APIServerName))
		if err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "another issuer") {
			t.Errorf("got %v", err)
		}
		if got := secret(t, c, name).Data; string(got["tls.crt"]) != "theirs" || len(got) != 1 {
			t.Errorf("the Secret %s was changed: %v", name, got)
		}
		if len(bundle(t, c, hnc.APIServices[0].Name)) > 0 {
			t.Error("a bundle was published")
		}
	}
}

// An APIService that cannot be written keeps only the server that it refers to from using an authority that it lacks.
func TestServersDoNotWaitForTheAPIServicesOfOthers(t *testing.T) {
	view := registration(hnc.ViewAPIService.Name, hnc.GatewayName)
	view.SetAnnotations(map[string]string{injector: "hns-system/some"})
	c, err := reconciled(t, nil, registration(hnc.APIServices[0].Name, hnc.APIServerName), view)
	if err == nil || !strings.Contains(err.Error(), "cert-manager") {
		t.Errorf("got %v", err)
	}
	secret(t, c, ServingSecret)
	if found, err := c.kubernetes.CoreV1().Secrets(hnc.SystemNamespace).Get(t.Context(), GatewaySecret, metav1.GetOptions{}); err == nil {
		t.Errorf("the certificate is served although its authority is not published: %v", found.Name)
	}
	// It has the authority that signs.
	authority := secret(t, c, AuthoritySecret)
	bundle := base64.StdEncoding.EncodeToString(authority.Data[corev1.ServiceAccountRootCAKey])
	if err := unstructured.SetNestedField(view.Object, bundle, "spec", "caBundle"); err != nil {
		t.Fatal(err)
	}
	if c, err = reconciled(t, []*corev1.Secret{authority}, view); err == nil {
		t.Error("nothing is said about the APIService")
	}
	secret(t, c, GatewaySecret)
}

// The metric is what the Secrets contain, also while nothing can be issued.
func TestExpirationIsReportedBeforeAnythingFails(t *testing.T) {
	c, err := reconciled(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	authority, serving := secret(t, c, AuthoritySecret), secret(t, c, ServingSecret)
	s, err := parse(authority, serving)
	if err != nil {
		t.Fatal(err)
	}
	authority.Data[authorityKey] = []byte("damaged")
	if c, err = reconciled(t, []*corev1.Secret{authority, serving}); err == nil {
		t.Fatal("a damaged authority is used")
	}
	for certificate, want := range map[string]time.Time{"ca": s.current.parsed.NotAfter, "serving": s.serving.parsed.NotAfter} {
		got, err := testutil.GetGaugeMetricValue(c.expiration.WithLabelValues(certificate))
		if err != nil || got != float64(want.Unix()) {
			t.Errorf("%s: got %v, %v, want %d", certificate, got, err, want.Unix())
		}
	}
}

// A timer does not notice that the clock is set.
func TestTheClockIsLookedAtAgain(t *testing.T) {
	if got := delay(time.Now().Add(time.Hour)); got > time.Minute {
		t.Errorf("a change that is due in an hour is awaited for %s", got)
	}
}

func TestDamagedSecrets(t *testing.T) {
	c, err := reconciled(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	authority, serving := secret(t, c, AuthoritySecret), secret(t, c, ServingSecret)
	serving.Data["tls.key"] = []byte("damaged")
	if c, err = reconciled(t, []*corev1.Secret{authority, serving}); err != nil {
		t.Fatal(err)
	}
	if _, err := parsePair(secret(t, c, ServingSecret).Data["tls.crt"], secret(t, c, ServingSecret).Data["tls.key"]); err != nil {
		t.Errorf("the serving certificate was not replaced: %v", err)
	}
	// Nothing is signed by these.
	authority.Data[previousCert], authority.Data[nextCert] = []byte("damaged"), []byte("damaged")
	if c, err = reconciled(t, []*corev1.Secret{authority, secret(t, c, ServingSecret)}); err != nil {
		t.Fatal(err)
	}
	if data := secret(t, c, AuthoritySecret).Data; len(data) != 2 || !bytes.Equal(data[corev1.ServiceAccountRootCAKey], authority.Data[corev1.ServiceAccountRootCAKey]) {
		t.Errorf("damaged authorities stay, or the current one does not: %v", slices.Collect(maps.Keys(data)))
	}
	authority.Data[authorityKey] = []byte("damaged")
	if _, err = reconciled(t, []*corev1.Secret{authority}); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("got %v", err)
	}
}
