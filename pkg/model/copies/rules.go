package copies

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/exceptions"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/quota"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
)

// Rules determine, for all kinds, what copies leave out and which objects are never copied. The zero value leaves out
// nothing.
type Rules struct {
	// Labels and Annotations are the keys that copies leave out.
	Labels, Annotations sets.Set[string]
	// KeepTracking makes copies keep trackingMetadata.
	KeepTracking bool
	// Skipped select sources that are not copied.
	Skipped []labels.Selector
}

// NewRules returns what spec.rules of the configuration says of copies, or the errors in it, whose fields are below at.
func NewRules(spec *v1beta1.Rules, at *field.Path) (Rules, field.ErrorList) {
	var errs field.ErrorList
	for _, list := range []struct {
		field string
		keys  []string
	}{{"droppedLabels", spec.DroppedLabels}, {"droppedAnnotations", spec.DroppedAnnotations}} {
		for i, key := range list.keys {
			if problems := validation.IsQualifiedName(strings.ToLower(key)); len(problems) > 0 {
				errs = append(errs, field.Invalid(at.Child(list.field).Index(i), key, "is not a key: "+problems[0]))
			}
		}
	}
	rules := Rules{
		Labels: sets.New(spec.DroppedLabels...), Annotations: sets.New(spec.DroppedAnnotations...),
		KeepTracking: !ptr.Deref(spec.StripTrackingMetadata, true),
	}
	for i := range spec.SkippedObjects {
		selector, err := metav1.LabelSelectorAsSelector(&spec.SkippedObjects[i])
		switch at := at.Child("skippedObjects").Index(i); {
		case err != nil:
			errs = append(errs, field.Invalid(at, metav1.FormatLabelSelector(&spec.SkippedObjects[i]), err.Error()))
		case selector.Empty():
			errs = append(errs, field.Required(at, "selects all objects; name labels"))
		default:
			rules.Skipped = append(rules.Skipped, selector)
		}
	}
	return rules, errs
}

// Tracking is metadata by which a tool recognizes the objects that it has applied. With it, the tool could take a copy
// for an object that is missing from its own source, and delete it.
type Tracking struct {
	Tool string
	// Key is a key, or all keys of a domain: "example.com/*".
	Key                 string
	Labels, Annotations bool
}

// trackingMetadata is what copies leave out by default. It does not include app.kubernetes.io/instance, which Argo CD
// can be configured to track by, because that is a common label that selectors use.
var trackingMetadata = []Tracking{
	{Tool: "kubectl apply", Key: corev1.LastAppliedConfigAnnotation, Annotations: true},
	{Tool: "Argo CD", Key: "argocd.argoproj.io/instance", Labels: true, Annotations: true},
	{Tool: "Argo CD", Key: "argocd.argoproj.io/tracking-id", Annotations: true},
	{Tool: "Flux", Key: "kustomize.toolkit.fluxcd.io/*", Labels: true, Annotations: true},
	{Tool: "Flux", Key: "helm.toolkit.fluxcd.io/*", Labels: true, Annotations: true},
	{Tool: "Config Sync", Key: "configmanagement.gke.io/*", Labels: true, Annotations: true},
	{Tool: "Config Sync", Key: "configsync.gke.io/*", Labels: true, Annotations: true},
	{Tool: "Helm", Key: "meta.helm.sh/*", Annotations: true},
	{Tool: "Velero", Key: "velero.io/*", Labels: true},
}

func (t Tracking) matches(key string) bool {
	if domain, ok := strings.CutSuffix(t.Key, "*"); ok {
		return strings.HasPrefix(key, domain)
	}
	return key == t.Key
}

// dropsLabel reports whether copies leave out the label.
func (r *Rules) dropsLabel(key string) bool {
	return r.Labels.Has(key) || r.tracks(key, func(t Tracking) bool { return t.Labels })
}

// dropsAnnotation reports whether copies leave out the annotation.
func (r *Rules) dropsAnnotation(key string) bool {
	return r.Annotations.Has(key) || r.tracks(key, func(t Tracking) bool { return t.Annotations })
}

func (r *Rules) tracks(key string, where func(Tracking) bool) bool {
	if r.KeepTracking {
		return false
	}
	for _, t := range trackingMetadata {
		if where(t) && t.matches(key) {
			return true
		}
	}
	return false
}

// Excludes returns why a source of the kind is never copied, regardless of its exceptions, "" if it may be: it makes
// sense in its own namespace only, or other software creates such an object in every namespace that needs one. The type
// is that of a Secret, "" if it is not known. Source: docs/spec/hnc.md 3.10.
func (r *Rules) Excludes(source metav1.Object, kind schema.GroupKind, secretType string) string {
	reason := r.excludesFinalized(source, kind, secretType)
	if reason == "" && withheld(source) {
		reason = fmt.Sprintf("objects with finalizers are never copied (%s)", strings.Join(source.GetFinalizers(), ", "))
	}
	return reason
}

// withheld reports whether finalizers exclude a source.
func withheld(source metav1.Object) bool { return len(source.GetFinalizers()) > 0 && !applied(source) }

// excludesFinalized returns why a source would not be copied without its finalizers either, "" if it might be.
func (r *Rules) excludesFinalized(source metav1.Object, kind schema.GroupKind, secretType string) string {
	if !applied(source) {
		if reason := r.excludesMetadata(source); reason != "" {
			return reason
		}
	}
	if !names.Addressable(source.GetName()) {
		return fmt.Sprintf("objects with names of more than %d bytes are never copied", names.MaxLength)
	}
	_, holdsQuota := quota.ScopeOfObject(source.GetName())
	switch {
	case kind == schema.GroupKind{Kind: "Secret"} && slices.Contains(ExcludedSecrets, corev1.SecretType(secretType)):
		return fmt.Sprintf("Secrets of type %s are never copied", secretType)
	case kind == schema.GroupKind{Kind: "ConfigMap"} && slices.Contains(ExcludedConfigMaps, source.GetName()):
		return "every namespace gets a ConfigMap of that name, so it is never copied"
	case kind == schema.GroupKind{Kind: "ResourceQuota"} && holdsQuota:
		return "it holds the limits of hierarchical quotas, which the propagator computes for each namespace, so it is never copied"
	}
	return ""
}

// excludesMetadata returns why metadata that users may change excludes a source, "" if it does not. It must not withdraw
// what a repository of policy has applied.
func (r *Rules) excludesMetadata(source metav1.Object) string {
	for _, selector := range r.Skipped {
		if selector.Matches(labels.Set(source.GetLabels())) {
			return fmt.Sprintf("objects whose labels match %s are never copied", selector)
		}
	}
	if _, ok := source.GetAnnotations()[excludedAnnotation]; ok {
		return fmt.Sprintf("objects with the annotation %s are never copied", excludedAnnotation)
	}
	return ""
}

// applied reports whether an object belongs to a repository of policy. A policy protects the label.
func applied(o metav1.Object) bool {
	_, labeled := o.GetLabels()[hnc.LabelRepositorySync]
	return labeled
}

// excludedAnnotation is on objects that OpenShift creates in every project.
const excludedAnnotation = "openshift.io/description"

// ExcludedSecrets are the types of Secrets that are never propagated, ExcludedConfigMaps the names of such ConfigMaps.
var (
	ExcludedSecrets    = []corev1.SecretType{corev1.SecretTypeServiceAccountToken, "helm.sh/release.v1"}
	ExcludedConfigMaps = []string{"kube-root-ca.crt", "istio-ca-root-cert"}
)

// fitness determines whether a source is copied, and where to.
type fitness struct {
	// unfit reports that it is not copied at all.
	unfit bool
	// withheld reports that it is not copied because of its finalizers, and would be without them.
	withheld bool
	// annotations are those that exceptions were parsed from.
	annotations exceptions.Annotations
	exceptions  exceptions.Exceptions
	// problem is the error in the annotations, nil if there is none.
	problem error
	// overrides are parsed from them too; misread is the error in these.
	overrides exceptions.Overrides
	misread   error
	// applied reports that it belongs to a repository of policy.
	applied bool
	// role is the name of the Role that a RoleBinding refers to, "" if it refers to a ClusterRole.
	role string
}

// ofCopies is the fitness of copies, which are not sources.
var ofCopies = &fitness{}

// fitnessOfCopy returns the fitness of a copy that refers to a Role, "" for none.
func fitnessOfCopy(role string) *fitness {
	if role == "" {
		return ofCopies
	}
	return &fitness{role: role}
}

func (r *Rules) fitness(source metav1.Object, kind schema.GroupKind, secretType string) *fitness {
	f := &fitness{annotations: exceptions.Of(source.GetAnnotations())}
	f.exceptions, f.problem = exceptions.Parse(f.annotations)
	f.overrides, f.misread = exceptions.ParseOverrides(f.annotations)
	f.applied = applied(source)
	f.unfit = f.problem != nil || r.excludesFinalized(source, kind, secretType) != ""
	f.withheld = !f.unfit && withheld(source)
	f.unfit = f.unfit || f.withheld
	return f
}
