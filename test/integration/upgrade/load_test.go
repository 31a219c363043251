package upgrade

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// entry is a line of testdata: a key of etcd, and the object under it.
type entry struct {
	Key   string          `json:"key"`
	Value json.RawMessage `json:"value"`
}

// load writes testdata to etcd as it is, so that UIDs and times are those that were recorded.
func load(ctx context.Context) ([]entry, error) {
	access, err := cp.Etcd()
	if err != nil {
		return nil, err
	}
	tls, err := access.TLS()
	if err != nil {
		return nil, err
	}
	client, err := clientv3.New(clientv3.Config{Endpoints: access.Endpoints, TLS: tls})
	if err != nil {
		return nil, err
	}
	defer func() { _ = client.Close() }()
	var entries []entry
	for _, file := range []string{"testdata/store.jsonl", "testdata/core.jsonl"} {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
			var e entry
			if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			if _, err := client.Put(ctx, e.Key, string(e.Value)); err != nil {
				return nil, err
			}
			entries = append(entries, e)
		}
	}
	return entries, nil
}

// object is what shows whether something was deleted, made again or written.
type object struct {
	uid         types.UID
	version     string
	copied      bool
	terminating bool
}

// present returns all objects in the recorded namespaces, and these, by resource, namespace and name.
func present(ctx context.Context) (map[string]object, error) {
	found := map[string]object{}
	for _, r := range []schema.GroupVersionResource{
		{Version: "v1", Resource: "namespaces"},
		{Version: "v1", Resource: "secrets"},
		{Version: "v1", Resource: "resourcequotas"},
		{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "roles"},
		{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "rolebindings"},
		{Group: "networking.k8s.io", Version: "v1", Resource: "networkpolicies"},
		{Group: "hnc.x-k8s.io", Version: "v1beta1", Resource: "hierarchies"},
		{Group: "hnc.x-k8s.io", Version: "v1beta1", Resource: "subnamespaces"},
	} {
		list, err := root.Dynamic.Resource(r).List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, err
		}
		for _, o := range list.Items {
			if system(&o) {
				continue
			}
			found[strings.Join([]string{r.Resource, o.GetNamespace(), o.GetName()}, "/")] = object{
				o.GetUID(), o.GetResourceVersion(), o.GetLabels()["hnc.x-k8s.io/inherited-from"] != "", o.GetDeletionTimestamp() != nil,
			}
		}
	}
	return found, nil
}

// system says whether an object is not part of what was recorded.
func system(o *unstructured.Unstructured) bool {
	in := o.GetNamespace()
	if in == "" {
		in = o.GetName()
	}
	return in == "default" || in == "hnc-system" || strings.HasPrefix(in, "kube-")
}
