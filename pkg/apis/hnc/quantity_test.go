package hnc_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

func TestQuantitiesAreCheapToParseAndNumbers(t *testing.T) {
	for text, want := range map[string]string{
		`"5"`: "5", `5`: "5", `" 1.5Gi "`: "1536Mi", `"-2"`: "-2", `"1e3"`: "1e3", `"1E5"`: "100e3", `"1e-99"`: "1e-9", `"7E"`: "7E", `1e3`: "1e3",
		`"9223372036854775807"`: "9223372036854775807",

		`"1e-2147483647"`: "10E", `1e-2147483647`: "10E", `"1E-1000000000"`: "10E", `"  1e-1000000000  "`: "10E", `"-1e2147483647"`: "10E",
		`"12345678901234567890e1000000000"`: "10E", `"` + strings.Repeat("9", 1000000) + `e100000000"`: "10E", `"0.` + strings.Repeat("0", 1000000) + `1"`: "10E",

		`"x"`: "10E", `"1\u0030"`: "10E", `{}`: "10E", `["1"]`: "10E", `true`: "10E", `"1e"`: "10E", `"--1"`: "10E", `""`: "10E", `null`: "10E",
		`"-"`: "10E", `"+"`: "10E", `"."`: "10E", `"-."`: "10E", `"Ki"`: "10E", `"m"`: "10E", `"-m"`: "10E",
	} {
		t.Run(text[:min(len(text), 40)], func(t *testing.T) {
			got := make(chan string)
			go func() {
				list := hnc.ResourceList{"before": {}}
				if err := json.Unmarshal([]byte(`{"pods":`+text+`}`), &list); err != nil {
					t.Error(err)
				}
				quantity := list["pods"]
				got <- quantity.String()
			}()
			select {
			case quantity := <-got:
				if quantity != want {
					t.Errorf("got %s, want %s", quantity, want)
				}
			case <-time.After(10 * time.Second):
				t.Fatal("it is parsed for ever")
			}
		})
	}
}

// Server-side apply and strategic merge patches are decoded like that.
func TestUnstructuredQuantitiesAreNotParsedEither(t *testing.T) {
	object := map[string]any{
		"spec":   map[string]any{"hard": map[string]any{"pods": "1e-2147483647", "secrets": int64(3), "services": nil}},
		"status": map[string]any{"namespaces": []any{map[string]any{"namespace": "a", "used": map[string]any{"pods": "1e-2147483647"}}}},
	}
	done := make(chan error)
	q := &v1beta1.HierarchicalResourceQuota{}
	go func() { done <- runtime.DefaultUnstructuredConverter.FromUnstructured(object, q) }()
	select {
	case err := <-done:
		pods, secrets, used := q.Spec.Hard["pods"], q.Spec.Hard["secrets"], q.Status.Namespaces[0].Used["pods"]
		if got := fmt.Sprintf("%s %s %s", pods.String(), secrets.String(), used.String()); err != nil || got != "10E 3 10E" {
			t.Errorf("got %s, %v", got, err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("it is parsed for ever")
	}
	if err := json.Unmarshal([]byte(`{"hard": null}`), &q.Spec); err != nil || q.Spec.Hard != nil {
		t.Errorf("null leaves %v, %v", q.Spec.Hard, err)
	}
}

// Sums are stored, in records and in the status of quotas.
func TestExactSumsKeepTheirValue(t *testing.T) {
	for amount, times := range map[string]int{"7Ei": 2, "4Ei": 256, "10E": 100, "3Gi": 5, "500m": 3, "9223372036854775807": 1000} {
		quantity := resource.MustParse(amount)
		sum := quantity.DeepCopy()
		for range times - 1 {
			sum.Add(quantity)
		}
		exact := hnc.Exact(sum)
		parsed, err := resource.ParseQuantity(exact.String())
		if err != nil || parsed.Cmp(sum) != 0 {
			t.Errorf("%d times %s is written as %s, which is %v, %v", times, amount, exact.String(), parsed.AsDec(), err)
		}
	}
	if small := hnc.Exact(resource.MustParse("3Gi")); small.String() != "3Gi" {
		t.Errorf("3Gi is written as %s", small.String())
	}
}
