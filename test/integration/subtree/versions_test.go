package subtree

import (
	"encoding/json"
	"strings"
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// TestEveryServedVersionOfAKindIsServed has somebody who may ask for one resource of the group: the version does not
// matter for that.
func TestEveryServedVersionOfAKindIsServed(t *testing.T) {
	root, _, leaf := tree(t, "versions")
	scaler := &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{"test": "a"}},
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			MaxReplicas: 3, ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "a"},
		},
	}
	_, err := admin.AutoscalingV2().HorizontalPodAutoscalers(leaf).Create(t.Context(), scaler, metav1.CreateOptions{})
	must(t, "scaler", err)
	reader := person(t, "versions")
	const kind = "autoscaling.horizontalpodautoscalers"
	reader.grant(t, root, ask, "list watch horizontalpodautoscalers.autoscaling")
	reader.grant(t, leaf, "list watch horizontalpodautoscalers.autoscaling")
	suite.EventuallyEqual(t, "preferred version", "versions-leaf/a", func() string { return reader.listed(t, kind, root, marked) })

	path := prefix + "/namespaces/" + root + "/" + kind + "?labelSelector=test&version="
	for version, field := range map[string]string{"v1": `"targetCPUUtilizationPercentage"`, "v2": `"metrics"`, "": `"metrics"`} {
		want := "autoscaling/" + version
		if version == "" {
			want = "autoscaling/v2"
		}
		text := reader.get(t, path+version, "application/json")
		var list metav1.PartialObjectMetadataList
		must(t, text, json.Unmarshal([]byte(text), &list))
		if list.APIVersion != want || list.Kind != "HorizontalPodAutoscalerList" || len(list.Items) != 1 || !strings.Contains(text, field) {
			t.Errorf("version %q: %s, want one object of %s with %s", version, text, want, field)
		}
		lines := make(chan string, 10)
		go reader.stream(t, path+version+"&watch=true", "application/json", lines)
		if line := <-lines; !strings.Contains(line, `"apiVersion":"`+want+`"`) || !strings.Contains(line, `"ADDED"`) {
			t.Errorf("version %q: the watch sends %s, want an object of %s", version, line, want)
		}
	}
	if text := reader.kubectl(t, "get", "--raw", path+"v2beta9"); !strings.Contains(text, `in version "v2beta9"; choose one of v2, v1`) {
		t.Errorf("%s, want NotFound with the served versions", text)
	}
	reader.grantAll(t, "list horizontalpodautoscalers.autoscaling", ask)
	cluster := prefix + "/" + kind + "?labelSelector=test&version=v1"
	suite.EventuallyEqual(t, "in the whole cluster", "autoscaling/v1", func() string {
		var list metav1.PartialObjectMetadataList
		_ = json.Unmarshal([]byte(reader.get(t, cluster, "application/json")), &list)
		return list.APIVersion
	})
}
