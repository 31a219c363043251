package mapping

import (
	"strings"
	"testing"
)

// TestEverySelectorCanBeWrittenBack goes through all selectors of up to four requirements that matter.
func TestEverySelectorCanBeWrittenBack(t *testing.T) {
	m := testMapper()
	kinds := []string{
		`{"key":"acme.tree.hnc.x-k8s.io/depth","operator":"Exists"}`,
		`{"key":"view.hnc.x-k8s.io/unconfined","operator":"DoesNotExist"}`,
		`{"key":"kubernetes.io/metadata.name","operator":"In","values":["acme-prod","argocd"]}`,
		`{"key":"kubernetes.io/metadata.name","operator":"NotIn","values":["acme"]}`,
		`{"key":"acme.tree.hnc.x-k8s.io/depth","operator":"In","values":["1"]}`,
	}
	policy := kindOf("networking.k8s.io/v1", "NetworkPolicy")
	check := func(selector string) {
		stored := `{"spec":{"ingress":[{"from":[{"namespaceSelector":` + selector + `}]}]}}`
		shown, err := m.Object(Out, policy, []byte(stored))
		if err != nil {
			t.Fatal(err)
		}
		back, err := m.Object(In, policy, shown)
		if err != nil || string(back) != stored {
			t.Errorf("%s\nis shown as %s\nand written back as %s, %v", stored, shown, back, err)
		}
		// What a view writes is confined, unless it says or names otherwise.
		if strings.Contains(selector, "kubernetes.io/metadata.name") || strings.Contains(selector, "unconfined") {
			return
		}
		written, err := m.Object(In, policy, []byte(strings.ReplaceAll(stored, "acme.tree", "default.tree")))
		if err != nil || !strings.Contains(string(written), kinds[0]) {
			t.Errorf("%s is written as %s, %v", stored, written, err)
		}
	}
	for _, labels := range []string{``, `"matchLabels":{"a":"b"}`, `"matchLabels":{"kubernetes.io/metadata.name":"acme"}`} {
		check(`{` + labels + `}`)
		var all func(prefix string, left int)
		all = func(prefix string, left int) {
			for _, kind := range kinds {
				list := strings.TrimPrefix(prefix+","+kind, ",")
				separator := ""
				if labels != "" {
					separator = ","
				}
				check(`{` + labels + separator + `"matchExpressions":[` + list + `]}`)
				if left > 1 {
					all(list, left-1)
				}
			}
		}
		all("", 4)
	}
}
