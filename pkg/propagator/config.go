package propagator

import (
	"context"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/record"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/clientset/versioned"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/configrules"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/client"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/controller/configuration"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/controller/quota"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/controller/restore"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/metrics"
)

// Config is what a Manager needs. All fields without a default must be set.
type Config struct {
	Kubernetes kubernetes.Interface
	Hierarchy  versioned.Interface
	// Reader watches the propagated kinds that it can read, and reads RoleBindings; Dynamic watches all others; Copies
	// writes them. Without a Reader, no Role is written to a namespace that has RoleBindings.
	Reader  *client.Reader
	Dynamic dynamic.Interface
	Copies  copies.Client
	Events  record.EventRecorder
	Metrics *metrics.Metrics

	// Metadata watches what announces other kinds.
	Metadata metadata.Interface
	// Discover returns the kinds that the cluster has.
	Discover func(context.Context) (configuration.Cluster, error)

	// InForce are the rules of the configuration that the Manager applies; the default ones by default.
	InForce *configrules.Rules
	// Initial is the spec of the configuration that is created if there is none.
	Initial v1beta1.HNCConfigurationSpec
	// InheritPodSecurity gives sub-namespaces the Pod Security labels of their parents.
	InheritPodSecurity bool
	// QuotaEnforcement is how the sums of hierarchical quotas are limited; quota.Reserve by default.
	QuotaEnforcement quota.Mode
	// Workers is how many writes are made at a time, and once more as many for new sub-namespaces; 32 by default.
	Workers int
	// StatusWindow is how long changes of a Hierarchy's status are collected before it is written; 100 ms by default. A
	// growing list of children is written once in ten windows.
	StatusWindow time.Duration
	// ConfigurationWindow is the same for the configuration's status; 1 s by default.
	ConfigurationWindow time.Duration

	// Assumed is hnc.TrustHierarchies or hnc.TrustNamespaces for a Manager whose writes are dry runs: it does not pause
	// when the hierarchies and the cluster may be of different times.
	Assumed string

	// store is shared by the Managers of a Runner; a new one by default.
	store *restore.Store
}

func (c *Config) complete() {
	if c.InForce == nil {
		c.InForce = configrules.Default()
	}
	if c.store == nil {
		c.store = restore.NewStore(c.Kubernetes, c.Hierarchy, c.Initial)
	}
	if c.QuotaEnforcement == "" {
		c.QuotaEnforcement = quota.Reserve
	}
	if c.Workers <= 0 {
		c.Workers = 32
	}
	if c.StatusWindow <= 0 {
		c.StatusWindow = 100 * time.Millisecond
	}
	if c.ConfigurationWindow <= 0 {
		c.ConfigurationWindow = time.Second
	}
}
