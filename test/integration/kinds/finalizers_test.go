package kinds

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// The admin of a namespace puts an object with a finalizer where a policy of its ancestors will be, and deletes it: it
// can't be replaced.
func TestAnObjectThatItsFinalizersKeepIsReported(t *testing.T) {
	configure(t, "networkpolicies.networking.k8s.io Propagate")
	root, _, leaf := tree(t, "held-object")
	tenant := tenantOf(t, leaf, "kept-tenant", "admin")
	client := tenant.Dynamic.Resource(networkPolicies).Namespace(leaf)
	own := object("NetworkPolicy", leaf, "isolated", "nobody")
	own.SetFinalizers([]string{"example.com/wait"})
	suite.Must(t, "an object of the tenant's", func() error {
		_, err := client.Create(t.Context(), own, metav1.CreateOptions{})
		return err
	})
	if err := client.Delete(t.Context(), "isolated", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	put(t, networkPolicies, object("NetworkPolicy", root, "isolated", "everybody"))
	reported := func(part string) {
		t.Helper()
		suite.EventuallyEqual(t, "the configuration reports it", "true", func() string {
			_, message := condition(t, hnc.ConditionOutOfSync)
			return boolean(strings.Contains(message, fmt.Sprintf("%q in namespace %q is being deleted", "isolated", leaf)) && strings.Contains(message, part))
		})
	}
	reported(fmt.Sprintf("the one from namespace %q can't replace it", root))
	suite.EventuallyEqual(t, "events on the source", "1", func() string { return fmt.Sprint(len(events(t, root, "isolated", hnc.EventCannotPropagate))) })

	free := []byte(`{"metadata":{"finalizers":null}}`)
	if _, err := client.Patch(t.Context(), "isolated", types.MergePatchType, free, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	eventuallyPresent(t, networkPolicies, leaf, "isolated=everybody<"+root)
	suite.EventuallyEqual(t, "condition", "", func() string { reason, _ := condition(t, hnc.ConditionOutOfSync); return reason })

	// A copy is kept after its source was removed.
	if _, err := client.Patch(t.Context(), "isolated", types.MergePatchType, []byte(`{"metadata":{"finalizers":["example.com/wait"]}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := alice.Dynamic.Resource(networkPolicies).Namespace(root).Delete(t.Context(), "isolated", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	reported("the source has been removed")
	if _, err := client.Patch(t.Context(), "isolated", types.MergePatchType, free, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	eventuallyPresent(t, networkPolicies, leaf, "")
	suite.EventuallyEqual(t, "condition", "", func() string { reason, _ := condition(t, hnc.ConditionOutOfSync); return reason })
}
