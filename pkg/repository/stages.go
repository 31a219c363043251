package repository

import (
	"fmt"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/object"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/report"
)

// stage is a barrier: all its checks run, and the next stage runs only if none of them finds a blocking error.
type stage string

const (
	rawChecks         stage = "raw"
	clusterChecks     stage = "clusters"
	kindChecks        stage = "kinds"
	scopeChecks       stage = "scopes"
	directoryChecks   stage = "directories"
	treeChecks        stage = "tree"
	inheritanceChecks stage = "inheritance"
	finalChecks       stage = "final"
)

// stages are the stages in order, each with the step that runs once its checks have passed.
var stages = []struct {
	name stage
	edit func(*compilation)
}{
	{rawChecks, func(c *compilation) { c.fillNamespaces(); c.evaluateClusterSelectors() }},
	{clusterChecks, (*compilation).selectForCluster},
	{kindChecks, (*compilation).dropUnknownKinds},
	{scopeChecks, nil},
	{directoryChecks, (*compilation).buildTree},
	{treeChecks, (*compilation).configureInheritance},
	{inheritanceChecks, (*compilation).inherit},
	{finalChecks, nil},
}

// check detects one condition, in each object or in all objects.
type check struct {
	stage stage
	code  report.Code
	each  func(*compilation, *object.Object) finding
	all   func(*compilation) report.Errors
}

// finding is an error in an object: a message, and the field whose line is reported. The zero value means no error.
type finding struct{ field, message string }

func findf(field, format string, args ...any) finding {
	return finding{field, fmt.Sprintf(format, args...)}
}

// checks are the checks of all stages.
var checks = []check{
	{stage: rawChecks, code: report.IllegalSelector, each: clusterSelectorOnSelector},
	{stage: rawChecks, code: report.IllegalManaged, each: illegalManaged},
	{stage: rawChecks, code: report.Unparsable, each: unparsable},
	{stage: rawChecks, code: report.NamespaceNotDirectory, each: namespaceNotDirectory},
	{stage: rawChecks, code: report.ReservedAnnotation, each: reservedAnnotation},
	{stage: rawChecks, code: report.ReservedLabel, each: reservedLabel},
	{stage: rawChecks, code: report.MissingRepo, all: missingRepo},
	{stage: rawChecks, code: report.IllegalTopLevelNamespace, each: topLevelNamespace},
	{stage: rawChecks, code: report.NamespaceNameNotDirectory, each: namespaceNameNotDirectory},
	{stage: rawChecks, code: report.UnsupportedRepoVersion, each: unsupportedRepoVersion},
	{stage: rawChecks, code: report.NameCollision, all: selectorCollisions},
	{stage: rawChecks, code: report.MissingName, each: missingName},
	{stage: rawChecks, code: report.ControllerNamespace, each: controllerNamespace},
	{stage: rawChecks, code: report.InvalidName, each: invalidName},
	{stage: rawChecks, code: report.IllegalTopLevelDirectory, each: misplacedKind},
	{stage: rawChecks, code: report.UnsupportedObject, each: unsupportedObject},
	{stage: rawChecks, code: report.RemovedCRD, all: removedCRDs},
	{stage: rawChecks, code: report.InvalidCRDName, each: invalidCRDName},
	{stage: rawChecks, code: report.DeprecatedKind, each: deprecatedKind},
	{stage: rawChecks, code: report.InvalidNamespace, each: invalidNamespace},
	{stage: rawChecks, code: report.TreeLabel, each: treeLabel},
	{stage: rawChecks, code: report.ReservedMetadata, each: reservedMetadata},
	{stage: rawChecks, code: report.MalformedCRD, each: malformedCRD},
	{stage: rawChecks, code: report.MultipleSingletons, all: multipleRepos},

	{stage: clusterChecks, code: report.UnknownSelector, each: unknownClusterSelector},
	{stage: clusterChecks, code: report.InvalidSelector, each: invalidClusterSelector},
	{stage: clusterChecks, code: report.ConflictingSelectors, each: conflictingSelectors},

	{stage: kindChecks, code: report.UnknownKind, each: unknownKind},

	{stage: scopeChecks, code: report.IllegalSelector, each: namespaceSelectorOnClusterScoped},
	{stage: scopeChecks, code: report.IllegalNamespace, each: namespaceOnClusterScoped},
	{stage: scopeChecks, code: report.NamespaceAndSelector, each: namespaceAndSelector},

	{stage: directoryChecks, code: report.IllegalTopLevelDirectory, each: misplacedScope},

	{stage: treeChecks, code: report.UnknownSelector, each: unknownNamespaceSelector},
	{stage: treeChecks, code: report.SelectorInNamespace, all: selectorsInNamespaces},
	{stage: treeChecks, code: report.UnsupportedInherited, each: unsupportedInherited},
	{stage: treeChecks, code: report.IllegalHierarchyMode, each: illegalHierarchyMode},
	{stage: treeChecks, code: report.UnsyncableDirectory, all: unsyncableDirectories},
	{stage: treeChecks, code: report.ClusterScopedInherited, all: clusterScopedInherited},
	{stage: treeChecks, code: report.MultipleSingletons, all: multipleNamespaces},
	{stage: treeChecks, code: report.InvalidDirectory, all: invalidDirectories},
	{stage: treeChecks, code: report.ReservedDirectory, all: reservedDirectories},
	{stage: treeChecks, code: report.SharedName, all: sharedNames},
	{stage: treeChecks, code: report.ExcludedNamespace, all: excludedNamespaces},

	{stage: inheritanceChecks, code: report.IllegalSubdirectory, all: illegalSubdirectories},
	{stage: inheritanceChecks, code: report.IllegalKindInAbstract, all: illegalKindsInAbstract},
	{stage: inheritanceChecks, code: report.UnknownSelector, each: selectorOutOfReach},
	{stage: inheritanceChecks, code: report.InvalidSelector, each: invalidNamespaceSelector},
	{stage: inheritanceChecks, code: report.SelectorPrefix, each: selectorByPrefix},

	{stage: finalChecks, code: report.LimitExceeded, all: checkInherited},
	{stage: finalChecks, code: report.NameCollision, all: objectCollisions},
	{stage: finalChecks, code: report.ManagedInUnmanaged, all: managedInUnmanaged},
	{stage: finalChecks, code: report.TooManyObjects, all: tooManyObjects},
}

// run returns the errors of a stage, and collects its warnings.
func (c *compilation) run(s stage) report.Errors {
	var errors report.Errors
	for i := range checks {
		if checks[i].stage != s || c.ctx.Err() != nil {
			continue
		}
		found := checks[i].run(c)
		if c.isWarning(checks[i].code) {
			c.warnings = append(c.warnings, found...)
		} else {
			errors = append(errors, found...)
		}
	}
	return errors
}

func (c *compilation) isWarning(code report.Code) bool {
	switch code {
	case report.SharedName, report.ExcludedNamespace, report.SelectorPrefix:
		return true
	}
	return code == report.UnknownKind && c.AssumeScopes
}

func (k *check) run(c *compilation) report.Errors {
	var errors report.Errors
	if k.all != nil {
		errors = k.all(c)
		for _, err := range errors {
			err.Code = k.code
		}
		return errors
	}
	for _, o := range c.objects {
		if f := k.each(c, o); f != (finding{}) {
			errors = append(errors, &report.Error{Code: k.code, Message: f.message, Sources: []report.Source{o.Source(f.field)}})
		}
	}
	return errors
}
