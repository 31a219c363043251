package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/report"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/scope"
)

// kindFlags say from where the kinds of a repository are known.
type kindFlags struct {
	offline bool
	timeout time.Duration
}

func (f *kindFlags) add(flags *pflag.FlagSet) {
	flags.BoolVar(&f.offline, "no-api-server-check", false, "Ask no API server; warn about kinds that are known neither to Kubernetes, nor by the repository, nor by its "+scope.FileName)
	flags.DurationVar(&f.timeout, "api-server-timeout", 15*time.Second, "How long to wait for the API server")
}

// lookup returns the kinds that the repository's file tells and, unless offline, those that the cluster serves.
func (f *kindFlags) lookup(ctx context.Context, e *Environment, fsys fs.FS) (scope.Lookup, *report.Error, error) {
	told, problem := scope.FromFile(fsys)
	if problem != nil || f.offline {
		return told, problem, nil
	}
	served, err := e.servedKinds(ctx, f.timeout)
	if err != nil {
		return nil, nil, fmt.Errorf("the API server cannot be asked for its kinds: %w\nCheck without it by: --no-api-server-check", err)
	}
	return scope.Chain{told, served}, nil, nil
}

// servedKinds returns the kinds that the cluster serves. Those of API services that do not answer are missing, with a warning.
func (e *Environment) servedKinds(ctx context.Context, timeout time.Duration) (scope.Table, error) {
	config, err := e.flags.ToRESTConfig()
	if err != nil {
		return nil, err
	}
	config = rest.CopyConfig(config)
	config.Timeout = timeout
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	_, lists, err := client.ServerGroupsAndResourcesWithContext(ctx)
	var partial *discovery.ErrGroupDiscoveryFailed
	if errors.As(err, &partial) {
		e.warn("%v", err)
		err = nil
	}
	return scopesOf(lists), err
}

func scopesOf(lists []*metav1.APIResourceList) scope.Table {
	table := scope.Table{}
	for _, list := range lists {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			continue
		}
		for i := range list.APIResources {
			if r := &list.APIResources[i]; !strings.Contains(r.Name, "/") {
				table[schema.GroupKind{Group: version.Group, Kind: r.Kind}] = r.Namespaced
			}
		}
	}
	return table
}
