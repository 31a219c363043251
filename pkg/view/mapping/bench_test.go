package mapping

import (
	"bytes"
	"encoding/json"
	"io"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// podList returns a list of Pods as kube-apiserver sends it, about 3 KiB each.
func podList(b *testing.B, count int) []byte {
	pod := corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "web-0", Namespace: "acme-prod", Labels: map[string]string{"app": "web"}, ManagedFields: []metav1.ManagedFieldsEntry{
			{Manager: "kube-controller-manager", Operation: "Update", FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(
				`{"f:metadata":{"f:labels":{".":{},"f:app":{}},"f:ownerReferences":{".":{},"k:{\"uid\":\"0a57b5ac\"}":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"web\"}":{".":{},"f:image":{},"f:name":{}}}}}`)}}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "web:1", Env: make([]corev1.EnvVar, 40)}}},
	}
	for i := range pod.Spec.Containers[0].Env {
		pod.Spec.Containers[0].Env[i] = corev1.EnvVar{Name: "VARIABLE", Value: "a value of some length, as they are"}
	}
	list := corev1.PodList{TypeMeta: metav1.TypeMeta{Kind: "PodList", APIVersion: "v1"}}
	for range count {
		list.Items = append(list.Items, pod)
	}
	text, err := json.Marshal(list)
	if err != nil {
		b.Fatal(err)
	}
	return text
}

func BenchmarkResponseOf500Pods(b *testing.B) {
	list, m := podList(b, 500), testMapper()
	b.SetBytes(int64(len(list)))
	b.ReportAllocs()
	for b.Loop() {
		if err := m.Response(kindOf("v1", "Pod"), true, bytes.NewReader(list), io.Discard); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRequestOfAPod(b *testing.B) {
	list, m := podList(b, 1), testMapper()
	var items struct{ Items []json.RawMessage }
	if err := json.Unmarshal(list, &items); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(items.Items[0])))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := m.Request("application/json", kindOf("v1", "Pod"), items.Items[0]); err != nil {
			b.Fatal(err)
		}
	}
}
