// Package quota contains what both servers and the plugin know about hierarchical quotas: the names of the
// ResourceQuotas that enforce them, and the limits of several quotas. It is pure.
package quota

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// Scope identifies the scopes and the scope selector of a quota. Quotas of equal scope count the same objects. The
// scope of quotas that count all objects is empty.
type Scope string

// ScopeOf returns the scope of a quota. The order of scopes, expressions and values makes no difference.
func ScopeOf(spec *hnc.HierarchicalResourceQuotaSpec) Scope {
	if len(spec.Scopes) == 0 && (spec.ScopeSelector == nil || len(spec.ScopeSelector.MatchExpressions) == 0) {
		return ""
	}
	terms := make([]string, 0, len(spec.Scopes))
	for _, scope := range spec.Scopes {
		terms = append(terms, term(hnc.QuotaScopeRequirement{ScopeName: scope, Operator: corev1.ScopeSelectorOpExists}))
	}
	if spec.ScopeSelector != nil {
		for _, requirement := range spec.ScopeSelector.MatchExpressions {
			terms = append(terms, term(requirement))
		}
	}
	slices.Sort(terms)
	sum := sha256.Sum256([]byte(strings.Join(slices.Compact(terms), "\n")))
	return Scope(hex.EncodeToString(sum[:8]))
}

func term(r hnc.QuotaScopeRequirement) string {
	values := slices.Clone(r.Values)
	slices.Sort(values)
	encoded, err := json.Marshal([]any{r.ScopeName, r.Operator, values})
	if err != nil {
		panic(err) // strings
	}
	return string(encoded)
}

// ObjectName returns the name of the ResourceQuota that holds the limits of a scope in a namespace.
func (s Scope) ObjectName() string {
	if s == "" {
		return hnc.ResourceQuotaName
	}
	return hnc.ResourceQuotaName + "." + string(s)
}

// ScopeOfObject returns the scope whose limits the ResourceQuota of a name holds, and whether it holds any.
func ScopeOfObject(name string) (Scope, bool) {
	rest, ok := strings.CutPrefix(name, hnc.ResourceQuotaName)
	if !ok || rest == "" {
		return "", ok
	}
	scope, ok := strings.CutPrefix(rest, ".")
	return Scope(scope), ok && scope != ""
}
