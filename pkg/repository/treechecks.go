package repository

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/object"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/report"
)

// eachDirectory returns the errors that a function finds in directories.
func (c *compilation) eachDirectory(find func(*directory) *report.Error) report.Errors {
	var errors report.Errors
	c.root.walk(func(d *directory) {
		if err := find(d); err != nil {
			errors = append(errors, err)
		}
	})
	return errors
}

func multipleNamespaces(c *compilation) report.Errors {
	return c.eachDirectory(func(d *directory) *report.Error {
		if len(d.namespaces) <= 1 {
			return nil
		}
		return &report.Error{Message: "a directory must not contain more than one Namespace; remove the others", Sources: sources(d.namespaces)}
	})
}

func selectorsInNamespaces(c *compilation) report.Errors {
	return c.eachDirectory(func(d *directory) *report.Error {
		if d.isAbstract() || len(d.selectors) == 0 {
			return nil
		}
		return &report.Error{
			Message: "a NamespaceSelector must be in an abstract directory, which contains no Namespace; move it up",
			Sources: append(sources(d.selectors), sources(d.namespaces)...),
		}
	})
}

func unsyncableDirectories(c *compilation) report.Errors {
	return c.eachDirectory(func(d *directory) *report.Error {
		if len(d.objects) == 0 || d.isAboveNamespace() {
			return nil
		}
		message := "the directory contains objects, but neither it nor a directory below it contains a Namespace; add one, or remove the objects"
		if len(d.children) == 0 {
			message = "the directory contains objects and no Namespace; add a Namespace of the directory's name, or remove the objects"
		}
		return &report.Error{Message: message, Paths: []string{d.path}}
	})
}

// eachNamed returns the errors that a function finds in the names of abstract directories.
func (c *compilation) eachNamed(find func(name string) string) report.Errors {
	return c.eachDirectory(func(d *directory) *report.Error {
		if d == c.root || !d.isAbstract() {
			return nil
		}
		if message := find(d.name); message != "" {
			return &report.Error{Message: message, Paths: []string{d.path}}
		}
		return nil
	})
}

func invalidDirectories(c *compilation) report.Errors {
	return c.eachNamed(func(name string) string {
		if problems := validation.IsDNS1123Label(name); len(problems) > 0 {
			return fmt.Sprintf("the name of an abstract directory becomes part of labels, and %q cannot: %s", name, strings.Join(problems, "; "))
		}
		return ""
	})
}

func reservedDirectories(c *compilation) report.Errors {
	return c.eachNamed(func(name string) string {
		if slices.Contains(c.Excluded, name) {
			return fmt.Sprintf("the namespace %s is excluded from hierarchies, and its name cannot be that of an abstract directory; rename the directory", name)
		}
		return ""
	})
}

// excludedNamespaces reports namespaces that cannot have ancestors. Besides, users allowed to write an abstract
// directory only must not reach them.
func excludedNamespaces(c *compilation) report.Errors {
	return c.eachDirectory(func(d *directory) *report.Error {
		if d.isAbstract() || d.parent == c.root || !slices.Contains(c.Excluded, d.name) {
			return nil
		}
		return &report.Error{
			Message: fmt.Sprintf("the namespace %s is excluded from hierarchies, so no directory can be above it; move it to %s/%s", d.name, object.NamespacesDir, d.name),
			Paths:   []string{d.path},
		}
	})
}

func sharedNames(c *compilation) report.Errors {
	if c.AllowSharedNames {
		return nil
	}
	declared := map[string]bool{}
	for _, namespace := range c.ofKind(object.Namespace) {
		declared[namespace.GetName()] = true
	}
	return c.eachNamed(func(name string) string {
		if declared[name] {
			return fmt.Sprintf("the abstract directory has the name of the namespace %s, so one tree label means both; rename the directory, or allow it by --allow-shared-names", name)
		}
		return ""
	})
}

func unknownNamespaceSelector(c *compilation, o *object.Object) finding {
	name, set := o.Annotation(object.AnnotationNamespaceSelector)
	if !set || c.selectors[name] != nil {
		return finding{}
	}
	return findf("metadata.annotations."+object.AnnotationNamespaceSelector, "there is no NamespaceSelector %q; declare it in this directory or above it, or remove the annotation %s",
		name, object.AnnotationNamespaceSelector)
}
