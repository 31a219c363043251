package quota

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func list(of ...string) corev1.ResourceList {
	l := corev1.ResourceList{}
	for i := 0; i < len(of); i += 2 {
		l[corev1.ResourceName(of[i])] = resource.MustParse(of[i+1])
	}
	return l
}

func TestExceedingNamesOnlyWhatTheRequestIncreases(t *testing.T) {
	hard := list("pods", "3", "secrets", "5", "requests.cpu", "1", "services", "2")
	used := list("pods", "2", "secrets", "9", "requests.cpu", "500m", "services", "1")
	over := Exceeding(hard, used, list("pods", "2", "secrets", "0", "requests.cpu", "600m", "services", "1", "configmaps", "7"))
	want := `exceeded hierarchical quota in namespace "a": "all", requested: pods=2,requests.cpu=600m, used: pods=2,requests.cpu=500m, limited: pods=3,requests.cpu=1`
	if got := ExceededMessage("a", "all", over); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if over := Exceeding(hard, used, list("pods", "1", "secrets", "-1")); over != nil {
		t.Errorf("got %v, want nothing: the limit itself can be used, and use over it decreased", over)
	}
}
