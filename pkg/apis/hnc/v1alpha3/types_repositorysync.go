package v1alpha3

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// +genclient
// +genclient:nonNamespaced
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// RepositorySync keeps the cluster equal to a hierarchical repository of policy in Git. The objects of the repository
// are applied as a ServiceAccount, so a repository can do only what that account may. Writing the spec requires
// permission to impersonate the account.
type RepositorySync struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object's metadata. The name is a DNS label. It is the value of the label hnc.x-k8s.io/repository-sync
	// of all objects that are applied.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the repository, and how it is applied.
	Spec RepositorySyncSpec `json:"spec"`
	// status is the result of the last synchronization. It is set by hns-sync.
	// +optional
	Status RepositorySyncStatus `json:"status,omitempty"`
}

// RepositorySyncSpec is a repository, and how it is applied.
type RepositorySyncSpec struct {
	// source is the repository.
	Source RepositorySource `json:"source"`
	// cluster is the name of this cluster, which the cluster selectors of the repository match. Empty matches none.
	// +optional
	Cluster string `json:"cluster,omitempty"`
	// serviceAccount is the account that objects are read, applied and deleted as.
	ServiceAccount ServiceAccountReference `json:"serviceAccount"`
	// interval is the time between two reads of the branch or tag. Defaults to 15s; at least 1s.
	// +optional
	Interval *hnc.Duration `json:"interval,omitempty"`
	// prune deletes objects that were applied and are no longer in the repository. Otherwise they remain, and remain
	// labeled.
	// +optional
	Prune bool `json:"prune,omitempty"`
	// allowMassDeletion allows a revision that removes more than half of the namespaces.
	// +optional
	AllowMassDeletion bool `json:"allowMassDeletion,omitempty"`
	// allowNonEmptyNamespaceDeletion allows the deletion of namespaces that have sub-namespaces, or that contain objects
	// which are not from the repository, and of CustomResourceDefinitions of such objects.
	// +optional
	AllowNonEmptyNamespaceDeletion bool `json:"allowNonEmptyNamespaceDeletion,omitempty"`
	// allowSharedNames allows abstract directories with the name of a namespace, whose tree label then stands for both.
	// +optional
	AllowSharedNames bool `json:"allowSharedNames,omitempty"`
	// paused stops all reads and writes for this RepositorySync.
	// +optional
	Paused bool `json:"paused,omitempty"`
}

// RepositorySource is a revision of a Git repository.
type RepositorySource struct {
	// url is the address of the Git repository: https://HOST/PATH, ssh://USER@HOST/PATH, or file:///PATH for a
	// directory below the one that hns-sync allows with --local-repositories.
	URL string `json:"url"`
	// branch is the branch to follow. At most one of branch, tag and commit may be set; with none, the default branch
	// of the repository is followed.
	// +optional
	Branch string `json:"branch,omitempty"`
	// tag is the tag to apply.
	// +optional
	Tag string `json:"tag,omitempty"`
	// commit is the commit to apply: 40 hexadecimal digits.
	// +optional
	Commit string `json:"commit,omitempty"`
	// directory is the root of the hierarchical repository in the Git repository. Empty means the root.
	// +optional
	Directory string `json:"directory,omitempty"`
	// secretName is the name of a Secret with credentials, in the namespace of the ServiceAccount: username and
	// password, and optionally ca.crt, for https; identity and known_hosts for ssh. Setting it requires permission to
	// get that Secret.
	// +optional
	SecretName string `json:"secretName,omitempty"`
}

// ServiceAccountReference names a ServiceAccount.
type ServiceAccountReference struct {
	// namespace is the namespace of the ServiceAccount.
	Namespace string `json:"namespace"`
	// name is the name of the ServiceAccount.
	Name string `json:"name"`
}

// RepositorySyncStatus is the result of the last synchronization.
type RepositorySyncStatus struct {
	// observedGeneration is the generation of the spec that the status describes, and -1 until there is a status.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// seenCommit is the commit that was read last.
	// +optional
	SeenCommit string `json:"seenCommit,omitempty"`
	// appliedCommit is the last commit that was applied completely.
	// +optional
	AppliedCommit string `json:"appliedCommit,omitempty"`
	// appliedTime is when appliedCommit was first applied completely.
	// +optional
	AppliedTime *metav1.Time `json:"appliedTime,omitempty"`
	// namespaces is the number of namespaces in the repository.
	// +optional
	Namespaces int32 `json:"namespaces,omitempty"`
	// objects is the number of objects in the repository for this cluster, including inherited ones and namespaces.
	// +optional
	Objects int32 `json:"objects,omitempty"`
	// failed is the number of objects that could not be applied or deleted.
	// +optional
	Failed int32 `json:"failed,omitempty"`
	// failures are the first of the objects that could not be applied or deleted.
	// +optional
	// +listType=atomic
	Failures []ObjectFailure `json:"failures,omitempty"`
	// errors are the first errors of the repository.
	// +optional
	// +listType=atomic
	Errors []RepositoryError `json:"errors,omitempty"`
	// kinds are the resources of which objects have been applied, and which objects are pruned from.
	// +optional
	// +listType=atomic
	Kinds []metav1.GroupVersionResource `json:"kinds,omitempty"`
	// conditions contains Ready. It is True while the cluster is as the last commit says.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// ObjectFailure is an object that could not be applied or deleted.
type ObjectFailure struct {
	// group is the API group of the object. Empty means the core group.
	// +optional
	Group string `json:"group,omitempty"`
	// kind is the kind of the object.
	Kind string `json:"kind"`
	// namespace is the namespace of the object, empty if it is cluster-scoped.
	// +optional
	Namespace string `json:"namespace,omitempty"`
	// name is the name of the object.
	Name string `json:"name"`
	// path is the file that declares the object, empty if it was to be deleted.
	// +optional
	Path string `json:"path,omitempty"`
	// message is the problem.
	Message string `json:"message"`
}

// RepositoryError is an error of a repository.
type RepositoryError struct {
	// code identifies the error, for example KNV1029.
	Code string `json:"code"`
	// message is the problem, and what to do.
	Message string `json:"message"`
	// path is the file and the line, or the directory.
	// +optional
	Path string `json:"path,omitempty"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// RepositorySyncList is a list of RepositorySyncs.
type RepositorySyncList struct {
	metav1.TypeMeta `json:",inline"`
	// Standard list metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// items is the list of RepositorySyncs.
	Items []RepositorySync `json:"items"`
}
