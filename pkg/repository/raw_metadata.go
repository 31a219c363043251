package repository

import (
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/object"
)

func illegalManaged(_ *compilation, o *object.Object) finding {
	if value, set := o.Annotation(object.AnnotationManaged); set && value != object.ManagedDisabled {
		return findf("metadata.annotations."+object.AnnotationManaged, "the annotation %s may only be %q, not %q; correct or remove it",
			object.AnnotationManaged, object.ManagedDisabled, value)
	}
	return finding{}
}

// userAnnotations are the annotations with a reserved prefix that a repository may set.
var userAnnotations = []string{
	object.AnnotationNamespaceSelector, object.AnnotationClusterSelector, object.AnnotationClusterNameSelector,
	object.AnnotationManaged, object.AnnotationDeletionPropagation,
}

func reservedAnnotation(_ *compilation, o *object.Object) finding {
	return reservedKey("annotation", "metadata.annotations.", o.GetAnnotations(), userAnnotations)
}

func reservedLabel(_ *compilation, o *object.Object) finding {
	return reservedKey("label", "metadata.labels.", o.GetLabels(), nil)
}

func reservedKey(what, prefix string, entries map[string]string, allowed []string) finding {
	var bad []string
	for key := range entries {
		if object.IsReserved(key) && !slices.Contains(allowed, key) {
			bad = append(bad, key)
		}
	}
	if len(bad) == 0 {
		return finding{}
	}
	slices.Sort(bad)
	return findf(prefix+bad[0], "a repository must not set %ss with the prefixes %s/ and %s/; remove %s",
		what, object.ConfigManagementGroup, object.ConfigSyncGroup, strings.Join(bad, ", "))
}

func treeLabel(_ *compilation, o *object.Object) finding {
	var bad []string
	for key := range o.GetLabels() {
		if _, ok := hnc.TreeLabelAncestor(key); ok {
			bad = append(bad, key)
		}
	}
	if len(bad) == 0 {
		return finding{}
	}
	slices.Sort(bad)
	return findf("metadata.labels."+bad[0], "labels that end in %s are managed by the hierarchy; remove %s", hnc.LabelTreeSuffix, strings.Join(bad, ", "))
}

// serverLabels and serverAnnotations are those that only the servers write.
var serverLabels, serverAnnotations = []string{
	hnc.LabelInheritedFrom, hnc.LabelInTree, hnc.LabelHasSubnamespaces, hnc.LabelCascadingDeletion, hnc.LabelOrphaned, hnc.LabelQuota, hnc.LabelRepositorySync,
}, []string{
	hnc.AnnotationSubnamespaceOf, hnc.AnnotationAncestry, hnc.AnnotationAbstractAncestors, hnc.AnnotationRequester, hnc.AnnotationCreatorPending, hnc.AnnotationLimitsPending,
	hnc.AnnotationVoid, hnc.AnnotationRequired, hnc.AnnotationInheritedPodSecurity, hnc.AnnotationStore, hnc.AnnotationSourcePath,
}

// reservedMetadata reports metadata by which the servers recognize what they have written themselves: an object that
// claims to be a copy, or that of another RepositorySync.
func reservedMetadata(_ *compilation, o *object.Object) finding {
	for _, of := range []struct {
		what    string
		entries map[string]string
		keys    []string
	}{{"label", o.GetLabels(), serverLabels}, {"annotation", o.GetAnnotations(), serverAnnotations}} {
		for _, key := range of.keys {
			if _, set := of.entries[key]; set {
				return findf("metadata."+of.what+"s."+key, "only the servers write the %s %s; remove it", of.what, key)
			}
		}
	}
	return finding{}
}

func missingName(_ *compilation, o *object.Object) finding {
	if o.GetName() == "" {
		return findf("metadata.name", "metadata.name must be set")
	}
	return finding{}
}

const rbacGroup = "rbac.authorization.k8s.io"

func invalidName(_ *compilation, o *object.Object) finding {
	name := o.GetName()
	if name == "" {
		return finding{}
	}
	problems := validation.IsDNS1123Subdomain(name)
	if o.GroupKind().Group == rbacGroup {
		problems = content.IsPathSegmentName(name)
	}
	if len(problems) > 0 {
		return findf("metadata.name", "metadata.name: %q is not valid: %s", name, strings.Join(problems, "; "))
	}
	return finding{}
}

func namespaceNotDirectory(_ *compilation, o *object.Object) finding {
	if namespace := o.GetNamespace(); namespace != "" && o.TopDir() == object.NamespacesDir && namespace != path.Base(o.Dir()) {
		return findf("metadata.namespace", "metadata.namespace: %q is not the name of the directory, %q; change it, or remove it", namespace, path.Base(o.Dir()))
	}
	return finding{}
}

func invalidNamespace(_ *compilation, o *object.Object) finding {
	field, name := "metadata.namespace", o.GetNamespace()
	if o.Is(object.Namespace) {
		field, name = "metadata.name", o.GetName()
	}
	if name == "" {
		return finding{}
	}
	if problems := validation.IsDNS1123Label(name); len(problems) > 0 {
		return findf(field, "%s: %q is not the name of a namespace: %s", field, name, strings.Join(problems, "; "))
	}
	return finding{}
}
