package wire

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Object is an object of which only some metadata is decoded; see DecodeMetadata.
type Object struct {
	metav1.ObjectMeta
	Format *Format
	// Type is that of a Secret.
	Type string
	// Role is the name of the Role that a RoleBinding refers to, "" if it refers to a ClusterRole.
	Role string
	// Rest is the object without its metadata and its status.
	Rest []byte
}

// GetObjectKind returns nothing: callers request objects of one kind.
func (*Object) GetObjectKind() schema.ObjectKind { return schema.EmptyObjectKind }

// DeepCopyObject returns a copy.
func (o *Object) DeepCopyObject() runtime.Object {
	c := *o
	c.ObjectMeta = *o.DeepCopy()
	c.Rest = append([]byte(nil), o.Rest...)
	return &c
}

// decodeRole returns the name in a RoleRef that refers to a Role, "" if it does not.
func decodeRole(roleRef Field) (string, error) {
	value, err := roleRef.bytes()
	if err != nil {
		return "", err
	}
	var kind, name string
	err = Each(value, func(f Field) (err error) {
		switch f.Number {
		case 2:
			kind, err = f.string()
		case 3:
			name, err = f.string()
		}
		return err
	})
	if kind != "Role" {
		return "", err
	}
	return name, err
}

// decodeObject returns the object in a message, and keeps no reference to the message.
func decodeObject(message []byte, format *Format) (*Object, error) {
	o := &Object{Format: format}
	err := Each(message, func(f Field) (err error) {
		switch f.Number {
		case metadata:
			var value []byte
			if value, err = f.bytes(); err != nil {
				return err
			}
			if err = decodeMetadata(value, &o.ObjectMeta); err != nil {
				return fmt.Errorf("metadata: %w", err)
			}
			return nil
		case format.status:
			return nil
		case format.kind:
			o.Type, err = f.string()
		case format.roleRef:
			o.Role, err = decodeRole(f)
		}
		if o.Rest == nil {
			// The remaining fields are little more than the rest: metadata comes first.
			o.Rest = make([]byte, 0, len(f.Raw))
		}
		o.Rest = append(o.Rest, f.Raw...)
		return err
	})
	return o, err
}
