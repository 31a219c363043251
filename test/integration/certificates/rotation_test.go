package certificates

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/cert"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

const host = "hns-apiserver.hns-system.svc"

// trusted returns the authorities that kube-apiserver trusts.
func trusted(ctx context.Context, version string) ([]*x509.Certificate, error) {
	resource := schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}
	found, err := admin.Dynamic.Resource(resource).Get(ctx, version+".hnc.x-k8s.io", metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	encoded, _, err := unstructured.NestedString(found.Object, "spec", "caBundle")
	if err != nil {
		return nil, err
	}
	data, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return nil, err
	}
	return cert.ParseCertsPEM(data)
}

// connect opens a connection to hns-apiserver that trusts what kube-apiserver trusts, and returns the server's
// certificate.
func connect(ctx context.Context) (*x509.Certificate, error) {
	authorities, err := trusted(ctx, "v1beta1")
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	for _, authority := range authorities {
		roots.AddCert(authority)
	}
	dialer := tls.Dialer{Config: &tls.Config{RootCAs: roots, ServerName: host, MinVersion: tls.VersionTLS12}}
	connection, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return nil, err
	}
	defer func() { _ = connection.Close() }()
	return connection.(*tls.Conn).ConnectionState().PeerCertificates[0], nil
}

func TestNoRequestFailsWhileAllCertificatesAreReplaced(t *testing.T) {
	ctx, stop := context.WithTimeout(t.Context(), deadline)
	defer stop()
	requested := request(t)
	complete := requested.watch(t)
	first, err := connect(ctx)
	if err != nil {
		t.Fatal(err)
	}
	authorities, err := trusted(ctx, "v1beta1")
	if err != nil {
		t.Fatal(err)
	}
	oldest := authorities[0]

	requesting, done := context.WithCancel(ctx)
	var clients sync.WaitGroup
	for _, server := range []string{"hns-apiserver", "hns-propagator"} {
		clients.Go(func() { stayReady(requesting, t, server) })
	}
	// The authority that was trusted first has to go, and a certificate of another one to be served: then all have
	// changed.
	served := map[string]bool{}
	err = wait.PollUntilContextCancel(ctx, suite.Interval, true, func(ctx context.Context) (bool, error) {
		current, err := connect(ctx)
		if err != nil {
			return false, fmt.Errorf("connection: %w", err)
		}
		served[current.SerialNumber.String()] = true
		authorities, err := trusted(ctx, "v1beta1")
		if err != nil {
			return false, err
		}
		for _, authority := range authorities {
			if authority.Equal(oldest) {
				return false, nil
			}
		}
		return !bytes.Equal(current.RawIssuer, first.RawIssuer), nil
	})
	done()
	clients.Wait()
	if err != nil {
		t.Fatal(err)
	}
	complete()
	if len(served) < 3 {
		t.Errorf("%d certificates were served, want at least one more of the first authority, and one of the next", len(served))
	}
	t.Logf("%s, %d certificates", requested, len(served))
}

// stayReady asks a server that is ready whether it is, until ctx is done.
func stayReady(ctx context.Context, t *testing.T, server string) {
	port, err := cp.Port(server)
	if err != nil {
		t.Error(err)
		return
	}
	answers := 0
	_ = wait.PollUntilContextCancel(ctx, suite.Interval, true, func(context.Context) (bool, error) {
		if err := ready(port); err != nil {
			t.Errorf("%s after %d answers: %v", server, answers, err)
		}
		answers++
		return false, nil
	})
	t.Logf("%s was asked %d times", server, answers)
}

// anyCertificate connects anew for each request, to a server of any certificate.
var anyCertificate = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}

// ready returns an error unless the server at a port is ready.
func ready(port int) error {
	response, err := anyCertificate.Get(fmt.Sprintf("https://127.0.0.1:%d/readyz", port))
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", response.Status, body)
	}
	return err
}

func TestAllVersionsTrustTheSameAuthorities(t *testing.T) {
	suite.Eventually(t, "equal bundles", func() error {
		for _, version := range []string{"v1beta1", "v1alpha3", "v1alpha2", "v1alpha2.resources"} {
			authorities, err := trusted(t.Context(), version)
			if err != nil {
				return err
			}
			current, err := connect(t.Context())
			if err != nil {
				return err
			}
			roots := x509.NewCertPool()
			for _, authority := range authorities {
				roots.AddCert(authority)
			}
			if _, err := current.Verify(x509.VerifyOptions{Roots: roots, DNSName: host}); err != nil {
				return fmt.Errorf("%s: %w", version, err)
			}
		}
		return nil
	})
}

func TestADeletedCertificateIsIssuedAgain(t *testing.T) {
	before, err := connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := admin.CoreV1().Secrets(controlplane.Namespace).Delete(t.Context(), secret, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	suite.Eventually(t, "another certificate", func() error {
		after, err := connect(t.Context())
		if err == nil && after.Equal(before) {
			err = fmt.Errorf("still %s", before.SerialNumber)
		}
		return err
	})
}

// The ports of both servers, with the metrics and health of the propagator.
func TestOldVersionsOfTLSAreRefused(t *testing.T) {
	for _, server := range []string{"hns-apiserver", "hns-propagator"} {
		port, err := cp.Port(server)
		if err != nil {
			t.Fatal(err)
		}
		for version, refused := range map[uint16]bool{tls.VersionTLS11: true, tls.VersionTLS12: false} {
			config := &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS10, MaxVersion: version}
			connection, err := tls.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), config)
			if (err != nil) != refused {
				t.Errorf("%s: a client with %s gets %v", server, tls.VersionName(version), err)
			}
			if err == nil {
				_ = connection.Close()
			}
		}
	}
}

// The propagator has no permission to register other servers, nor to take over other APIs.
func TestThePropagatorChangesNoOtherRegistrations(t *testing.T) {
	for name, want := range map[string]bool{"v1beta1.hnc.x-k8s.io": true, "v1.apps": false, "v1beta1.metrics.k8s.io": false} {
		review, err := admin.AuthorizationV1().SubjectAccessReviews().Create(t.Context(), &authorizationv1.SubjectAccessReview{
			Spec: authorizationv1.SubjectAccessReviewSpec{
				User: "system:serviceaccount:hns-system:hns-propagator",
				ResourceAttributes: &authorizationv1.ResourceAttributes{
					Verb: "patch", Group: "apiregistration.k8s.io", Resource: "apiservices", Name: name,
				},
			},
		}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if review.Status.Allowed != want {
			t.Errorf("patch %s: %t, want %t", name, review.Status.Allowed, want)
		}
	}
}
