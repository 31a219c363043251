// Command argocd runs the cluster cache of Argo CD, and prints what happens to its resources as lines of JSON. It is a
// module of its own, because Argo CD requires libraries of another Kubernetes version. Usage: argocd KUBECONFIG, until
// the standard input ends.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/argoproj/gitops-engine/pkg/cache"
	"github.com/argoproj/gitops-engine/pkg/utils/kube"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
)

func main() {
	if err := run(os.Args[1], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// line is a resource of the cache: present, or gone. One without a key says that the cache is synchronized.
type line struct {
	Key, UID, Version string
	Gone              bool
}

func run(kubeconfig string, input io.Reader, output io.Writer) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	var lock sync.Mutex
	lines := json.NewEncoder(output)
	write := func(r *cache.Resource, gone bool) {
		lock.Lock()
		defer lock.Unlock()
		key := r.ResourceKey()
		version, _ := r.Info.(string)
		_ = lines.Encode(line{key.String(), string(r.Ref.UID), version, gone})
	}
	version := func(un *unstructured.Unstructured, _ bool) (any, bool) {
		return un.GetLabels()["app.kubernetes.io/version"], false
	}
	// As with resource.respectRBAC of Argo CD: kinds that the user may not list, such as nodes, are skipped.
	resources := cache.NewClusterCache(config, cache.SetPopulateResourceInfoHandler(version), cache.SetRespectRBAC(cache.RespectRbacNormal))
	resources.OnResourceUpdated(func(current, old *cache.Resource, _ map[kube.ResourceKey]*cache.Resource) {
		if current == nil {
			write(old, true)
		} else {
			write(current, false)
		}
	})
	if err := resources.EnsureSynced(); err != nil {
		return err
	}
	for _, r := range resources.FindResources("") {
		write(r, false)
	}
	lock.Lock()
	err = lines.Encode(line{})
	lock.Unlock()
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, input)
	return err
}
