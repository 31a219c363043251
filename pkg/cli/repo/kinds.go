package repo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/kindscope"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/report"
)

// defaultServerTimeout is how long the API server may take to return its kinds.
const defaultServerTimeout = 15 * time.Second

// kindFlags are the flags that select the sources of the kinds' scopes.
type kindFlags struct {
	offline bool
	timeout time.Duration
}

func (k *kindFlags) add(flags *pflag.FlagSet) {
	flags.BoolVar(&k.offline, "no-api-server-check", false, "Do not contact an API server; warn about kinds that neither Kubernetes, nor the repository, nor its "+kindscope.FileName+" defines")
	flags.DurationVar(&k.timeout, "api-server-timeout", defaultServerTimeout, "How long to wait for the API server")
}

// lookup returns the kinds of the repository's file and, unless offline, those that the cluster serves.
func (k *kindFlags) lookup(ctx context.Context, f *cli.Factory, errOut io.Writer, fsys fs.FS) (kindscope.Lookup, *report.Error, error) {
	listed, problem := kindscope.FromFile(fsys)
	if problem != nil || k.offline {
		return listed, problem, nil
	}
	served, err := servedKinds(ctx, f, errOut, k.timeout)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot read the kinds of the API server: %w\nTo check without it: --no-api-server-check", err)
	}
	return kindscope.Chain{listed, served}, nil, nil
}

// servedKinds returns the kinds that the cluster serves. Those of API services that do not answer are missing, with a
// warning.
func servedKinds(ctx context.Context, f *cli.Factory, errOut io.Writer, timeout time.Duration) (kindscope.Table, error) {
	config, err := f.Flags.ToRESTConfig()
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
		cli.Warnf(errOut, "%v", err)
		err = nil
	}
	return scopesOf(lists), err
}

func scopesOf(lists []*metav1.APIResourceList) kindscope.Table {
	table := kindscope.Table{}
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
