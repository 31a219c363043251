package cluster

import (
	"encoding/json"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/object"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/reposync/plan"
)

// liveOf returns what the plan needs to know of an object.
func (c *Cluster) liveOf(m *metav1.PartialObjectMetadata) plan.Live {
	version, _ := strconv.ParseUint(m.ResourceVersion, 10, 64)
	live := plan.Live{UID: m.UID, Version: version, Managed: hashOf(m.ManagedFields), Terminating: m.DeletionTimestamp != nil}
	for i := range m.ManagedFields {
		fields := &m.ManagedFields[i]
		if fields.Manager == Manager(c.sync) && fields.Operation == metav1.ManagedFieldsOperationApply && fields.Subresource == "" && fields.FieldsV1 != nil {
			// Another client that writes as this field manager can change values without changing the set, but not without
			// changing the time; and in another API version, a set means other fields.
			live.Owned = hashOf(fields)
			live.Detached = m.Annotations[object.AnnotationDeletion] == object.DeletionDetach && ownsAnnotation(fields.FieldsV1, object.AnnotationDeletion)
		}
	}
	return live
}

// hashOf returns the hash of entries of field managers. One that is no JSON has another hash than one that is.
func hashOf(entries any) uint64 {
	content, _ := json.Marshal(entries)
	return plan.Hash(content)
}

// ownsAnnotation reports whether fields contain an annotation. One that somebody else has set does not decide what
// happens to the object.
func ownsAnnotation(fields *metav1.FieldsV1, key string) bool {
	var set struct {
		Metadata struct {
			Annotations map[string]json.RawMessage `json:"f:annotations"`
		} `json:"f:metadata"`
	}
	if json.Unmarshal(fields.GetRawBytes(), &set) != nil {
		return false
	}
	_, owned := set.Metadata.Annotations["f:"+key]
	return owned
}
