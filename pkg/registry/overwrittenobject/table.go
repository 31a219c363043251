package overwrittenobject

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/table"
)

// columns are the columns of kubectl get, between name and age.
var columns = []table.Column[hnc.OverwrittenObject]{
	{Name: "Overwritten By", Type: "string", Description: "The namespace of the source that replaced the object.",
		Cell: func(o *hnc.OverwrittenObject) any { return o.Spec.Source }},
	{Name: "Expires", Type: "date", Description: "When the record expires.",
		Cell: func(o *hnc.OverwrittenObject) any { return o.Spec.ExpirationTime.Format(time.RFC3339) }},
}

// ConvertToTable prints records.
func (r *REST) ConvertToTable(ctx context.Context, object, options runtime.Object) (*metav1.Table, error) {
	return r.store.ConvertToTable(ctx, object, options)
}
