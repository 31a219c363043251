package hnc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// compared are the resources that a migration must not change, but for metadata of tools.
var compared = []schema.GroupVersionResource{
	{Version: "v1", Resource: "namespaces"},
	{Version: "v1", Resource: "configmaps"},
	{Version: "v1", Resource: "secrets"},
	{Version: "v1", Resource: "limitranges"},
	{Version: "v1", Resource: "serviceaccounts"},
	{Version: "v1", Resource: "services"},
	{Version: "v1", Resource: "resourcequotas"},
	{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "roles"},
	{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "rolebindings"},
	{Group: "networking.k8s.io", Version: "v1", Resource: "networkpolicies"},
	{Group: "example.com", Version: "v1", Resource: "widgets"},
	{Group: "example.com", Version: "v1", Resource: "gizmos"},
}

// identities returns the identities and contents of namespaces and of the objects in them.
func identities(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, resource := range compared {
		list, err := admin.Dynamic.Resource(resource).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range list.Items {
			o := &list.Items[i]
			namespace := o.GetNamespace()
			if resource.Resource == "namespaces" {
				namespace = o.GetName()
			}
			if strings.HasPrefix(namespace, "kube-") || strings.HasSuffix(namespace, "-system") || namespace == metav1.NamespaceDefault {
				continue
			}
			found[resource.Resource+" "+o.GetNamespace()+"/"+o.GetName()] = fmt.Sprint(o.GetUID(), " ", content(t, o))
		}
	}
	return found
}

// content returns what HNC and hns make the same of an object.
func content(t *testing.T, o *unstructured.Unstructured) string {
	t.Helper()
	kept := map[string]any{}
	maps.Copy(kept, o.Object)
	for _, field := range []string{"apiVersion", "kind", "metadata", "status"} {
		delete(kept, field)
	}
	switch o.GetKind() {
	case "Namespace":
		labels := map[string]string{}
		for key, value := range o.GetLabels() {
			// HNC leaves its labels on a namespace that is excluded later on.
			if strings.HasSuffix(key, hnc.LabelTreeSuffix) && o.GetName() != excluded || strings.HasPrefix(key, "cost.example.com/") {
				labels[key] = value
			}
		}
		kept = map[string]any{"labels": labels, "of": o.GetAnnotations()[hnc.AnnotationSubnamespaceOf], "mail": o.GetAnnotations()["contact.example.com/mail"]}
	case "ResourceQuota":
		// Limits of kinds that are propagated are not in force.
		o = o.DeepCopy()
		for _, resource := range []string{"configmaps", "secrets"} {
			unstructured.RemoveNestedField(o.Object, "spec", "hard", resource)
		}
		kept = map[string]any{"spec": o.Object["spec"]}
	default:
		kept["from"] = o.GetLabels()[hnc.LabelInheritedFrom]
	}
	text, err := json.Marshal(kept)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// settled returns the identities when nothing has changed for some seconds.
func settled(t *testing.T) map[string]string {
	t.Helper()
	now := identities(t)
	since := time.Now()
	suite.Eventually(t, "nothing changes any more", func() error {
		next := identities(t)
		if !maps.Equal(now, next) {
			now, since = next, time.Now()
		}
		if time.Since(since) < 5*time.Second {
			return errors.New("something has just changed")
		}
		return nil
	})
	return now
}

// same checks that everything is as it was. There may be more.
func same(t *testing.T, first, now map[string]string) {
	t.Helper()
	for name, was := range first {
		if now[name] != was {
			t.Errorf("%s was %s, and is %s", name, was, now[name])
		}
	}
}

// readAsOldClients lists HNC's kinds all the time. No list may fail.
func readAsOldClients(t *testing.T) (stop func()) {
	t.Helper()
	kinds := []string{hierarchies.Resource, "subnamespaceanchors", "hncconfigurations"}
	if since(t, "1.1") {
		kinds = append(kinds, "hierarchicalresourcequotas")
	}
	ctx, cancel := context.WithCancel(t.Context())
	var reading sync.WaitGroup
	var problems []string
	lists := 0
	reading.Go(func() {
		wait.UntilWithContext(ctx, func(ctx context.Context) {
			for _, kind := range kinds {
				if _, err := admin.Dynamic.Resource(hierarchies.GroupVersion().WithResource(kind)).List(ctx, metav1.ListOptions{}); err != nil && ctx.Err() == nil {
					problems = append(problems, time.Now().Format(time.TimeOnly)+" "+err.Error())
				}
				lists++
			}
		}, 100*time.Millisecond)
	})
	return func() {
		t.Helper()
		cancel()
		reading.Wait()
		t.Logf("%d lists", lists)
		if len(problems) > 0 {
			t.Errorf("%d of %d lists failed:\n%s", len(problems), lists, strings.Join(problems[:min(20, len(problems))], "\n"))
		}
	}
}
