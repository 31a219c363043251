package access

import (
	"unique"

	rbacv1 "k8s.io/api/rbac/v1"
)

// Subject is a user or a group of users. A ServiceAccount is the user of its name.
type Subject struct {
	Group bool
	Name  string
}

// Superusers may do everything, whatever RBAC says.
var superusers = Subject{Group: true, Name: "system:masters"}

// SubjectsOf returns whom a user of that name and with these groups is to bindings.
func SubjectsOf(name string, groups []string) []Subject {
	subjects := make([]Subject, 0, 1+len(groups))
	subjects = append(subjects, Subject{Name: name})
	for _, group := range groups {
		subjects = append(subjects, Subject{Group: true, Name: group})
	}
	return subjects
}

// Role names a role.
type Role struct {
	// Namespace is the one of a Role, "" for a ClusterRole.
	Namespace string
	Name      string
}

// Key names a binding.
type Key struct {
	// Namespace is the one of a RoleBinding, "" for a ClusterRoleBinding.
	Namespace string
	Name      string
}

// Binding is what a RoleBinding or a ClusterRoleBinding says.
type Binding struct {
	Key
	// Role is the role that is bound; the zero value is none, for what can't be understood.
	Role     Role
	Subjects []Subject
}

// NewBinding returns what a binding says. namespace is "" for a ClusterRoleBinding.
func NewBinding(namespace, name string, role rbacv1.RoleRef, subjects []rbacv1.Subject) Binding {
	// Of the strings of a binding almost none is its own: a namespace has many, and copies of one are everywhere.
	namespace, name = shared(namespace), shared(name)
	b := Binding{Key: Key{namespace, name}, Subjects: make([]Subject, 0, len(subjects))}
	switch {
	case role.Kind == "ClusterRole":
		b.Role = Role{Name: shared(role.Name)}
	case role.Kind == "Role" && namespace != "":
		b.Role = Role{Namespace: namespace, Name: shared(role.Name)}
	}
	for _, s := range subjects {
		switch s.Kind {
		case rbacv1.UserKind:
			b.Subjects = append(b.Subjects, Subject{Name: shared(s.Name)})
		case rbacv1.GroupKind:
			b.Subjects = append(b.Subjects, Subject{Group: true, Name: shared(s.Name)})
		case rbacv1.ServiceAccountKind:
			// Without a namespace it is one of the binding's.
			if s.Namespace == "" {
				s.Namespace = namespace
			}
			if s.Namespace != "" {
				b.Subjects = append(b.Subjects, Subject{Name: shared("system:serviceaccount:" + s.Namespace + ":" + s.Name)})
			}
		}
	}
	return b
}

// shared returns a string that is equal, and one with those returned before, unless memory has been collected since.
func shared(s string) string { return unique.Make(s).Value() }
