package gateway

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/client-go/transport"
)

// origin are the extra values by which Kubernetes says where the token of a ServiceAccount comes from. They restrict
// nothing, and are not part of constrained impersonation.
var origin = sets.New(user.CredentialIDKey, serviceaccount.PodNameKey, serviceaccount.PodUIDKey, serviceaccount.NodeNameKey, serviceaccount.NodeUIDKey)

// impersonation returns how to act as a user by constrained impersonation. An identity that it cannot carry completely
// is an error: what is left out could be what restricts its user. Harmless are the further extra keys that are left
// out.
func impersonation(u user.Info, harmless sets.Set[string]) (*transport.ImpersonationConfig, error) {
	name := u.GetName()
	switch {
	case name == "" || name == user.Anonymous:
		return nil, fmt.Errorf("views are not for anonymous users; use the credentials of a user")
	case slices.Contains(u.GetGroups(), user.SystemPrivilegedGroup):
		return nil, fmt.Errorf("views are not for members of the group %s, whom nobody may impersonate; act as another user, as with --as, or use the cluster itself", user.SystemPrivilegedGroup)
	case strings.HasPrefix(name, "system:node:"):
		return nil, fmt.Errorf("views are not for nodes")
	}
	if namespace, account, err := serviceaccount.SplitUsername(name); err == nil {
		return accountImpersonation(u, namespace, account, harmless)
	}
	if !carried(append([]string{name, u.GetUID()}, u.GetGroups()...)...) {
		return nil, fmt.Errorf("the name, the UID or a group of your identity begins or ends with a space, or has a control character, which a view cannot keep; use other credentials")
	}
	config := &transport.ImpersonationConfig{UserName: name, UID: u.GetUID(), Groups: u.GetGroups(), Extra: map[string][]string{}}
	for _, key := range slices.Sorted(maps.Keys(u.GetExtra())) {
		if harmless.Has(key) {
			continue
		}
		values := u.GetExtra()[key]
		if key != strings.ToLower(key) || len(validation.IsDomainPrefixedPath(field.NewPath("key"), key)) > 0 || len(values) == 0 || slices.Contains(values, "") || !carried(values...) {
			return nil, errExtra(key)
		}
		config.Extra[key] = values
	}
	return config, nil
}

// carried reports whether headers carry texts as they are. HTTP/1.1 trims them, and has spaces in place of line breaks.
func carried(texts ...string) bool {
	return !slices.ContainsFunc(texts, func(text string) bool {
		return strings.TrimSpace(text) != text || !httpguts.ValidHeaderFieldValue(text)
	})
}

// accountImpersonation does so for a ServiceAccount, which is impersonated by its name only.
func accountImpersonation(u user.Info, namespace, account string, harmless sets.Set[string]) (*transport.ImpersonationConfig, error) {
	implied := sets.New(serviceaccount.MakeGroupNames(namespace)...).Insert(user.AllAuthenticated)
	for _, group := range u.GetGroups() {
		if !implied.Has(group) {
			return nil, fmt.Errorf("ServiceAccount %s/%s: its group %q is not one that Kubernetes gives to ServiceAccounts, and a view cannot keep it", namespace, account, group)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(u.GetExtra())) {
		if !origin.Has(key) && !harmless.Has(key) {
			return nil, errExtra(key)
		}
	}
	return &transport.ImpersonationConfig{UserName: u.GetName()}, nil
}

func errExtra(key string) error {
	return fmt.Errorf("the extra value %q of your identity cannot be kept in a view, and could be what restricts you; "+
		"use other credentials, or ask an administrator to list it in --harmless-extra-keys of hns-gateway", key)
}
