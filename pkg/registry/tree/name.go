package tree

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// checkName applies the cluster's naming rule to a new sub-namespace. The rule is about new namespaces: the Subnamespace of a namespace that
// already is a sub-namespace of parent can be created again under any rule, which takes no free name. The propagator is bound as well, because
// the rule may have changed since somebody required the child.
func (v *view) checkName(ctx context.Context, refused refusals, field, name, parent string) error {
	if v.tree.SubnamespaceNames == nil {
		return nil
	}
	rule, err := v.tree.SubnamespaceNames(ctx)
	if err != nil {
		return err
	}
	why, err := violation(rule, name, parent)
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	if why == "" {
		return nil
	}
	namespace, err := v.tree.LiveNamespace(ctx, name)
	if err != nil && !apierrors.IsNotFound(err) {
		return apierrors.NewInternalError(err)
	}
	if err == nil && SubnamespaceOf(namespace) == parent {
		return nil
	}
	return refused.forbidden("%s: the name of a new sub-namespace %s of hncconfigurations.%s %q; "+
		"choose another name, or ask an administrator of the cluster to create the namespace", field, why, hnc.GroupName, hnc.ConfigurationName)
}

// violation says how the name of a new sub-namespace breaks the rule, "" if it does not.
func violation(rule *hnc.SubnamespaceNames, name, parent string) (string, error) {
	if rule == nil {
		return "", nil
	}
	if rule.Prefix == hnc.ParentPrefix && !strings.HasPrefix(name, parent+"-") {
		return fmt.Sprintf("must start with %q, as required by spec.subnamespaceNames.prefix", parent+"-"), nil
	}
	if rule.Pattern == "" {
		return "", nil
	}
	pattern, err := regexp.Compile("^(?:" + rule.Pattern + ")$")
	if err != nil {
		return "", fmt.Errorf("spec.subnamespaceNames.pattern of hncconfigurations.%s %q: %w", hnc.GroupName, hnc.ConfigurationName, err)
	}
	if !pattern.MatchString(name) {
		return fmt.Sprintf("must match %q, as required by spec.subnamespaceNames.pattern", rule.Pattern), nil
	}
	return "", nil
}
