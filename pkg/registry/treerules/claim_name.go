package treerules

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/managedkeys"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/internalerror"
)

// validateName applies the cluster's naming rule to a new sub-namespace, which never gets the name of the namespace that
// has the accounts of RepositorySyncs. The Subnamespace of a namespace that is a
// sub-namespace of parent already may be created again under any rule, because it takes no free name. The rule applies
// to the propagator as well, because it may have changed since a user required the child.
func (c *Claims) validateName(ctx context.Context, reject rejection, field, name, parent string) error {
	why, err := c.violated(ctx, name, parent)
	if err != nil || why == "" {
		return err
	}
	namespace, err := c.index.LiveNamespace(ctx, name)
	if err != nil && !apierrors.IsNotFound(err) {
		return internalerror.From(err)
	}
	if err == nil && managedkeys.SubnamespaceOf(namespace.Annotations) == parent {
		return nil
	}
	return reject.forbidden("%s: the name of a new sub-namespace %s; "+
		"choose another name, or ask an administrator of the cluster to create the namespace", field, why)
}

// violated returns how the name of a new sub-namespace violates a rule, "" if it does not.
func (c *Claims) violated(ctx context.Context, name, parent string) (string, error) {
	if name == hnc.RepositoriesNamespace {
		return fmt.Sprintf("must not be %q, which has the accounts of RepositorySyncs", name), nil
	}
	if c.config.SubnamespaceNames == nil {
		return "", nil
	}
	rule, err := c.config.SubnamespaceNames(ctx)
	if err != nil {
		return "", err
	}
	why, err := violation(rule, name, parent)
	if err != nil {
		return "", apierrors.NewInternalError(err)
	}
	if why != "" {
		why += fmt.Sprintf(" of hncconfigurations.%s %q", hnc.GroupName, hnc.ConfigurationName)
	}
	return why, nil
}

// violation returns how the name of a new sub-namespace violates the rule, "" if it does not.
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
