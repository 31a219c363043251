package hnc

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// RepositorySync is the hub type of v1beta1 RepositorySync, which documents the fields. It keeps the cluster equal to
// a repository of policy.
type RepositorySync struct {
	metav1.TypeMeta
	metav1.ObjectMeta

	Spec   RepositorySyncSpec
	Status RepositorySyncStatus
}

// RepositorySyncSpec is a repository, and how it is applied.
type RepositorySyncSpec struct {
	Source                         RepositorySource
	Cluster                        string
	ServiceAccount                 ServiceAccountReference
	Interval                       *Duration
	Prune                          bool
	AllowMassDeletion              bool
	AllowNonEmptyNamespaceDeletion bool
	AllowSharedNames               bool
	Paused                         bool
}

// RepositorySource is a revision of a Git repository.
type RepositorySource struct {
	URL        string
	Branch     string
	Tag        string
	Commit     string
	Directory  string
	SecretName string
}

// ServiceAccountReference names a ServiceAccount.
type ServiceAccountReference struct {
	Namespace string
	Name      string
}

// RepositorySyncStatus is the result of the last synchronization.
type RepositorySyncStatus struct {
	ObservedGeneration int64
	SeenCommit         string
	AppliedCommit      string
	AppliedTime        *metav1.Time
	Namespaces         int32
	Objects            int32
	Failed             int32
	Failures           []ObjectFailure
	Errors             []RepositoryError
	Kinds              []metav1.GroupVersionResource
	Conditions         []metav1.Condition
}

// ObjectFailure is an object that could not be applied or deleted.
type ObjectFailure struct {
	Group     string
	Kind      string
	Namespace string
	Name      string
	Path      string
	Message   string
}

// RepositoryError is an error of a repository.
type RepositoryError struct {
	Code    string
	Message string
	Path    string
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// RepositorySyncList is a list of RepositorySyncs.
type RepositorySyncList struct {
	metav1.TypeMeta
	metav1.ListMeta

	Items []RepositorySync
}

// Names that hns-sync writes, and the reasons of the condition Ready of a RepositorySync, which reports whether the
// cluster is as the last commit says.
const (
	// LabelRepositorySync is set on all objects that a RepositorySync applies, with its name.
	LabelRepositorySync = "hnc.x-k8s.io/repository-sync"
	// AnnotationSourcePath is the file in the repository that declares an object.
	AnnotationSourcePath = "hnc.x-k8s.io/source-path"

	// ReasonSynced means that the cluster is as the commit says.
	ReasonSynced = "Synced"
	// ReasonPaused means that the RepositorySync is paused.
	ReasonPaused = "Paused"
	// ReasonSourceUnavailable means that the repository or the revision cannot be read.
	ReasonSourceUnavailable = "SourceUnavailable"
	// ReasonInvalidRepository means that the revision has errors.
	ReasonInvalidRepository = "InvalidRepository"
	// ReasonUnsafeRevision means that the revision removes too many namespaces.
	ReasonUnsafeRevision = "UnsafeRevision"
	// ReasonApplyFailed means that objects cannot be read, written or deleted: `status.failures` lists the first 20.
	ReasonApplyFailed = "ApplyFailed"
	// ReasonControllerFight means that another client changes the same objects again and again.
	ReasonControllerFight = "ControllerFight"
)
