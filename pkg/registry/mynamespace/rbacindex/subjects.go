package rbacindex

import (
	"unique"

	rbacv1 "k8s.io/api/rbac/v1"
)

// Subject is a user or a group of users. A ServiceAccount is the user with its name.
type Subject struct {
	Group bool
	Name  string
}

// superuserGroup is allowed everything, regardless of RBAC.
var superuserGroup = Subject{Group: true, Name: "system:masters"}

// SubjectsOf returns the subjects of a user with these groups.
func SubjectsOf(name string, groups []string) []Subject {
	subjects := make([]Subject, 0, 1+len(groups))
	subjects = append(subjects, Subject{Name: name})
	for _, group := range groups {
		subjects = append(subjects, Subject{Group: true, Name: group})
	}
	return subjects
}

// Role identifies a role.
type Role struct {
	// Namespace is "" for a ClusterRole.
	Namespace string
	Name      string
}

// BindingKey identifies a binding.
type BindingKey struct {
	// Namespace is "" for a ClusterRoleBinding.
	Namespace string
	Name      string
}

// Binding is a RoleBinding or a ClusterRoleBinding.
type Binding struct {
	BindingKey
	// Role is the bound role; the zero value is none, for an invalid reference.
	Role     Role
	Subjects []Subject
}

// NewBinding converts a binding. namespace is "" for a ClusterRoleBinding.
func NewBinding(namespace, name string, role rbacv1.RoleRef, subjects []rbacv1.Subject) Binding {
	// Bindings repeat few strings: a namespace has many bindings, and most are copies of others.
	namespace, name = intern(namespace), intern(name)
	b := Binding{BindingKey: BindingKey{namespace, name}, Subjects: make([]Subject, 0, len(subjects))}
	switch {
	case role.Kind == "ClusterRole":
		b.Role = Role{Name: intern(role.Name)}
	case role.Kind == "Role" && namespace != "":
		b.Role = Role{Namespace: namespace, Name: intern(role.Name)}
	}
	for _, s := range subjects {
		switch s.Kind {
		case rbacv1.UserKind:
			b.Subjects = append(b.Subjects, Subject{Name: intern(s.Name)})
		case rbacv1.GroupKind:
			b.Subjects = append(b.Subjects, Subject{Group: true, Name: intern(s.Name)})
		case rbacv1.ServiceAccountKind:
			// The namespace defaults to that of the binding.
			if s.Namespace == "" {
				s.Namespace = namespace
			}
			if s.Namespace != "" {
				b.Subjects = append(b.Subjects, Subject{Name: intern("system:serviceaccount:" + s.Namespace + ":" + s.Name)})
			}
		}
	}
	return b
}

// intern returns a canonical copy of a string.
func intern(s string) string { return unique.Make(s).Value() }
