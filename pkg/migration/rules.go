package migration

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/configrules"
)

// rulesDelay is how long the replicas of hns-apiserver may take to apply other rules. What a later one rejects is
// imported when the command is repeated.
const rulesDelay = time.Second

// describeRules prints the rules that HNC's flags define.
func (m *Migration) describeRules(ctx context.Context) error {
	rules, err := m.rulesOfHNC(ctx)
	if err != nil || rules == nil {
		return err
	}
	text, err := json.Marshal(rules)
	if err != nil {
		return err
	}
	return m.printf("HNC's flags become spec.rules of the configuration, unless it has rules: %s\n", text)
}

// imports returns what is imported of an export, by the rules of the configuration, or those that HNC's flags define.
func (c *clients) imports(ctx context.Context, e *export) (*imports, error) {
	spec, err := c.rulesOfHNC(ctx)
	if err != nil {
		return nil, err
	}
	current, err := c.hierarchy.HncV1beta1().HNCConfigurations().Get(ctx, hnc.ConfigurationName, metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return nil, err
	}
	if err == nil && !configrules.Same(current.Spec.Rules, nil) {
		spec = current.Spec.Rules
	}
	rules, errs := configrules.Of(spec)
	if len(errs) > 0 {
		return nil, fmt.Errorf("the rules of the configuration, from the flags of HNC: %w", errs.ToAggregate())
	}
	all, err := translate(e, rules.Managed)
	if err != nil {
		return nil, err
	}
	all.rules = rules
	return all, nil
}

// adoptRules gives the configuration the rules that HNC's flags define, unless it has rules already.
func (c *clients) adoptRules(ctx context.Context) error {
	rules, err := c.rulesOfHNC(ctx)
	if err != nil || rules == nil {
		return err
	}
	current, err := c.hierarchy.HncV1beta1().HNCConfigurations().Get(ctx, hnc.ConfigurationName, metav1.GetOptions{})
	if err == nil && !configrules.Same(current.Spec.Rules, nil) {
		return nil
	}
	if err := c.setRules(ctx, rules); err != nil {
		return fmt.Errorf("spec.rules of the configuration, from the flags of HNC: %w", err)
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(rulesDelay):
		return nil
	}
}

// setRules sets the rules of the configuration, which it creates if hns-propagator has not done so.
func (c *clients) setRules(ctx context.Context, rules *v1beta1.Rules) error {
	client := c.hierarchy.HncV1beta1().HNCConfigurations()
	current, err := client.Get(ctx, hnc.ConfigurationName, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		current = &v1beta1.HNCConfiguration{ObjectMeta: metav1.ObjectMeta{Name: hnc.ConfigurationName}, Spec: v1beta1.HNCConfigurationSpec{Rules: rules}}
		_, err = client.Create(ctx, current, metav1.CreateOptions{FieldManager: fieldManager})
		return err
	}
	if err != nil {
		return err
	}
	current.Spec.Rules = rules
	_, err = client.Update(ctx, current, metav1.UpdateOptions{FieldManager: fieldManager})
	return err
}

// rulesOfHNC returns the rules that the flags of HNC's Deployments define, and the user for this migration; nil if they
// define none.
func (c *clients) rulesOfHNC(ctx context.Context) (*v1beta1.Rules, error) {
	var args []string
	for _, name := range deployments {
		deployment, err := c.kube.AppsV1().Deployments(hnc.HNCNamespace).Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, container := range deployment.Spec.Template.Spec.Containers {
			args = append(args, container.Args...)
		}
	}
	rules, err := parseFlags(args)
	if err != nil {
		return nil, fmt.Errorf("arguments of HNC's Deployments: %w", err)
	}
	if c.keepTracking {
		if rules == nil {
			rules = &v1beta1.Rules{}
		}
		rules.StripTrackingMetadata = ptr.To(false)
	}
	return rules, nil
}

// parseFlags returns the rules that flags of HNC's manager define, nil if they define none. Source: docs/spec/hnc.md 5.
func parseFlags(args []string) (*v1beta1.Rules, error) {
	rules := &v1beta1.Rules{}
	var skipped []string
	set := pflag.NewFlagSet("HNC", pflag.ContinueOnError)
	set.ParseErrorsAllowlist.UnknownFlags = true
	set.StringSliceVar(&rules.ExcludedNamespaces, "excluded-namespace", nil, "")
	set.StringVar(&rules.IncludedNamespaceRegex, "included-namespace-regex", "", "")
	set.StringArrayVar(&rules.ManagedNamespaceLabels, "managed-namespace-label", nil, "")
	set.StringArrayVar(&rules.ManagedNamespaceAnnotations, "managed-namespace-annotation", nil, "")
	set.StringArrayVar(&rules.DroppedLabels, "unpropagated-label", nil, "")
	set.StringArrayVar(&rules.DroppedAnnotations, "unpropagated-annotation", nil, "")
	set.StringArrayVar(&skipped, "nopropagation-label", nil, "")
	if err := set.Parse(args); err != nil {
		return nil, err
	}
	// The Deployments of the variant ha have the same arguments.
	for _, list := range []*[]string{&rules.ExcludedNamespaces, &rules.ManagedNamespaceLabels, &rules.ManagedNamespaceAnnotations, &rules.DroppedLabels, &rules.DroppedAnnotations, &skipped} {
		*list = slices.Compact(slices.Sorted(slices.Values(*list)))
	}
	for _, label := range skipped {
		key, value, ok := strings.Cut(label, "=")
		if !ok {
			return nil, fmt.Errorf("--nopropagation-label=%s: it is not of the form key=value", label)
		}
		rules.SkippedObjects = append(rules.SkippedObjects, metav1.LabelSelector{MatchLabels: map[string]string{key: value}})
	}
	if len(rules.ExcludedNamespaces) > 0 {
		for _, servers := range []string{hnc.HNCNamespace, hnc.SystemNamespace} {
			if !slices.Contains(rules.ExcludedNamespaces, servers) {
				rules.ExcludedNamespaces = append(rules.ExcludedNamespaces, servers)
			}
		}
	}
	if configrules.Same(rules, nil) {
		return nil, nil
	}
	return rules, nil
}
