package certificates

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// forward sends a request with a name straight to hns-apiserver, as kube-apiserver does with its client certificate,
// and returns the status.
func forward(ctx context.Context, pair tls.Certificate) (int, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("https://127.0.0.1:%d/apis/hnc.x-k8s.io/v1beta1/namespaces/default/hierarchies", port), nil)
	if err != nil {
		return 0, err
	}
	request.Header.Set("X-Remote-User", "nobody")
	config := &tls.Config{Certificates: []tls.Certificate{pair}, InsecureSkipVerify: true}
	client := http.Client{Transport: &http.Transport{TLSClientConfig: config, DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		return 0, err
	}
	return response.StatusCode, response.Body.Close()
}

// eventuallyForwards waits for a status of forwarded requests.
func eventuallyForwards(t *testing.T, what string, pair tls.Certificate, want int) {
	t.Helper()
	suite.Eventually(t, what, func() error {
		got, err := forward(t.Context(), pair)
		if err == nil && got != want {
			err = fmt.Errorf("got %d, want %d", got, want)
		}
		return err
	})
}

func load(t *testing.T, files controlplane.KeyPair) tls.Certificate {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(files.CertFile, files.KeyFile)
	if err != nil {
		t.Fatal(err)
	}
	return pair
}

// replace writes the content of files, one after another, to another file.
func replace(t *testing.T, file string, with ...string) {
	t.Helper()
	var content []byte
	for _, source := range with {
		data, err := os.ReadFile(source)
		if err != nil {
			t.Fatal(err)
		}
		content = append(content, data...)
	}
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// trustOnly makes a file the only authority of forwarded requests.
func trustOnly(ctx context.Context, file string) error {
	authority, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	configMaps := admin.CoreV1().ConfigMaps(metav1.NamespaceSystem)
	trust, err := configMaps.Get(ctx, "extension-apiserver-authentication", metav1.GetOptions{})
	if err != nil {
		return err
	}
	const key = "requestheader-client-ca-file"
	if strings.TrimSpace(trust.Data[key]) == strings.TrimSpace(string(authority)) {
		return nil
	}
	trust.Data[key] = string(authority)
	if _, err := configMaps.Update(ctx, trust, metav1.UpdateOptions{}); err != nil {
		return err
	}
	return errors.New("it has just been replaced")
}

// verifiedFor is a little longer than the client certificate of a connection counts as verified:
// pkg/apiserver/forwarded.
const verifiedFor = 12 * time.Second

func TestNoRequestFailsWhileTheAuthorityOfForwardedRequestsIsReplaced(t *testing.T) {
	used, err := cp.FrontProxy()
	if err != nil {
		t.Fatal(err)
	}
	old := load(t, used)
	nextAuthority, next, err := controlplane.NewFrontProxy(filepath.Join(t.TempDir(), "pki"))
	if err != nil {
		t.Fatal(err)
	}
	authority, oldAuthority := filepath.Join(cp.Dir(), "pki", "front-proxy-ca.crt"), filepath.Join(t.TempDir(), "old.crt")
	replace(t, oldAuthority, authority)
	// kube-apiserver logs that it has read a certificate.
	if err := admin.CoreV1().RESTClient().Put().AbsPath("/debug/flags/v").Body([]byte("2")).Do(t.Context()).Error(); err != nil {
		t.Fatal(err)
	}
	eventuallyForwards(t, "the authority is trusted", old, http.StatusOK)

	requested := request(t)
	replace(t, authority, oldAuthority, nextAuthority)
	eventuallyForwards(t, "the next authority is trusted", load(t, next), http.StatusOK)
	eventuallyForwards(t, "the old authority is trusted still", old, http.StatusOK)
	replace(t, used.KeyFile, next.KeyFile)
	replace(t, used.CertFile, next.CertFile)
	suite.Eventually(t, "kube-apiserver uses the next certificate", func() error {
		log, err := os.ReadFile(cp.Log("kube-apiserver"))
		if err == nil && !strings.Contains(string(log), `"Loaded a new cert/key pair" name="aggregator-proxy-cert`) {
			err = errors.New("its log says nothing of it")
		}
		return err
	})
	replace(t, authority, nextAuthority)
	// kube-apiserver adds authorities to the ConfigMap, and removes only those that have expired.
	suite.Eventually(t, "the ConfigMap is without the old authority", func() error {
		return trustOnly(t.Context(), nextAuthority)
	})
	eventuallyForwards(t, "the old authority is not trusted any more", old, http.StatusUnauthorized)
	requested.more(t, 20, verifiedFor)
	requested.finish()
	t.Log(requested)
}
