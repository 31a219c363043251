package viewdefinition

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	hncvalidation "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/validation"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/mapping"
)

// The limits of a definition. Each version is an API of kube-apiserver, which compiles each rule.
const (
	maxSpec     = 1 << 20 // bytes
	maxDepth    = 256     // levels of JSON
	maxVersions = 10
	maxRules    = 1000
)

// placeholder stands for the UID of the root, whose beginning is a part of the group in the cluster.
const placeholder = "00000"

// validate validates a definition as kube-apiserver does with the names that it has in the cluster, so that it does not
// refuse what is stored; old is nil for a creation.
func validate(ctx context.Context, v, old *hnc.ViewDefinition) field.ErrorList {
	spec, errs := decode(v)
	if len(errs) > 0 {
		return errs
	}
	if errs := validateSpec(v, spec); len(errs) > 0 {
		return errs
	}
	crd, errs := inCluster(v, spec)
	if len(errs) > 0 {
		return errs
	}
	if old == nil {
		return shown(v, validation.ValidateCustomResourceDefinition(ctx, crd))
	}
	oldSpec, errs := decode(old)
	if len(errs) > 0 {
		return errs
	}
	oldCRD, errs := inCluster(old, oldSpec)
	if len(errs) > 0 {
		return errs
	}
	return shown(v, validation.ValidateCustomResourceDefinitionUpdate(ctx, crd, oldCRD))
}

// decode returns the spec of a definition. Fields that a CustomResourceDefinition does not have would be lost.
func decode(v *hnc.ViewDefinition) (*apiextensionsv1.CustomResourceDefinitionSpec, field.ErrorList) {
	at := field.NewPath("spec")
	if len(v.Spec.Raw) > maxSpec {
		return nil, field.ErrorList{field.TooLong(at, "", maxSpec)}
	}
	if err := mapping.CheckJSON(v.Spec.Raw, maxDepth); err != nil {
		return nil, field.ErrorList{field.Invalid(at, field.OmitValueType{}, err.Error())}
	}
	var spec apiextensionsv1.CustomResourceDefinitionSpec
	unknown, err := kjson.UnmarshalStrict(v.Spec.Raw, &spec)
	if err != nil {
		return nil, field.ErrorList{field.Invalid(at, field.OmitValueType{}, err.Error())}
	}
	var errs field.ErrorList
	for _, err := range unknown {
		errs = append(errs, field.Invalid(at, field.OmitValueType{}, err.Error()))
	}
	return &spec, errs
}

// reservedGroups are not for tenants, and neither are their subdomains.
var reservedGroups = []string{"k8s.io", "kubernetes.io", hnc.GroupName}

// validateSpec validates what a view restricts.
func validateSpec(v *hnc.ViewDefinition, spec *apiextensionsv1.CustomResourceDefinitionSpec) field.ErrorList {
	var errs field.ErrorList
	at := field.NewPath("spec")
	if name := spec.Names.Plural + "." + spec.Group; v.Name != name {
		errs = append(errs, field.Invalid(field.NewPath("metadata", "name"), v.Name, fmt.Sprintf("must be spec.names.plural and spec.group, %q", name)))
	}
	for _, reserved := range reservedGroups {
		if spec.Group == reserved || strings.HasSuffix(spec.Group, "."+reserved) {
			errs = append(errs, field.Invalid(at.Child("group"), spec.Group, fmt.Sprintf("%s and its subdomains are reserved; choose a domain of your own", reserved)))
		}
	}
	switch {
	case !strings.Contains(spec.Group, "."):
		errs = append(errs, field.Invalid(at.Child("group"), spec.Group, "must be a domain with a dot"))
	case strings.HasSuffix(spec.Group, mapping.ExternalSuffix):
		errs = append(errs, field.Invalid(at.Child("group"), spec.Group, fmt.Sprintf("must not end with %q, which marks what is not in the view", mapping.ExternalSuffix)))
	}
	if spec.Scope != apiextensionsv1.NamespaceScoped {
		errs = append(errs, field.NotSupported(at.Child("scope"), spec.Scope, []apiextensionsv1.ResourceScope{apiextensionsv1.NamespaceScoped}))
	}
	if c := spec.Conversion; c != nil && (c.Strategy != "" && c.Strategy != apiextensionsv1.NoneConverter || c.Webhook != nil) {
		errs = append(errs, field.NotSupported(at.Child("conversion", "strategy"), c.Strategy, []apiextensionsv1.ConversionStrategyType{apiextensionsv1.NoneConverter}))
	}
	errs = append(errs, validateNames(&spec.Names, at.Child("names"))...)
	if len(spec.Versions) > maxVersions {
		return append(errs, field.TooMany(at.Child("versions"), len(spec.Versions), maxVersions))
	}
	var i inspection
	group, versions := realGroup(v, spec.Group), at.Child("versions")
	for j := range spec.Versions {
		version, at := &spec.Versions[j], versions.Index(j)
		errs = append(errs, validateColumns(version, at.Child("additionalPrinterColumns"))...)
		i.visitVersion(version, at)
		// The name of the APIService.
		if name := version.Name + "." + group; len(name) > utilvalidation.DNS1123SubdomainMaxLength {
			errs = append(errs, field.Invalid(at.Child("name"), version.Name,
				fmt.Sprintf("%q is too long: together with the suffix of the view, must have at most %d characters", version.Name+"."+spec.Group, utilvalidation.DNS1123SubdomainMaxLength)))
		}
	}
	if i.rules > maxRules {
		errs = append(errs, field.TooMany(versions, i.rules, maxRules))
	}
	errs = append(errs, i.errs...)
	if name := spec.Names.Plural + "." + group; len(name) > utilvalidation.DNS1123SubdomainMaxLength {
		errs = append(errs, field.Invalid(field.NewPath("metadata", "name"), v.Name,
			fmt.Sprintf("together with the suffix of the view, must have at most %d characters; this has %d", utilvalidation.DNS1123SubdomainMaxLength, len(name))))
	}
	return hncvalidation.Bound(errs)
}

func realGroup(v *hnc.ViewDefinition, group string) string {
	return group + "." + suffix(v)
}

func suffix(v *hnc.ViewDefinition) string { return hnc.ViewGroupSuffix(v.Namespace, placeholder) }

// inCluster returns a CustomResourceDefinition of the cluster with a spec, and the status that matters for what may be
// changed.
func inCluster(v *hnc.ViewDefinition, spec *apiextensionsv1.CustomResourceDefinitionSpec) (*apiextensions.CustomResourceDefinition, field.ErrorList) {
	crd := &apiextensionsv1.CustomResourceDefinition{Spec: *spec}
	crd.Spec.Group = realGroup(v, spec.Group)
	crd.Spec.Names.ShortNames = hnc.ViewShortNames(spec.Names.ShortNames, suffix(v))
	crd.Spec.Names.Categories = hnc.ViewShortNames(spec.Names.Categories, suffix(v))
	crd.ObjectMeta = metav1.ObjectMeta{Name: spec.Names.Plural + "." + crd.Spec.Group, ResourceVersion: "1"}
	crd.Status.StoredVersions = slices.Clone(v.Status.StoredVersions)
	for _, version := range spec.Versions {
		if version.Storage && !slices.Contains(crd.Status.StoredVersions, version.Name) {
			crd.Status.StoredVersions = append(crd.Status.StoredVersions, version.Name)
		}
	}
	if meta.IsStatusConditionTrue(v.Status.Conditions, string(apiextensionsv1.Established)) {
		crd.Status.Conditions = []apiextensionsv1.CustomResourceDefinitionCondition{{Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionTrue}}
	}
	apiextensionsv1.SetObjectDefaults_CustomResourceDefinition(crd)
	var hub apiextensions.CustomResourceDefinition
	if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(crd, &hub, nil); err != nil {
		return nil, field.ErrorList{field.Invalid(field.NewPath("spec"), field.OmitValueType{}, err.Error())}
	}
	return &hub, nil
}

// shown returns errors with the names of the view.
func shown(v *hnc.ViewDefinition, errs field.ErrorList) field.ErrorList {
	names := strings.NewReplacer("."+suffix(v), "", "-"+placeholder, "")
	for _, err := range errs {
		err.Detail = names.Replace(err.Detail)
		if value, ok := err.BadValue.(string); ok {
			err.BadValue = names.Replace(value)
		}
	}
	return hncvalidation.Bound(errs)
}
