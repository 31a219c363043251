package reads

import (
	"bufio"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/informers/externalversions"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// A controller follows its own namespaces with nothing but its ServiceAccount, also when the server comes back as
// another process, which knows no version of the one before.
func TestAServiceAccountsInformerKeepsUp(t *testing.T) {
	namespaces(t, "robots", "robots-a", "robots-b")
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "robot"}}
	if _, err := root.CoreV1().ServiceAccounts("robots").Create(t.Context(), account, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	config, _, err := cp.ServiceAccount(t.Context(), "robots", "robot")
	if err != nil {
		t.Fatal(err)
	}
	robot, err := clients("system:serviceaccount:robots:robot", config)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	factory := externalversions.NewSharedInformerFactory(robot.HNC, 0)
	informer := factory.Hnc().V1alpha3().MyNamespaces().Informer()
	factory.StartWithContext(ctx)
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		t.Fatal("the informer does not sync")
	}
	knows := func(want ...string) {
		t.Helper()
		suite.Eventually(t, fmt.Sprintf("the informer knows %v", want), func() error {
			keys := informer.GetStore().ListKeys()
			for _, name := range want {
				if _, ok, _ := informer.GetStore().GetByKey(name); !ok {
					return fmt.Errorf("got %v", keys)
				}
			}
			if len(keys) != len(want) {
				return fmt.Errorf("got %v", keys)
			}
			return nil
		})
	}
	knows()
	first := bind(t, "robots-a", "view", "system:serviceaccount:robots:robot")
	knows("robots-a")
	if err := cp.Kill(t.Context(), "hns-apiserver"); err != nil {
		t.Fatal(err)
	}
	bind(t, "robots-b", "view", "system:serviceaccount:robots:robot")
	if err := root.RbacV1().RoleBindings("robots-a").Delete(t.Context(), first.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := cp.StartServer(t.Context(), installation, controlplane.Server{Name: "hns-apiserver"}); err != nil {
		t.Fatal(err)
	}
	knows("robots-b")
}

func TestKubectlWatches(t *testing.T) {
	namespaces(t, "watched-a", "watched-b")
	wanda := newUser(t, "wanda")
	bind(t, "watched-a", "view", "wanda")
	suite.Eventually(t, "wanda sees watched-a", func() error {
		if got, err := wanda.names(t, metav1.ListOptions{}); got != "watched-a" {
			return fmt.Errorf("got %q, %w", got, err)
		}
		return nil
	})
	kubeconfig, err := wanda.kubeconfig(t)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), suite.Deadline)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(binDir, "kubectl"), "--kubeconfig="+kubeconfig, "get", "myns", "--watch", "--output-watch-events", "--no-headers")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { cancel(); _ = cmd.Wait() }()
	lines := bufio.NewScanner(out)
	next := func(want string) {
		t.Helper()
		if !lines.Scan() {
			t.Fatalf("kubectl has ended before %q: %v", want, lines.Err())
		}
		if got := strings.Join(strings.Fields(lines.Text())[:2], " "); got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
	next("ADDED watched-a")
	binding := bind(t, "watched-b", "view", "wanda")
	next("ADDED watched-b")
	if err := root.RbacV1().RoleBindings("watched-b").Delete(t.Context(), binding.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	next("DELETED watched-b")
}
