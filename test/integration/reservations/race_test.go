package reservations

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// subtree creates a root and n sub-namespaces below it, and waits until a quota limits their Secrets.
func subtree(t *testing.T, prefix string, n int, hard int64) (root string, namespaces []string) {
	t.Helper()
	root = prefix + "root"
	if _, err := admin.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: root}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		name := namespaceName(prefix, i)
		sub := &v1beta1.Subnamespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if _, err := admin.HNC.HncV1beta1().Subnamespaces(root).Create(t.Context(), sub, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		namespaces = append(namespaces, name)
	}
	limit(t, root, "secrets", hard)
	for _, name := range append([]string{root}, namespaces...) {
		suite.Eventually(t, "the quota of "+name, func() error {
			rq, err := admin.CoreV1().ResourceQuotas(name).Get(t.Context(), hnc.ResourceQuotaName, metav1.GetOptions{})
			if err == nil && rq.Status.Used == nil {
				err = fmt.Errorf("its use has not been counted yet")
			}
			return err
		})
	}
	return root, namespaces
}

// limit creates a quota for Secrets, or changes it, and waits until it is enforced.
func limit(t *testing.T, namespace, name string, hard int64) {
	t.Helper()
	client := admin.HNC.HncV1beta1().HierarchicalResourceQuotas(namespace)
	q := &v1beta1.HierarchicalResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1beta1.HierarchicalResourceQuotaSpec{
		Hard: hnc.ResourceList{corev1.ResourceSecrets: *resource.NewQuantity(hard, resource.DecimalSI)}}}
	_, err := client.Create(t.Context(), q, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		patch := fmt.Sprintf(`{"spec":{"hard":{"secrets":"%d"}}}`, hard)
		_, err = client.Patch(t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
	suite.Eventually(t, "enforcement of "+name, func() error {
		q, err := client.Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		condition := meta.FindStatusCondition(q.Status.Conditions, hnc.ConditionReady)
		if condition == nil || condition.Status != metav1.ConditionTrue || condition.ObservedGeneration != q.Generation {
			return fmt.Errorf("condition: %v", condition)
		}
		return nil
	})
}

func createSecret(t *testing.T, namespace, name string) error {
	t.Helper()
	_, err := admin.CoreV1().Secrets(namespace).Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	return err
}

// attempts is how many Secrets each writer tries to create.
func attempts() int { return suite.Size(30, 250) }

// 8 writers create Secrets in 20 namespaces, against a limit of half of them. hns-apiserver moves to another replica
// and back meanwhile, and the first replica is killed. At no revision are there more Secrets than the limit allows, and
// in the end there are exactly as many.
func TestWritersNeverExceedTheLimitWhileReplicasComeAndGo(t *testing.T) {
	const writers = 8
	all := writers * attempts()
	limitOfAll := all / 2
	root, namespaces := subtree(t, "race-", 20, int64(limitOfAll))
	h := record(t, "race-")
	second, err := cp.StartServer(t.Context(), installation, replicas[1])
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	var done atomic.Int64
	// Switches the replica, and kills one, as the writers proceed.
	steps := map[int]func() error{
		all / 8: func() error { return cp.Register(t.Context(), installation, second) },
		all / 4: func() error { return cp.Register(t.Context(), installation, installation.APIServerPort) },
		all / 2: func() error {
			if err := cp.Kill(t.Context(), replicas[0].Process()); err != nil {
				return err
			}
			return cp.Register(t.Context(), installation, second)
		},
	}
	for w := range writers {
		group.Go(func() {
			for i := range attempts() {
				// Errors are those of the quota, or of a replica that is gone.
				_ = createSecret(t, namespaces[(w*7+i)%len(namespaces)], fmt.Sprintf("s-%d-%d", w, i))
				if step := steps[int(done.Add(1))]; step != nil {
					if err := step(); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	group.Wait()
	// What is left can be used.
	suite.Eventually(t, "using the rest", func() error {
		for i := 0; ; i++ {
			name := namespaces[i%len(namespaces)]
			_, err := admin.CoreV1().Secrets(name).Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{GenerateName: "rest-"}}, metav1.CreateOptions{})
			if err == nil {
				continue
			}
			if list, listErr := admin.CoreV1().Secrets("").List(t.Context(), metav1.ListOptions{}); listErr == nil && countIn(list.Items, namespaces) == limitOfAll {
				return nil
			}
			return err
		}
	})
	highest, count, created := h.finish(t)
	t.Logf("%d secrets were created", created)
	if highest > limitOfAll || count != limitOfAll {
		t.Errorf("at most %d secrets at a time and %d in the end, the limit is %d", highest, count, limitOfAll)
	}
	if err := createSecret(t, root, "one-more"); !exceeded(err) {
		t.Errorf("one more in the root: %v", err)
	}
	// The other tests use the first replica.
	if err := suite.Start(t.Context(), cp, installation, replicas[0]); err != nil {
		t.Fatal(err)
	}
}

func countIn(secrets []corev1.Secret, namespaces []string) (n int) {
	in := map[string]bool{}
	for _, name := range namespaces {
		in[name] = true
	}
	for _, secret := range secrets {
		if in[secret.Namespace] {
			n++
		}
	}
	return n
}
