package cli

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
)

// A quota of a tenant can have many resources with long names, which come before others.
func TestUseThatFitsIntoNoRowIsCounted(t *testing.T) {
	used := hnc.ResourceList{"pods": resource.MustParse("1"), "services": resource.MustParse("0"), "secrets": resource.MustParse("2")}
	if got, want := formatUse(used), "pods: 1, secrets: 2"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for i := range 100 {
		used[corev1.ResourceName(fmt.Sprintf("count/%d.%s", i, strings.Repeat("a", 200)))] = resource.MustParse("1")
	}
	got := formatUse(used)
	if !strings.HasSuffix(got, ", and 93 more") || strings.Count(got, ": 1, ") != 9 || names.ShortenText(got) != got {
		t.Errorf("got %q", got)
	}
}
