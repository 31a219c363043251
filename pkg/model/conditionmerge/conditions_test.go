package conditionmerge

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestMessagesOfConditionsAreBounded(t *testing.T) {
	merged := Merge(nil, []metav1.Condition{{Type: "Ready", Message: strings.Repeat("x", 1<<20)}}, 1, metav1.Now())
	if n := len(merged[0].Message); n > maxMessage || n < maxMessage/2 {
		t.Errorf("a message of %d bytes", n)
	}
	if again := Merge(merged, merged, 1, metav1.Now()); !Same(again, merged) {
		t.Error("a bounded message changes")
	}
}
