package quota

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Excess is a resource of which a request would take the use of a subtree over a limit.
type Excess struct {
	Resource               corev1.ResourceName
	Requested, Used, Limit resource.Quantity
}

// Exceeding returns the resources of which requested is too much: with used, the present use, it exceeds hard. What is
// not increased exceeds nothing, so use that exceeds a limit already blocks nothing else. The result has the order of
// the resources' names.
func Exceeding(hard, used, requested corev1.ResourceList) []Excess {
	var over []Excess
	for _, name := range slices.Sorted(maps.Keys(hard)) {
		limit, now, more := hard[name], used[name], requested[name]
		total := now.DeepCopy()
		total.Add(more)
		if more.Sign() > 0 && total.Cmp(limit) > 0 {
			over = append(over, Excess{Resource: name, Requested: more, Used: now, Limit: limit})
		}
	}
	return over
}

// ExceededMessage returns the message of the error for a request that exceeds the quota of a name, in the form of HNC
// (docs/spec/hnc.md 2.9) and of ResourceQuotas.
func ExceededMessage(namespace, name string, over []Excess) string {
	var requested, used, limited []string
	for _, e := range over {
		requested = append(requested, string(e.Resource)+"="+e.Requested.String())
		used = append(used, string(e.Resource)+"="+e.Used.String())
		limited = append(limited, string(e.Resource)+"="+e.Limit.String())
	}
	return fmt.Sprintf("exceeded hierarchical quota in namespace %q: %q, requested: %s, used: %s, limited: %s", namespace, name,
		strings.Join(requested, ","), strings.Join(used, ","), strings.Join(limited, ","))
}
