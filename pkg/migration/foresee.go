package migration

import (
	"context"
	"regexp"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/validation"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/configrules"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/forest"
)

// foresee returns an error about what an import would reject, and changes what is imported if the user leaves that out.
// The API server validates each object, without storing it. What depends on objects that are not stored yet is
// evaluated here, by the server's own rules: the depth of trees, objects that copies would overwrite, and labels and
// annotations, for which other rules will apply.
func (m *Migration) foresee(ctx context.Context, all *imports) error {
	rejected := append(tooDeep(all), invalid(all)...)
	overwrites, err := m.overwrites(ctx, all)
	if err != nil {
		return err
	}
	i := &importer{clients: m.clients, dryRun: []string{metav1.DryRunAll}}
	now, err := m.rulesInForce(ctx)
	if err != nil {
		return err
	}
	if err := i.run(ctx, all.by(now)); err != nil {
		return err
	}
	if i.unanswered.Load() {
		if err := m.printf("HNC's webhooks do not answer in time, so that hns-apiserver has not validated everything; it does so in the step import.\n"); err != nil {
			return err
		}
	}
	return m.rejections(slices.Concat(rejected, overwrites, i.rejected))
}

// rulesInForce returns the rules that hns-apiserver applies now.
func (c *clients) rulesInForce(ctx context.Context) (*configrules.Rules, error) {
	var spec *v1beta1.Rules
	current, err := c.hierarchy.HncV1beta1().HNCConfigurations().Get(ctx, hnc.ConfigurationName, metav1.GetOptions{})
	if err := gone(err); err != nil {
		return nil, err
	}
	if err == nil {
		spec = current.Spec.Rules
	}
	rules, errs := configrules.Of(spec)
	return rules, errs.ToAggregate()
}

// by returns what can be validated by other rules than those of the import: no labels and annotations, and nothing in
// namespaces that they exclude.
func (all *imports) by(rules *configrules.Rules) *imports {
	if rules.Equal(all.rules) {
		return all
	}
	excluded := func(name string) bool { return rules.Managed.Excluded(name, all.namespaces[name].Labels) != "" }
	validated := &imports{resources: all.resources}
	hierarchies := func(list []*v1beta1.Hierarchy) (kept []*v1beta1.Hierarchy) {
		for _, h := range list {
			if excluded(h.Namespace) || h.Spec.Parent != "" && excluded(h.Spec.Parent) {
				continue
			}
			h = h.DeepCopy()
			h.Spec.Labels, h.Spec.Annotations = nil, nil
			kept = append(kept, h)
		}
		return kept
	}
	validated.hierarchies, validated.orphans = hierarchies(all.hierarchies), hierarchies(all.orphans)
	for _, s := range all.subnamespaces {
		if !excluded(s.Namespace) && !excluded(s.Name) {
			s = s.DeepCopy()
			s.Spec.Labels, s.Spec.Annotations = nil, nil
			validated.subnamespaces = append(validated.subnamespaces, s)
		}
	}
	for _, q := range all.quotas {
		if !excluded(q.Namespace) {
			validated.quotas = append(validated.quotas, q)
		}
	}
	return validated
}

// invalid returns the hierarchies and Subnamespaces whose fields are invalid by the rules of the import.
func invalid(all *imports) []rejection {
	var found []rejection
	for _, h := range slices.Concat(all.hierarchies, all.orphans) {
		hub := &hnc.Hierarchy{}
		err := v1beta1.Convert_v1beta1_Hierarchy_To_hnc_Hierarchy(h.DeepCopy(), hub, nil)
		if err == nil {
			hub.Name = hnc.Singleton
			err = validation.ValidateHierarchy(hub, all.rules.Managed).ToAggregate()
		}
		if err != nil {
			found = append(found, rejection{hierarchyOf(h.Namespace), err.Error(), h.Spec.Parent != ""})
		}
	}
	for _, s := range all.subnamespaces {
		hub := &hnc.Subnamespace{}
		err := v1beta1.Convert_v1beta1_Subnamespace_To_hnc_Subnamespace(s.DeepCopy(), hub, nil)
		if err == nil {
			err = validation.ValidateSubnamespace(hub, all.rules.Managed).ToAggregate()
		}
		if err != nil {
			found = append(found, rejection{keyOf(anchors, s.Namespace, s.Name), err.Error(), false})
		}
	}
	return found
}

// tooDeep returns the hierarchies with more ancestors than a tree may have levels, which HNC does not limit.
func tooDeep(all *imports) []rejection {
	var found []rejection
	for _, h := range all.hierarchies {
		if err := forest.CheckMove(h.Namespace, 0, all.above(h.Namespace)); err != nil {
			found = append(found, rejection{hierarchyOf(h.Namespace), "spec.parent: " + err.Error(), true})
		}
	}
	return found
}

// above returns the ancestors of a namespace that exist, its parent first.
func (all *imports) above(name string) []string {
	var ancestors []string
	for at := all.parents[name]; at != ""; at = all.parents[at] {
		if _, exists := all.namespaces[at]; !exists {
			break
		}
		ancestors = append(ancestors, at)
	}
	return ancestors
}

// byHNC matches errors of HNC's webhooks, and of calls of them.
var byHNC = regexp.MustCompile(`(?:^|: )(?:admission webhook|failed calling webhook) "[^"]*\.` + regexp.QuoteMeta(hnc.GroupName) + `"`)

// passesDryRun reports that an error of a dry run does not mean that an import would be rejected. HNC's webhooks are
// called, because the API server knows the two names of each resource as equivalent, when it has found nothing wrong
// itself.
func (i *importer) passesDryRun(err error) bool {
	if i.dryRun == nil || err == nil {
		return false
	}
	text := err.Error()
	found := byHNC.MatchString(text)
	if found && timedOut.MatchString(text) {
		i.unanswered.Store(true)
	}
	return found || apierrors.IsBadRequest(err) && dryRunUnsupported.MatchString(text)
}

// timedOut matches errors about webhooks that have not answered in time.
var timedOut = regexp.MustCompile(`deadline exceeded|Timeout exceeded|i/o timeout`)

// dryRunUnsupported matches errors about the webhooks of others that cannot be called for a dry run.
var dryRunUnsupported = regexp.MustCompile(`^admission webhook ".*" does not support dry run$`)
