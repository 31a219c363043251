package chaos

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
)

// audited are the writes of propagators in kube-apiserver's audit log. The lease shows who may write; nothing follows
// from events.
const audited = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: None
  resources: [{group: coordination.k8s.io}, {resources: [events]}, {group: authentication.k8s.io}, {group: authorization.k8s.io}]
- level: Metadata
  users: ["system:serviceaccount:hns-system:hns-propagator"]
  verbs: [create, update, patch, delete]
- level: None
`

// pending is how much the leader has to write before it is suspended: copies of sources in namespaces.
const pendingSources, pendingNamespaces = 25, 40

// A leader is suspended while it writes thousands of copies, until another one has its lease. From then on it must not
// write.
func TestASuspendedLeaderWritesNothingAfterItsLease(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	policy, log := filepath.Join(dir, "policy.yaml"), filepath.Join(dir, "audit.log")
	if err := os.WriteFile(policy, []byte(audited), 0o600); err != nil {
		t.Fatal(err)
	}
	r := startReplicas(t, "--audit-policy-file="+policy, "--audit-log-path="+log)
	names := []string{"suspended"}
	for i := range pendingNamespaces {
		names = append(names, fmt.Sprintf("suspended-%d", i))
	}
	for i, name := range names {
		if _, err := r.client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			continue
		}
		h := &v1beta1.Hierarchy{ObjectMeta: metav1.ObjectMeta{Name: hnc.Singleton}, Spec: v1beta1.HierarchySpec{Parent: names[0]}}
		if err := poll(t.Context(), func() error {
			_, err := r.client.hnc.HncV1beta1().Hierarchies(name).Create(t.Context(), h, metav1.CreateOptions{})
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	previous := r.leader(t.Context())
	before, err := r.pid(previous)
	if err != nil {
		t.Fatal(err)
	}

	sources := r.suspend(t, previous, names[0])
	r.copied(t, sources*pendingNamespaces)
	resumed := time.Now()
	if err := r.signal(previous, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if err := poll(t.Context(), func() error {
		if now, err := r.pid(previous); err != nil || now == before {
			return errors.New("the previous leader has not ended")
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	r.source(t, names[0], sources, 1)
	r.copied(t, (sources+1)*pendingNamespaces)

	inTime, late := writes(t, log, r.credentials[previous], resumed)
	t.Logf("the previous leader wrote %d objects before it was suspended", len(inTime))
	if len(inTime) == 0 || len(late) > 0 {
		t.Errorf("%d writes of the previous leader before it was suspended, %d after it was resumed, such as %v", len(inTime), len(late), late[:min(len(late), 5)])
	}
}

// suspend creates sources in a namespace until the leader is suspended before it has written all their copies, and
// returns how many sources there are.
func (r *replicas) suspend(t *testing.T, leader, namespace string) (sources int) {
	t.Helper()
	for range 10 {
		r.source(t, namespace, sources, pendingSources)
		r.copied(t, sources*pendingNamespaces+1)
		sources += pendingSources
		if err := r.signal(leader, syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		found, err := r.copies(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if found < sources*pendingNamespaces {
			return sources
		}
		if err := r.signal(leader, syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
	}
	t.Fatal("the leader writes everything before it can be suspended")
	return 0
}

// source creates RoleBindings in a namespace.
func (r *replicas) source(t *testing.T, namespace string, from, n int) {
	t.Helper()
	for i := range n {
		key := types.NamespacedName{Namespace: namespace, Name: fmt.Sprintf("source-%d", from+i)}
		if _, err := r.client.RbacV1().RoleBindings(namespace).Create(t.Context(), binding{Role: "view", Subject: "x"}.object(key), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

// copied returns when there are so many copies at least.
func (r *replicas) copied(t *testing.T, n int) {
	t.Helper()
	if err := poll(t.Context(), func() error {
		found, err := r.copies(t.Context())
		if err == nil && found < n {
			err = fmt.Errorf("%d of %d copies", found, n)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

func (r *replicas) copies(ctx context.Context) (int, error) {
	list, err := r.client.RbacV1().RoleBindings("").List(ctx, metav1.ListOptions{LabelSelector: hnc.LabelInheritedFrom})
	if err != nil {
		return 0, err
	}
	return len(list.Items), nil
}

// credential gives a propagator a token of its own, and returns the kubeconfig that contains it, and the name that
// audit logs have for the token.
func credential(ctx context.Context, cp *controlplane.ControlPlane, process string) (kubeconfig, id string, err error) {
	config, file, err := cp.ServiceAccount(ctx, controlplane.Namespace, propagator.Name)
	if err != nil {
		return "", "", err
	}
	kubeconfig = filepath.Join(cp.Dir(), process+".own.kubeconfig")
	if err := os.Rename(file, kubeconfig); err != nil {
		return "", "", err
	}
	claims, err := base64.RawURLEncoding.DecodeString(strings.Split(config.BearerToken, ".")[1])
	if err != nil {
		return "", "", err
	}
	var token struct {
		ID string `json:"jti"`
	}
	err = json.Unmarshal(claims, &token)
	return kubeconfig, "JTI=" + token.ID, err
}

// writes returns the writes with a credential before and after a time.
func writes(t *testing.T, log, credential string, at time.Time) (before, after []string) {
	t.Helper()
	file, err := os.Open(log)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var event auditv1.Event
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(event.User.Extra["authentication.kubernetes.io/credential-id"], credential) {
			continue
		}
		line := fmt.Sprintf("%s %s at %s", event.Verb, event.RequestURI, event.RequestReceivedTimestamp.Time)
		if event.RequestReceivedTimestamp.After(at) {
			after = append(after, line)
		} else {
			before = append(before, line)
		}
	}
	return before, after
}
