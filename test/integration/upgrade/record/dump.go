package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
)

// registry is where kube-apiserver keeps its objects.
const registry = "/registry"

func (w *world) stop(process string) {
	if w.err == nil {
		w.err = w.cp.StopProcess(w.ctx, process)
	}
}

// dump writes testdata once nothing is written any more: a line for each key, with the object as JSON.
func (w *world) dump() error {
	client, err := etcd(w.cp)
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }()
	if err := w.quiet(client); err != nil {
		return err
	}
	for _, process := range []string{"hnc-propagator", "hnc-apiserver"} {
		w.stop(process)
	}
	if w.err != nil {
		return w.err
	}
	if err := os.MkdirAll(testdata, 0o750); err != nil {
		return err
	}
	return errors.Join(w.dumpStore(client), w.dumpCore())
}

// quiet returns when nothing of ours was written for some seconds.
func (w *world) quiet(client *clientv3.Client) error {
	seen, since := int64(0), time.Now()
	return wait.PollUntilContextTimeout(w.ctx, time.Second, time.Minute, true, func(ctx context.Context) (bool, error) {
		for _, prefix := range []string{controlplane.EtcdPrefix, registry + "/namespaces/", registry + "/rolebindings/"} {
			answer, err := client.Get(ctx, prefix, clientv3.WithPrefix(), clientv3.WithSort(clientv3.SortByModRevision, clientv3.SortDescend), clientv3.WithLimit(1))
			if err != nil {
				return false, err
			}
			if last := answer.Kvs[0].ModRevision; last > seen {
				seen, since = last, time.Now()
			}
		}
		return time.Since(since) > 5*time.Second, nil
	})
}

func etcd(cp *controlplane.ControlPlane) (*clientv3.Client, error) {
	access, err := cp.Etcd()
	if err != nil {
		return nil, err
	}
	tls, err := access.TLS()
	if err != nil {
		return nil, err
	}
	return clientv3.New(clientv3.Config{Endpoints: access.Endpoints, TLS: tls})
}

// dumpStore writes our keys: objects and edges.
func (w *world) dumpStore(client *clientv3.Client) error {
	answer, err := client.Get(w.ctx, controlplane.EtcdPrefix+"/", clientv3.WithPrefix())
	if err != nil {
		return err
	}
	var out bytes.Buffer
	for _, kv := range answer.Kvs {
		object := map[string]any{}
		if err := json.Unmarshal(kv.Value, &object); err != nil {
			return fmt.Errorf("%s: %w", kv.Key, err)
		}
		if err := line(&out, string(kv.Key), object); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(testdata, "store.jsonl"), out.Bytes(), 0o600)
}

// dumpCore writes the namespaces and what states and propagation have put in them, under the keys that kube-apiserver has for them.
func (w *world) dumpCore() error {
	var out bytes.Buffer
	for _, resource := range []string{"clusterroles", "clusterrolebindings", "namespaces", "roles", "rolebindings", "secrets", "networkpolicies", "resourcequotas"} {
		client := w.client(root, resource, "")
		if w.err != nil {
			return w.err
		}
		list, err := client.List(w.ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, object := range list.Items {
			if !made(resource, &object) {
				continue
			}
			if err := line(&out, path.Join(registry, resource, object.GetNamespace(), object.GetName()), object.Object); err != nil {
				return err
			}
		}
	}
	return os.WriteFile(filepath.Join(testdata, "core.jsonl"), out.Bytes(), 0o600)
}

// made says whether the object is there because of a state.
func made(resource string, object *unstructured.Unstructured) bool {
	name, in := object.GetName(), object.GetNamespace()
	switch {
	case strings.HasPrefix(resource, "clusterrole"):
		return name == "namespace-editor" || name == "namespace-creator" || name == "quota-controller"
	case resource == "namespaces":
		in = name
	}
	return in != "default" && !strings.HasPrefix(in, "kube-") && (in != "hnc-system" || resource == "namespaces")
}

// line writes one line without what is noise: who has written which field, and versions, which etcd gives anew.
func line(out *bytes.Buffer, key string, object map[string]any) error {
	if metadata, ok := object["metadata"].(map[string]any); ok {
		for _, noise := range []string{"managedFields", "resourceVersion", "selfLink"} {
			delete(metadata, noise)
		}
	}
	encoded, err := json.Marshal(map[string]any{"key": key, "value": object})
	out.Write(encoded)
	out.WriteByte('\n')
	return err
}
