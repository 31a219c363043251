package servers

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// While our server is down, and its APIServices are taken away, namespaces are deleted. When they are back, what
// remained of those namespaces goes, and the others are in their trees.
func TestNamespacesAreDeletedInAnEmergency(t *testing.T) {
	createNamespaces(t, "emergency-parent", "emergency-child", "emergency-stays")
	for _, child := range []string{"emergency-child", "emergency-stays"} {
		if err := admin.apply(t, hierarchies, child, "emergency-parent"); err != nil {
			t.Fatal(err)
		}
	}
	if err := cp.StopProcess(t.Context(), registered.Process()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { restartRegistered(t) })
	if err := admin.CoreV1().Namespaces().Delete(t.Context(), "emergency-child", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "apiservices.yaml")
	begin := time.Now()
	if err := suite.Emergency(t.Context(), cp, binDir, "suspend", file); err != nil {
		t.Fatal(err)
	}
	waitUntilGone(t, "emergency-child")
	t.Logf("deleted %s after the APIServices were", time.Since(begin).Round(100*time.Millisecond))
	if err := suite.Emergency(t.Context(), cp, binDir, "suspend", file); err == nil {
		t.Error("the APIServices are overwritten in their file")
	}
	if err := suite.Emergency(t.Context(), cp, binDir, "resume", file); err != nil {
		t.Fatal(err)
	}
	begin = time.Now()
	restartRegistered(t)
	resource := admin.dynamic.Resource(hierarchies.GroupVersionResource)
	eventually(t, "the hierarchy of a namespace that is gone goes", func() error {
		_, err := resource.Namespace("emergency-child").Get(t.Context(), hnc.Singleton, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return errors.Join(errors.New("it is still there"), err)
	})
	t.Logf("its hierarchy was gone %s after the server's return", time.Since(begin).Round(100*time.Millisecond))
	if _, err := resource.Namespace("emergency-stays").Get(t.Context(), hnc.Singleton, metav1.GetOptions{}); err != nil {
		t.Errorf("the hierarchy of a namespace that stays: %v", err)
	}
	deleteNamespaces(t, "emergency-stays", "emergency-parent")
}
