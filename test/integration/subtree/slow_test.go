package subtree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// Clients that read nothing from their watches: each event is so large that a few of them fill all buffers in between.
// Everybody else's watch has each event before the next write; theirs end before the last event.
func TestSlowWatchersAreDisconnectedAndDelayNobody(t *testing.T) {
	const slow, changes = 10, 300
	root, _, leaf := tree(t, "slow")
	// The annotations of a Hierarchy have 64 KiB.
	large := strings.Repeat("x", 60_000)
	_, err := admin.CoreV1().ConfigMaps(leaf).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "large"}}, metav1.CreateOptions{})
	must(t, "config map", err)
	for name, each := range map[string]struct {
		path   string
		watch  func(context.Context) (watch.Interface, error)
		change func(context.Context, []byte) error
	}{
		"hierarchies": {
			path: "/apis/hnc.x-k8s.io/v1beta1/namespaces/" + leaf + "/hierarchies",
			watch: func(ctx context.Context) (watch.Interface, error) {
				return admin.HNC.HncV1beta1().Hierarchies(leaf).Watch(ctx, metav1.ListOptions{})
			},
			change: func(ctx context.Context, patch []byte) error {
				_, err := admin.HNC.HncV1beta1().Hierarchies(leaf).Patch(ctx, hnc.Singleton, types.MergePatchType, patch, metav1.PatchOptions{})
				return err
			},
		},
		"config maps of a subtree": {
			path: prefix + "/namespaces/" + root + "/configmaps",
			watch: func(ctx context.Context) (watch.Interface, error) {
				return admin.Dynamic.Resource(ours("configmaps")).Namespace(root).Watch(ctx, metav1.ListOptions{})
			},
			change: func(ctx context.Context, patch []byte) error {
				_, err := admin.CoreV1().ConfigMaps(leaf).Patch(ctx, "large", types.MergePatchType, patch, metav1.PatchOptions{})
				return err
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var bodies []io.ReadCloser
			for range slow {
				bodies = append(bodies, slowWatch(t, each.path))
			}
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			w, err := each.watch(ctx)
			must(t, "watch", err)
			defer w.Stop()
			for i := range changes {
				number := fmt.Sprintf("number-%d-", i)
				must(t, "change", each.change(ctx, fmt.Appendf(nil, `{"metadata":{"annotations":{"example.com/large":%q}}}`, number+large)))
				for seen := false; !seen; {
					event, open := <-w.ResultChan()
					if !open || event.Type == watch.Error {
						t.Fatalf("the watch that is read has ended before change %d: %v", i, event.Object)
					}
					object, err := meta.Accessor(event.Object)
					must(t, "object", err)
					seen = strings.HasPrefix(object.GetAnnotations()["example.com/large"], number)
				}
			}
			last := fmt.Appendf(nil, "number-%d-", changes-1)
			var reading sync.WaitGroup
			for _, body := range bodies {
				reading.Go(func() {
					read, err := io.ReadAll(body)
					// It may end within the event that it is writing, which is not kept for it.
					if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
						t.Errorf("a slow watch has ended with %v", err)
					}
					if len(read) == 0 || bytes.Contains(read, last) {
						t.Errorf("a slow watch had %d bytes, the last event among them: %t", len(read), bytes.Contains(read, last))
					}
				})
			}
			reading.Wait()
		})
	}
}

// slowWatch opens a watch at hns-apiserver itself, by a connection with small buffers, of which nothing is read but the
// header.
func slowWatch(t *testing.T, path string) io.ReadCloser {
	t.Helper()
	port, err := cp.Port("hns-apiserver")
	must(t, "port", err)
	config := rest.CopyConfig(admin.Config)
	// Its certificate is for its service.
	config.Insecure, config.CAData, config.CAFile = true, nil, ""
	client, err := suite.SlowClient(config)
	must(t, "client", err)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, fmt.Sprintf("https://127.0.0.1:%d%s?watch=true&timeoutSeconds=600", port, path), nil)
	must(t, "request", err)
	response, err := client.Do(request)
	must(t, "slow watch", err)
	t.Cleanup(func() { _ = response.Body.Close() })
	if response.StatusCode != http.StatusOK {
		t.Fatalf("slow watch: %s", response.Status)
	}
	return response.Body
}
