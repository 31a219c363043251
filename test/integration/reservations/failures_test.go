package reservations

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

func TestNestedLimitsApplyAtOnce(t *testing.T) {
	root, namespaces := subtree(t, "nested-", 2, 5)
	limit(t, root, "tighter", 4)
	limit(t, namespaces[0], "own", 3)
	for i := range 3 {
		if err := createSecret(t, namespaces[0], fmt.Sprintf("s-%d", i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := createSecret(t, namespaces[0], "more"); !exceeded(err) {
		t.Errorf("above the namespace's own limit: %v", err)
	}
	if err := createSecret(t, namespaces[1], "s"); err != nil {
		t.Fatal(err)
	}
	t.Run("R3 the message names the quota, R4 what was added before counts", func(t *testing.T) {
		wantExceeded(t, root, namespaces[1])
	})
	t.Run("R2 writes of others than kube-apiserver are not limited", func(t *testing.T) {
		rq, err := admin.CoreV1().ResourceQuotas(namespaces[1]).Get(t.Context(), hnc.ResourceQuotaName, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		rq.Status.Used[corev1.ResourceSecrets] = resource.MustParse("9")
		if _, err := admin.CoreV1().ResourceQuotas(namespaces[1]).UpdateStatus(t.Context(), rq, metav1.UpdateOptions{}); err != nil {
			t.Error(err)
		}
	})
}

// wantExceeded checks the error of one Secret more than the tighter of two quotas allows.
func wantExceeded(t *testing.T, root, namespace string) {
	t.Helper()
	want := fmt.Sprintf(`exceeded hierarchical quota in namespace %q: "tighter", requested: secrets=1, used: secrets=4, limited: secrets=4`, root)
	if err := createSecret(t, namespace, "more"); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestWhatIsDeletedCanBeUsedElsewhere(t *testing.T) {
	_, namespaces := subtree(t, "release-", 2, 1)
	if err := createSecret(t, namespaces[0], "s"); err != nil {
		t.Fatal(err)
	}
	if err := createSecret(t, namespaces[1], "more"); !exceeded(err) {
		t.Errorf("got %v", err)
	}
	if err := admin.CoreV1().Secrets(namespaces[0]).Delete(t.Context(), "s", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	suite.Eventually(t, "using what was deleted", func() error { return createSecret(t, namespaces[1], "more") })
}

// A quota whose last finalizer is removed after its deletion limits nothing more.
func TestDeletedQuotaWithFinalizersIsNotInForce(t *testing.T) {
	root, namespaces := subtree(t, "finalized-", 2, 9)
	limit(t, root, "deleted", 1)
	if err := createSecret(t, namespaces[0], "s"); err != nil {
		t.Fatal(err)
	}
	client := admin.HNC.HncV1beta1().HierarchicalResourceQuotas(root)
	finalizers := func(patch string) {
		t.Helper()
		if _, err := client.Patch(t.Context(), "deleted", types.JSONPatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	finalizers(`[{"op":"add","path":"/metadata/finalizers","value":["example.com/kept"]}]`)
	if err := client.Delete(t.Context(), "deleted", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := createSecret(t, namespaces[1], "more"); !exceeded(err) {
		t.Errorf("as long as the quota exists, it is in force: %v", err)
	}
	finalizers(`[{"op":"remove","path":"/metadata/finalizers"}]`)
	suite.Eventually(t, "creating what the deleted quota did not allow", func() error { return createSecret(t, namespaces[1], "more") })
}

func TestForgedReservationsAreRejected(t *testing.T) {
	const review = `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"1"}}`
	const path = "/apis/hnc.x-k8s.io/v1beta1/quotareservations"
	config, err := cp.User("mallory")
	if err != nil {
		t.Fatal(err)
	}
	mallory, err := suite.NewUser("mallory", config)
	if err != nil {
		t.Fatal(err)
	}
	err = mallory.HNC.HncV1beta1().RESTClient().Post().AbsPath(path).Body([]byte(review)).SetHeader("Content-Type", "application/json").Do(t.Context()).Error()
	if !apierrors.IsForbidden(err) {
		t.Errorf("through kube-apiserver: %v, want Forbidden", err)
	}
	ca, err := os.ReadFile(cp.CAFile())
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}}
	for _, header := range []http.Header{{}, {"X-Remote-User": {"system:apiserver"}, "X-Remote-Group": {"system:masters"}}} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, fmt.Sprintf("https://127.0.0.1:%d%s", installation.APIServerPort, path), strings.NewReader(review))
		if err != nil {
			t.Fatal(err)
		}
		request.Header = header
		request.Header.Set("Content-Type", "application/json")
		response, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != http.StatusUnauthorized && response.StatusCode != http.StatusForbidden {
			t.Errorf("sent to our port with headers %v: got %s, want 401 or 403", header, response.Status)
		}
	}
}

// While our server is down, only increases in namespaces with a quota fail.
func TestServerDownBlocksOnlyIncreasesBelowQuotas(t *testing.T) {
	_, namespaces := subtree(t, "down-", 1, 5)
	if err := createSecret(t, namespaces[0], "before"); err != nil {
		t.Fatal(err)
	}
	if err := cp.StopProcess(t.Context(), replicas[0].Process()); err != nil {
		t.Fatal(err)
	}
	err := createSecret(t, namespaces[0], "meanwhile")
	if err == nil || !strings.Contains(err.Error(), "hierarchicalresourcequotas.hnc.x-k8s.io") {
		t.Errorf("an increase: got %v, want an error that names the webhook", err)
	}
	if err := createSecret(t, metav1.NamespaceDefault, "down-elsewhere"); err != nil {
		t.Errorf("outside: %v", err)
	}
	if err := admin.CoreV1().Secrets(namespaces[0]).Delete(t.Context(), "before", metav1.DeleteOptions{}); err != nil {
		t.Errorf("a deletion: %v", err)
	}
	suite.EventuallyEqual(t, "use after the deletion", "0", func() string {
		rq, err := admin.CoreV1().ResourceQuotas(namespaces[0]).Get(t.Context(), "hrq.hnc.x-k8s.io", metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		used := rq.Status.Used["secrets"]
		return used.String()
	})
	if err := suite.Start(t.Context(), cp, installation, replicas[0]); err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		suite.Eventually(t, "an increase afterwards", func() error { return createSecret(t, namespaces[0], fmt.Sprintf("after-%d", i)) })
	}
	if err := createSecret(t, namespaces[0], "more"); !exceeded(err) {
		t.Errorf("got %v", err)
	}
}

func TestLostRecordsAreCountedAgain(t *testing.T) {
	_, namespaces := subtree(t, "lost-", 2, 3)
	for i := range 2 {
		if err := createSecret(t, namespaces[0], fmt.Sprintf("s-%d", i)); err != nil {
			t.Fatal(err)
		}
	}
	etcd, err := cp.Etcd()
	if err != nil {
		t.Fatal(err)
	}
	config, err := etcd.TLS()
	if err != nil {
		t.Fatal(err)
	}
	client, err := clientv3.New(clientv3.Config{Endpoints: etcd.Endpoints, TLS: config})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	deleted, err := client.Delete(t.Context(), controlplane.EtcdPrefix+"/records/quota/", clientv3.WithPrefix())
	if err != nil || deleted.Deleted == 0 {
		t.Fatalf("%d records were deleted: %v", deleted.Deleted, err)
	}
	if err := createSecret(t, namespaces[1], "s"); err != nil {
		t.Fatal(err)
	}
	if err := createSecret(t, namespaces[1], "more"); !exceeded(err) {
		t.Errorf("got %v: the use of the other namespace must count", err)
	}
}
