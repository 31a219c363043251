package v1alpha3

// AccessChange is a change of a subject's access.
// +enum
type AccessChange string

const (
	// AccessGained means that a subject would gain the role.
	AccessGained AccessChange = "Gained"
	// AccessLost means that a subject would lose the role.
	AccessLost AccessChange = "Lost"
)

// PlannedAccess is a role that a subject would gain or lose in a namespace.
type PlannedAccess struct {
	// change is Gained or Lost.
	Change AccessChange `json:"change"`
	// kind is User, Group or ServiceAccount.
	Kind string `json:"kind"`
	// namespace is the namespace of a ServiceAccount.
	// +optional
	Namespace string `json:"namespace,omitempty"`
	// name is the name of the subject.
	Name string `json:"name"`
	// roleKind is Role or ClusterRole.
	RoleKind string `json:"roleKind"`
	// role is the name of the role.
	Role string `json:"role"`
}
