package hierarchyplan

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/quota"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/treerules"
)

func TestExceededQuotasAreBoundedAndOnlyThoseThatTheRequesterMayGet(t *testing.T) {
	var exceeded []treerules.ExceededQuota
	for i := range 120 {
		e := treerules.ExceededQuota{Namespace: "a", Name: fmt.Sprintf("q-%03d", i)}
		for j := range 9 {
			e.Over = append(e.Over, quota.Excess{Resource: corev1.ResourceName(fmt.Sprintf("r-%d", j)), Requested: resource.MustParse("1"), Limit: resource.MustParse("0")})
		}
		exceeded = append(exceeded, e)
	}
	exceeded[0].Namespace = "hidden"
	rows, omitted := visibleQuotas(exceeded, func(namespace, _ string) bool { return namespace != "hidden" })
	if len(rows) != maxExceededQuotas || omitted != 120*9-maxExceededQuotas {
		t.Errorf("%d rows, %d omitted; want %d of %d", len(rows), omitted, maxExceededQuotas, 120*9)
	}
	if rows[0].Name != "q-001" || rows[0].Resource != "r-0" || rows[999].Name != "q-112" {
		t.Errorf("from %+v to %+v", rows[0], rows[999])
	}
}
