package migration

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// sharedFlags are flags of HNC's manager that our servers have, too, and that change what is propagated. Their values can be repeated.
var sharedFlags = []string{
	"--excluded-namespace", "--included-namespace-regex", "--managed-namespace-label", "--managed-namespace-annotation",
	"--nopropagation-label", "--unpropagated-label", "--unpropagated-annotation",
}

// describeFlags prints the flags of HNC that hnc-propagator is installed without.
func (m *Migration) describeFlags(ctx context.Context) error {
	manager, err := m.kube.AppsV1().Deployments(hnc.SystemNamespace).Get(ctx, deployments[0], metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	var theirs []string
	for _, container := range manager.Spec.Template.Spec.Containers {
		theirs = append(theirs, container.Args...)
	}
	own, err := m.propagatorArgs(ctx)
	if err != nil {
		return err
	}
	return m.printList("HNC runs with flags that hnc-propagator does not have. Unless spec.rules of the configuration has their values, give them to both servers first:", missingFlags(theirs, own))
}

// missingFlags returns the shared flags in the arguments of HNC that ours lack, except for those that are our defaults.
func missingFlags(theirs, own []string) []string {
	var missing []string
	for _, arg := range theirs {
		name, value, _ := strings.Cut(arg, "=")
		switch {
		case !slices.Contains(sharedFlags, name) || slices.Contains(own, arg):
		case name == "--excluded-namespace" && slices.Contains(hnc.ExcludedNamespaces, value):
		case name == "--included-namespace-regex" && (value == "" || value == ".*"):
		case name == "--nopropagation-label" && value == "cattle.io/creator=norman":
		case name == "--excluded-namespace" && slices.ContainsFunc(own, func(o string) bool {
			list, ok := strings.CutPrefix(o, name+"=")
			return ok && slices.Contains(strings.Split(list, ","), value)
		}):
		default:
			missing = append(missing, fmt.Sprintf("%s=%s", name, value))
		}
	}
	return missing
}
