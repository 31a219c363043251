package controlplane

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// tokenSeconds is the life of the tokens that we ask for: longer than any development cluster lives.
const tokenSeconds int64 = 5 * 365 * 24 * 60 * 60

// User returns the configuration of a user with these groups, authenticated by a new client certificate.
// What the user may do is up to RBAC.
func (cp *ControlPlane) User(name string, groups ...string) (*rest.Config, error) {
	config, err := cp.anonymous()
	if err != nil {
		return nil, err
	}
	if config.CertData, config.KeyData, err = cp.pki.user(name, groups...); err != nil {
		return nil, fmt.Errorf("certificate of user %q: %w", name, err)
	}
	return config, nil
}

// keptUser returns the configuration of a user whose certificate is kept in files named file, so that it stays the
// same.
func (cp *ControlPlane) keptUser(file, user string, groups ...string) (*rest.Config, error) {
	pair, err := cp.pki.client(cp.pki.cluster, file, user, groups...)
	if err != nil {
		return nil, fmt.Errorf("certificate of user %q: %w", user, err)
	}
	config, err := cp.anonymous()
	if err != nil {
		return nil, err
	}
	if config.CertData, err = os.ReadFile(pair.CertFile); err != nil {
		return nil, err
	}
	if config.KeyData, err = os.ReadFile(pair.KeyFile); err != nil {
		return nil, err
	}
	return config, nil
}

// anonymous reaches kube-apiserver without credentials.
func (cp *ControlPlane) anonymous() (*rest.Config, error) {
	port, err := cp.ports.get(kubeAPIServer)
	if err != nil {
		return nil, err
	}
	ca, err := os.ReadFile(cp.pki.cluster.CertFile)
	if err != nil {
		return nil, err
	}
	return &rest.Config{
		Host:            "https://" + loopback(port),
		TLSClientConfig: rest.TLSClientConfig{CAData: ca},
		// The server's own priority and fairness is what throttles.
		QPS: -1,
	}, nil
}

// ServiceAccount returns the configuration of an existing ServiceAccount, with a new token, and the path of a
// kubeconfig with the same.
func (cp *ControlPlane) ServiceAccount(ctx context.Context, namespace, name string) (*rest.Config, string, error) {
	client, err := kubernetes.NewForConfig(cp.admin)
	if err != nil {
		return nil, "", err
	}
	seconds := tokenSeconds
	token, err := client.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, name,
		&authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}}, metav1.CreateOptions{})
	if err != nil {
		return nil, "", fmt.Errorf("token of ServiceAccount %s/%s: %w", namespace, name, err)
	}
	config, err := cp.anonymous()
	if err != nil {
		return nil, "", err
	}
	config.BearerToken = token.Status.Token
	file := filepath.Join(cp.config.Dir, fmt.Sprintf("%s.%s.kubeconfig", namespace, name))
	return config, file, writeKubeconfig(config, file)
}

// writeKubeconfig writes the configuration as a kubeconfig with all data inline.
func writeKubeconfig(config *rest.Config, file string) error {
	const name = "hns-dev"
	kubeconfig := clientcmdapi.NewConfig()
	kubeconfig.Clusters[name] = &clientcmdapi.Cluster{Server: config.Host, CertificateAuthorityData: config.CAData}
	kubeconfig.AuthInfos[name] = &clientcmdapi.AuthInfo{
		ClientCertificateData: config.CertData, ClientKeyData: config.KeyData, Token: config.BearerToken,
	}
	kubeconfig.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	kubeconfig.CurrentContext = name
	return clientcmd.WriteToFile(*kubeconfig, file)
}
