package mapping

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
)

// DefaultExternal are the namespaces that references mean as they are, unless others are named.
func DefaultExternal() []string { return []string{metav1.NamespaceSystem} }

// DefaultPrefix is the prefix of a view, unless another one is named.
func DefaultPrefix(root string) string { return root + "-" }

// Of returns the names of a TenantView.
func Of(v *v1alpha3.TenantView, member func(realName string) (created time.Time, ok bool)) Config {
	c := Config{
		Root: v.Namespace, Relative: v.Spec.Names != v1alpha3.NamesReal, Prefix: v.Spec.Prefix, External: v.Spec.External, Member: member,
	}
	if c.Prefix == "" {
		c.Prefix = DefaultPrefix(v.Namespace)
	}
	if len(c.External) == 0 {
		c.External = DefaultExternal()
	}
	return c
}
