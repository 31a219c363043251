package report

import "strings"

// Code identifies a condition. KNV codes are those of Config Sync, each for the same condition as there
// (docs/spec/config-sync.md 6). Conditions that Config Sync does not have are words.
type Code string

// Codes of Config Sync.
const (
	IllegalSubdirectory       Code = "KNV1003"
	IllegalSelector           Code = "KNV1004"
	IllegalManaged            Code = "KNV1005"
	Unparsable                Code = "KNV1006"
	IllegalKindInAbstract     Code = "KNV1007"
	NamespaceNotDirectory     Code = "KNV1009"
	ReservedAnnotation        Code = "KNV1010"
	ReservedLabel             Code = "KNV1011"
	UnknownSelector           Code = "KNV1013"
	InvalidSelector           Code = "KNV1014"
	MissingRepo               Code = "KNV1017"
	IllegalTopLevelNamespace  Code = "KNV1019"
	NamespaceNameNotDirectory Code = "KNV1020"
	UnknownKind               Code = "KNV1021"
	UnsupportedRepoVersion    Code = "KNV1027"
	NameCollision             Code = "KNV1029"
	MissingName               Code = "KNV1031"
	ControllerNamespace       Code = "KNV1034"
	InvalidName               Code = "KNV1036"
	SelectorInNamespace       Code = "KNV1038"
	IllegalTopLevelDirectory  Code = "KNV1039"
	UnsupportedInherited      Code = "KNV1041"
	IllegalHierarchyMode      Code = "KNV1042"
	UnsupportedObject         Code = "KNV1043"
	UnsyncableDirectory       Code = "KNV1044"
	IllegalField              Code = "KNV1045"
	ClusterScopedInherited    Code = "KNV1046"
	RemovedCRD                Code = "KNV1047"
	InvalidCRDName            Code = "KNV1048"
	DeprecatedKind            Code = "KNV1050"
	IllegalNamespace          Code = "KNV1052"
	NamespaceAndSelector      Code = "KNV1053"
	InvalidMetadataValue      Code = "KNV1054"
	InvalidNamespace          Code = "KNV1055"
	ManagedInUnmanaged        Code = "KNV1056"
	TreeLabel                 Code = "KNV1057"
	InvalidKindsFile          Code = "KNV1064"
	MalformedCRD              Code = "KNV1065"
	ConflictingSelectors      Code = "KNV1066"
	TooManyObjects            Code = "KNV1070"
	UnreadableFile            Code = "KNV2001"
	UnreadableSource          Code = "KNV2004"
	EmptyRepository           Code = "KNV2006"
	MissingIdentity           Code = "KNV2010"
	MultipleSingletons        Code = "KNV2012"
)

// Codes of Config Sync for objects that cannot be written to a cluster.
const (
	ManagementConflict     Code = "KNV1060"
	ControllerFight        Code = "KNV2005"
	ApplyError             Code = "KNV2009"
	InsufficientPermission Code = "KNV2013"
	TransientError         Code = "KNV2016"
)

// Codes of our own.
const (
	// LimitExceeded is a file, a document or a repository that is larger than the limits of the loader.
	LimitExceeded Code = "LimitExceeded"
	// LinkedDirectory is a symbolic link to a directory, which is not followed.
	LinkedDirectory Code = "LinkedDirectory"
	// Kustomization is a repository that Kustomize has to render first.
	Kustomization Code = "Kustomization"
	// InvalidDirectory is an abstract directory whose name is not a DNS label, and so cannot be part of a tree label.
	InvalidDirectory Code = "InvalidDirectory"
	// ReservedDirectory is an abstract directory with the name of a namespace that is excluded from hierarchies.
	ReservedDirectory Code = "ReservedDirectory"
	// ExcludedNamespace is a namespace that is excluded from hierarchies, below an abstract directory.
	ExcludedNamespace Code = "ExcludedNamespace"
	// ReservedMetadata is a label or an annotation that only the servers write.
	ReservedMetadata Code = "ReservedMetadata"
	// MassDeletion is a revision that removes more than half of the namespaces.
	MassDeletion Code = "MassDeletion"
	// SharedName is an abstract directory with the name of a namespace of the repository.
	SharedName Code = "SharedName"
	// SelectorPrefix is a NamespaceSelector that is accepted only because its directory's name is a prefix of another
	// one's.
	SelectorPrefix Code = "SelectorPrefix"
)

// helpPage explains each code, under an anchor with its name.
const helpPage = "https://github.com/hierarchy-apiserver/hierarchy-apiserver/blob/main/docs/reference/repository-errors.md#"

// HelpURL returns the address of the explanation.
func (c Code) HelpURL() string { return helpPage + strings.ToLower(string(c)) }

// Blocking reports whether errors of this code prevent the next stage. See Applicable for the others.
func (c Code) Blocking() bool {
	switch c {
	case UnknownKind, SharedName, ExcludedNamespace, SelectorPrefix:
		return false
	}
	return true
}

// Applicable reports whether a repository with this warning can be applied to a cluster. It can be printed in any case.
func (c Code) Applicable() bool { return c != SharedName && c != ExcludedNamespace }
