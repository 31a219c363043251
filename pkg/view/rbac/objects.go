package rbac

import (
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validate/content"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/mapping"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/typed"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/yamlbody"
)

// object is an object in JSON. What is not known of it is kept.
type object = map[string]any

// conversion converts the objects of one resource.
type conversion struct {
	resource
	names  Names
	root   string
	scopes Scopes
	// creates is set for requests that may create an object.
	creates bool
	// reserve counts bytes that are kept in memory until they are released.
	reserve func(bytes int64) (release func(), err error)
}

func child(o object, name string) object {
	c, _ := o[name].(object)
	return c
}

func text(o object, name string) string {
	s, _ := o[name].(string)
	return s
}

// in converts an object that a client sends into that of the cluster. It returns warnings about what has no effect.
func (c *conversion) in(o object) (warnings []string, err error) {
	if kind := text(o, "kind"); kind != "" && kind != c.shown {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("the body is of kind %s, and must be a %s", kind, c.shown))
	}
	metadata, ok := o["metadata"].(object)
	if !ok {
		return nil, apierrors.NewBadRequest("metadata: required; set the name")
	}
	errs := c.validateRef(child(o, "roleRef"))
	if !c.cluster {
		for _, name := range []string{"name", "generateName"} {
			if value := text(metadata, name); c.creates && strings.HasPrefix(value, c.names.prefix) {
				errs = append(errs, field.Invalid(field.NewPath("metadata", name), value,
					fmt.Sprintf("names that begin with %q are those of cluster-scoped objects of the view; create a Cluster%s", c.names.prefix, c.shown)))
			}
		}
		if len(errs) > 0 {
			return nil, c.invalid(text(metadata, "name"), errs...)
		}
		c.roleIn(o)
		return nil, nil
	}
	if errs = append(errs, c.validate(o, metadata)...); len(errs) > 0 {
		return nil, c.invalid(text(metadata, "name"), errs...)
	}
	o["kind"] = c.stored
	metadata["namespace"] = c.root // Like kube-apiserver, it ignores one that is set.
	c.generateName(metadata)
	if name := text(metadata, "name"); name != "" {
		metadata["name"] = c.names.Stored(name)
	}
	c.owners(metadata, func(kind, name string) (string, string, bool) {
		stored, ok := strings.CutPrefix(kind, "Cluster")
		return stored, c.names.Stored(name), ok
	})
	if c.bindings {
		c.roleIn(o)
		return nil, nil
	}
	return c.rulesIn(o, metadata)
}

// generateName sets a name as kube-apiserver does, which would cut the prefix of the view.
func (c *conversion) generateName(metadata object) {
	base := text(metadata, "generateName")
	if base != "" && text(metadata, "name") == "" {
		metadata["name"] = base[:min(len(base), maxBase)] + rand.String(suffix)
	}
	delete(metadata, "generateName")
}

// Generated names have a part that is given, and a random one.
const maxBase, suffix = validation.DNS1123LabelMaxLength - suffix, 5

// validate returns what an object of a view cannot have.
func (c *conversion) validate(o, metadata object) (errs field.ErrorList) {
	if c.bindings {
		if kind := text(child(o, "roleRef"), "kind"); c.creates && kind != "" && kind != "ClusterRole" {
			errs = append(errs, field.NotSupported(field.NewPath("roleRef", "kind"), kind, []string{"ClusterRole"}))
		}
		return errs
	}
	if name := text(metadata, "name"); reserved(name) {
		errs = append(errs, field.Invalid(field.NewPath("metadata", "name"), name, "means a ClusterRole of the cluster, which is not changed in a view; choose another name"))
	}
	if o["aggregationRule"] != nil {
		errs = append(errs, field.Forbidden(field.NewPath("aggregationRule"), "ClusterRoles of a view are not aggregated; list the rules"))
	}
	return errs
}

// validateRef returns what is wrong with the name in a reference, which becomes a part of paths.
func (c *conversion) validateRef(ref object) (errs field.ErrorList) {
	if name := text(ref, "name"); name != "" {
		for _, problem := range content.IsPathSegmentName(name) {
			errs = append(errs, field.Invalid(field.NewPath("roleRef", "name"), name, problem))
		}
	}
	return errs
}

func (c *conversion) invalid(name string, errs ...*field.Error) error {
	return apierrors.NewInvalid(schema.GroupKind{Group: rbacv1.GroupName, Kind: c.shown}, name, errs)
}

// roleIn converts the reference of a binding.
func (c *conversion) roleIn(o object) {
	if ref := child(o, "roleRef"); ref != nil {
		setRole(ref, c.names.roleIn)
	}
}

func setRole(ref object, convert func(kind, name string) (string, string)) {
	kind, name := text(ref, "kind"), text(ref, "name")
	if kind != "" && name != "" {
		ref["kind"], ref["name"] = convert(kind, name)
	}
}

// rulesIn leaves out the rules that a Role cannot have, and remembers them.
func (c *conversion) rulesIn(o, metadata object) (warnings []string, err error) {
	annotations := child(metadata, "annotations")
	delete(annotations, hnc.AnnotationViewRules)
	var aggregated []string
	for key := range child(metadata, "labels") {
		if strings.HasPrefix(key, aggregatePrefix) {
			aggregated = append(aggregated, key)
		}
	}
	if len(aggregated) > 0 {
		warnings = append(warnings, "metadata.labels: have no effect in a view, bind the ClusterRole: "+shortened(aggregated))
	}
	if o["rules"] == nil {
		return warnings, nil
	}
	encoded, err := typed.Encode(o["rules"])
	if err != nil {
		return nil, err
	}
	// What it does not know is for kube-apiserver to judge.
	var rules []rbacv1.PolicyRule
	if err := kjson.UnmarshalCaseSensitivePreserveInts(encoded, &rules); err != nil {
		return nil, apierrors.NewBadRequest("rules: " + err.Error())
	}
	kept, left := effective(rules, c.scopes)
	if len(left) == 0 {
		return warnings, nil
	}
	if encoded, err = typed.Encode(rules); err != nil {
		return nil, err
	}
	if len(encoded) > apivalidation.TotalAnnotationSizeLimitB {
		return nil, apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("rules: with some that are cluster-scoped, they may have at most %d bytes", apivalidation.TotalAnnotationSizeLimitB))
	}
	o["rules"] = kept
	if annotations == nil {
		annotations = object{}
		metadata["annotations"] = annotations
	}
	annotations[hnc.AnnotationViewRules] = string(encoded)
	return append(warnings, "rules: what is cluster-scoped has no effect in a view: "+shortened(left)), nil
}

const aggregatePrefix = "rbac.authorization.k8s.io/aggregate-to-"

// shortened lists the first of many texts, and the beginning of long ones.
func shortened(list []string) string {
	const most = 10
	slices.Sort(list)
	list = slices.Compact(list)
	for i := range list[:min(most, len(list))] {
		list[i] = names.Shorten(list[i])
	}
	return names.List(list, most, ", ")
}

// out appends an object of the cluster as it is in the view. The error is errHidden if the resource does not contain it.
// Of what is only the metadata of an object, the kind stays.
func (c *conversion) out(out, raw []byte) ([]byte, error) {
	metadata := mapping.MemberOf(raw, "metadata")
	name, shown := c.name(metadata)
	if !shown {
		return nil, errHidden
	}
	if !c.cluster && !c.bindings {
		return append(out, raw...), nil
	}
	rules, err := c.rulesOut(raw, metadata)
	if err != nil {
		return nil, err
	}
	return mapping.RewriteObject(slices.Grow(out, len(raw)), raw, func(out []byte, field string, value []byte) ([]byte, bool, error) {
		switch {
		case field == "roleRef" && c.bindings:
			return rewritten(out, value, func(ref object) { setRole(ref, c.names.roleOut) })
		case field == "kind" && c.cluster && string(value) == `"`+c.stored+`"`:
			return appendJSON(out, c.shown)
		case field == "metadata" && c.cluster:
			out, err := c.metadataOut(out, value, name)
			return out, true, err
		case field == "rules" && rules != nil:
			return append(out, rules...), true, nil
		}
		return append(out, value...), true, nil
	})
}

// rewritten appends a small object, as change changes it.
func rewritten(out, raw []byte, change func(o object)) ([]byte, bool, error) {
	var o object
	if err := utiljson.Unmarshal(raw, &o); err != nil {
		return nil, false, err
	}
	change(o)
	return appendJSON(out, o)
}

// metadataOut appends the metadata of a cluster-scoped object of this name.
func (c *conversion) metadataOut(out, raw []byte, name string) ([]byte, error) {
	return mapping.RewriteObject(out, raw, func(out []byte, field string, value []byte) (_ []byte, keep bool, err error) {
		switch field {
		case "name":
			return appendJSON(out, name)
		case "namespace":
			return out, false, nil
		case "annotations":
			before := len(out)
			out, err = mapping.RewriteObject(out, value, func(out []byte, key string, value []byte) ([]byte, bool, error) {
				return append(out, value...), key != hnc.AnnotationViewRules, nil
			})
			return out, err == nil && string(out[before:]) != "{}", err
		case "ownerReferences":
			out, err = mapping.RewriteList(out, value, func(out []byte, _ int, ref []byte) ([]byte, bool, error) {
				return rewritten(out, ref, func(ref object) {
					convertOwner(ref, func(kind, name string) (string, string, bool) {
						shown, ok := c.names.Shown(name)
						return "Cluster" + kind, shown, ok && (kind == "Role" || kind == "RoleBinding")
					})
				})
			})
			return out, true, err
		}
		return append(out, value...), true, nil
	})
}

// name returns the name in the view of an object with this metadata; shown is false if the resource does not contain the
// object. In the other namespaces, only copies are hidden, which nobody else can make: an object with such a name is an
// ordinary one.
func (c *conversion) name(metadata []byte) (name string, shown bool) {
	stored := mapping.TextOf(metadata, "name")
	if stored == "" {
		return "", true
	}
	name, own := c.shownName(c.names, stored)
	if c.cluster {
		return name, own
	}
	return stored, !own || mapping.TextOf(metadata, "namespace") != c.root &&
		mapping.TextOf(mapping.MemberOf(metadata, "labels"), hnc.LabelInheritedFrom) != c.root
}

// rulesOut returns the rules of a ClusterRole with those that rulesIn has left out, nil if it has left out none.
func (c *conversion) rulesOut(raw, metadata []byte) ([]byte, error) {
	annotation := viewRules(metadata)
	if annotation == "" || c.bindings || mapping.TextOf(raw, "kind") == "PartialObjectMetadata" {
		return nil, nil
	}
	all, ok, err := c.written(annotation, mapping.MemberOf(raw, "rules"))
	if err != nil || !ok {
		return nil, err
	}
	return typed.Encode(all)
}

// viewRules returns the annotation with the rules that a client has written.
func viewRules(metadata []byte) string {
	return mapping.TextOf(mapping.MemberOf(metadata, "annotations"), hnc.AnnotationViewRules)
}

// written returns the rules that a client has written, if the annotation is about these rules of a Role. Those with more
// values than a request may have are not decoded.
func (c *conversion) written(annotation string, rules []byte) (all []rbacv1.PolicyRule, ok bool, err error) {
	if yamlbody.CheckValues([]byte(annotation)) != nil || yamlbody.CheckValues(rules) != nil {
		return nil, false, nil
	}
	release, err := c.decoding([]byte(annotation), rules)
	if err != nil {
		return nil, false, err
	}
	defer release()
	stored, err := decodeRules(rules)
	if err != nil {
		return nil, false, nil // The annotation is not about them.
	}
	all, ok = written(annotation, stored, c.scopes)
	return all, ok, nil
}

// ValueSize is what a value takes in memory when it is decoded, converted and encoded again, in bytes. The text says
// little about it: a rule of ten bytes takes hundreds.
const ValueSize = 384

// decoding counts what JSON texts take when they are decoded, unless it is little.
func (c *conversion) decoding(texts ...[]byte) (release func(), err error) {
	bytes := 0
	for _, text := range texts {
		bytes += ValueSize * yamlbody.Values(text, true)
	}
	if bytes <= Uncounted {
		return func() {}, nil
	}
	return c.reserve(int64(bytes))
}

// owners converts the owner references of kinds of RBAC.
func (c *conversion) owners(metadata object, convert func(kind, name string) (string, string, bool)) {
	references, _ := metadata["ownerReferences"].([]any)
	for _, each := range references {
		if ref, ok := each.(object); ok {
			convertOwner(ref, convert)
		}
	}
}

// convertOwner converts one of them.
func convertOwner(ref object, convert func(kind, name string) (string, string, bool)) {
	if !strings.HasPrefix(text(ref, "apiVersion"), rbacv1.GroupName+"/") {
		return
	}
	if kind, name, ok := convert(text(ref, "kind"), text(ref, "name")); ok {
		ref["kind"], ref["name"] = kind, name
	}
}
