package apiserver

import (
	"context"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

func TestIsRebuilding(t *testing.T) {
	missing := apierrors.NewNotFound(hnc.Resource("hncconfigurations"), hnc.ConfigurationName)
	for name, test := range map[string]struct {
		system  bool
		known   string
		uid     types.UID
		err     error
		want    bool
		wantErr bool
	}{
		"no system namespace":  {false, "", "a", nil, false, false},
		"never propagated":     {true, "", "", missing, false, false},
		"the known store":      {true, "a", "a", nil, false, false},
		"an empty store":       {true, "a", "", missing, true, false},
		"another store":        {true, "a", "b", nil, true, false},
		"the store is failing": {true, "a", "", errors.New("failing"), false, true},
	} {
		t.Run(name, func(t *testing.T) {
			indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
			if test.system {
				ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: hnc.SystemNamespace}}
				if test.known != "" {
					ns.Annotations = map[string]string{hnc.AnnotationStore: test.known}
				}
				if err := indexer.Add(ns); err != nil {
					t.Fatal(err)
				}
			}
			got, err := isRebuilding(corelisters.NewNamespaceLister(indexer), func(context.Context) (types.UID, error) { return test.uid, test.err })(t.Context())
			if got != test.want || (err != nil) != test.wantErr {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
}
