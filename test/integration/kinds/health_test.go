package kinds

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// ask returns the status and the body that a propagator answers to a user, directly.
func ask(t *testing.T, config *rest.Config, process, path string) string {
	t.Helper()
	port, err := cp.Port(process)
	if err != nil {
		t.Fatal(err)
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	client.Timeout = suite.Deadline
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, fmt.Sprintf("https://127.0.0.1:%d%s", port, path), nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := client.Do(request)
	if err != nil {
		return err.Error()
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(response.StatusCode, " ", string(body))
}

func TestMetricsOfThePropagatorTakeAPermission(t *testing.T) {
	nobody := rest.AnonymousClientConfig(cp.RESTConfig())
	if got := ask(t, nobody, "hns-propagator", "/livez"); got != "200 ok" {
		t.Errorf("health for everybody: %s", got)
	}
	if got := ask(t, nobody, "hns-propagator", "/metrics"); !strings.HasPrefix(got, "401 ") {
		t.Errorf("metrics for everybody: %.200s", got)
	}
	if _, err := person(t.Context(), "metrics"); err != nil {
		t.Fatal(err)
	}
	reader, _, err := cp.ServiceAccount(t.Context(), people, "metrics")
	if err != nil {
		t.Fatal(err)
	}
	if got := ask(t, reader, "hns-propagator", "/metrics"); !strings.HasPrefix(got, "403 ") || !strings.Contains(got, `cannot get path \"/metrics\"`) {
		t.Errorf("metrics for a user without permissions: %.200s", got)
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "metrics"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "hns-metrics-reader"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: people, Name: "metrics"}},
	}
	if _, err := admin.RbacV1().ClusterRoleBindings().Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	// The refusal is cached for a while.
	suite.EventuallyEqual(t, "metrics for a user with the ClusterRole", "true", func() string {
		got := ask(t, reader, "hns-propagator", "/metrics")
		return fmt.Sprint(strings.HasPrefix(got, "200 ") && strings.Contains(got, "hns_propagator_leading 1"))
	})
}

func TestThePropagatorIsReadyWhileItCanPropagateOrTakeOver(t *testing.T) {
	nobody := rest.AnonymousClientConfig(cp.RESTConfig())
	readyz := func(process string) func() string {
		return func() string {
			got := ask(t, nobody, process, "/readyz")
			if got == "200 ok" {
				return got
			}
			var failed []string
			for line := range strings.Lines(got) {
				if check, _, ok := strings.Cut(strings.TrimPrefix(line, "500 "), " failed: reason withheld"); ok {
					failed = append(failed, check)
				}
			}
			return strings.Join(failed, " ")
		}
	}
	if err := cp.StopProcess(t.Context(), "hns-apiserver"); err != nil {
		t.Fatal(err)
	}
	started := false
	start := func() {
		if started {
			return
		}
		started = true
		if _, err := cp.StartServer(context.WithoutCancel(t.Context()), installation, controlplane.Server{Name: "hns-apiserver", Args: apiServerFlags}); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(start)
	suite.EventuallyEqual(t, "the leader while our API is away", "[-]watch", readyz("hns-propagator"))
	standby := propagator()
	standby.Replica = 1
	ready := make(chan error, 1)
	go func() {
		_, err := cp.StartServer(context.WithoutCancel(t.Context()), installation, standby)
		ready <- err
	}()
	t.Cleanup(func() {
		if err := cp.StopProcess(context.Background(), standby.Process()); err != nil {
			t.Error(err)
		}
	})
	suite.EventuallyEqual(t, "the standby while our API is away", "[-]sync [-]watch", readyz(standby.Process()))
	if got := ask(t, nobody, standby.Process(), "/livez"); got != "200 ok" {
		t.Errorf("a restart would not help, but /livez says %s", got)
	}
	select {
	case err := <-ready:
		t.Errorf("a standby is ready without having listed anything of ours: %v", err)
		ready <- err
	default:
	}
	start()
	if err := <-ready; err != nil {
		t.Error(err)
	}
	suite.EventuallyEqual(t, "the leader", "200 ok", readyz("hns-propagator"))
	suite.EventuallyEqual(t, "the standby", "200 ok", readyz(standby.Process()))
}
