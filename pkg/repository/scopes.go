package repository

import (
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/object"
)

func unknownKind(c *compilation, o *object.Object) finding {
	if _, ok := c.scopes.Namespaced(o.GroupKind()); ok {
		return finding{}
	}
	if c.AssumeScopes {
		return findf("", "the kind %s is unknown and assumed to have the scope of %s/", o.GroupKind(), o.TopDir())
	}
	return findf("", "the cluster does not serve the kind %s; install it, or add its CustomResourceDefinition to %s/", o.GroupKind(), object.ClusterDir)
}

func (c *compilation) dropUnknownKinds() {
	if c.AssumeScopes {
		return
	}
	c.keep(func(o *object.Object) bool { _, ok := c.scopes.Namespaced(o.GroupKind()); return ok })
}

func namespaceSelectorOnClusterScoped(c *compilation, o *object.Object) finding {
	if _, set := o.Annotation(object.AnnotationNamespaceSelector); set && c.isClusterScoped(o) {
		return findf("metadata.annotations."+object.AnnotationNamespaceSelector, "a %s is not namespaced and must not have the annotation %s; remove it",
			o.GetKind(), object.AnnotationNamespaceSelector)
	}
	return finding{}
}

func namespaceOnClusterScoped(c *compilation, o *object.Object) finding {
	if o.GetNamespace() != "" && c.isClusterScoped(o) {
		return findf("metadata.namespace", "a %s is not namespaced; remove metadata.namespace", o.GetKind())
	}
	return finding{}
}

func namespaceAndSelector(c *compilation, o *object.Object) finding {
	if _, set := o.Annotation(object.AnnotationNamespaceSelector); !set || o.GetNamespace() == "" || c.isClusterScoped(o) {
		return finding{}
	}
	return findf("metadata.annotations."+object.AnnotationNamespaceSelector,
		"an object must not have both a namespace and the annotation %s; remove one of them, or move the object to an abstract directory", object.AnnotationNamespaceSelector)
}

func misplacedScope(c *compilation, o *object.Object) finding {
	_, fixed := requiredDirs[o.GroupKind()]
	switch {
	case fixed:
		return finding{}
	case c.isClusterScoped(o) && o.TopDir() != object.ClusterDir:
		return findf("", "a %s is not namespaced and must be in the directory %s/; move it there", o.GetKind(), object.ClusterDir)
	case c.isNamespaced(o) && o.TopDir() != object.NamespacesDir:
		return findf("", "a %s is namespaced and must be in the directory %s/; move it there", o.GetKind(), object.NamespacesDir)
	case o.TopDir() == object.SystemDir || o.TopDir() == object.ClusterRegistryDir:
		return findf("", "a %s must be in the directory %s/ or %s/; move it there", o.GetKind(), object.ClusterDir, object.NamespacesDir)
	}
	return finding{}
}
