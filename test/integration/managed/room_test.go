package managed

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

// crowd returns about 30 KiB of managed labels, almost as many as one object may set.
func crowd(prefix string) []string {
	all := make([]string, 220)
	for i := range all {
		key := prefix + string(rune('a'+i/26)) + string(rune('a'+i%26))
		all[i] = fmt.Sprintf("example.com/%s%s=%s", key, strings.Repeat("x", 60-len(key)), strings.Repeat("y", 63))
	}
	return all
}

// What ancestors set has room, and what has none is reported.
func TestLabelsThatHaveNoRoomAreLeftOut(t *testing.T) {
	const depth = 7
	below := ""
	for i := range depth {
		name, above := fmt.Sprintf("room-%d", i), below
		namespace(t, name)
		mustSetHierarchy(t, name, func(s *v1beta1.HierarchySpec) { s.Parent, s.Labels = above, pairs(crowd("l"+string(rune('a'+i)))...) })
		below = name
	}
	leaf, last := fmt.Sprintf("room-%d", depth-1), string(rune('a'+depth-1))
	eventuallyConditions(t, leaf, "OutOfSync=MetadataTooLarge Ready=MetadataTooLarge", fmt.Sprintf("not set on namespace %q: labels example.com/l%s", leaf, last))
	eventuallyHas(t, leaf, append(crowd("la"), hnc.TreeLabel("room-0")+"=6")...)
	key, _ := split(crowd("l" + last)[219])
	eventuallyHas(t, leaf, key+"!")
	eventuallyConditions(t, "room-1", "Ready=Ready")
	mustSetHierarchy(t, leaf, labels())
	eventuallyConditions(t, leaf, "Ready=Ready")
}

// A user allowed to patch a namespace fills it up, so that it would keep the labels of its old tree.
func TestAFullNamespaceGetsWhatComesFromAbove(t *testing.T) {
	namespace(t, "stuffed")
	namespace(t, "stuffed-top")
	mustSetHierarchy(t, "stuffed-top", labels("team=red"))
	owner := root.CoreV1().Namespaces()
	stuffed := 0
	// Kubernetes limits neither the number of finalizers nor their size.
	stuff := func(n int) error {
		filler := make([]string, n)
		for i := range filler {
			filler[i] = fmt.Sprintf("%s.%s.%s.%s/filler-%05d", strings.Repeat("a", 60), strings.Repeat("b", 60), strings.Repeat("c", 60), strings.Repeat("d", 60), i)
		}
		patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"finalizers": filler}})
		if err != nil {
			return err
		}
		_, err = owner.Patch(t.Context(), "stuffed", types.MergePatchType, patch, metav1.PatchOptions{})
		return err
	}
	for _, step := range []int{1000, 40} {
		for stuff(stuffed+step) == nil {
			stuffed += step
		}
	}
	if stuffed < 1000 {
		t.Fatalf("only %d finalizers have room", stuffed)
	}
	// About 20 KiB are left.
	if err := stuff(stuffed - 40); err != nil {
		t.Fatal(err)
	}
	mustSetHierarchy(t, "stuffed", func(s *v1beta1.HierarchySpec) { s.Parent, s.NamespaceLabels = "stuffed-top", pairs(crowd("own")...) })
	eventuallyHas(t, "stuffed", "team=red", hnc.TreeLabel("stuffed-top")+"=1")
	eventuallyConditions(t, "stuffed", "OutOfSync=NamespaceNotWritten Ready=NamespaceNotWritten", `labels or annotations of namespace "stuffed" could not be written`)
	if err := stuff(0); err != nil {
		t.Fatal(err)
	}
	eventuallyHas(t, "stuffed", crowd("own")...)
	eventuallyConditions(t, "stuffed", "Ready=Ready")
}
