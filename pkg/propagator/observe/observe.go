// Package observe runs the propagator without letting it write: each write is sent as a dry run, which the API server
// validates and does not store. So it reports what a propagator would write in a cluster, decided by its own code, with
// its own permissions.
package observe

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"
	basemetrics "k8s.io/component-base/metrics"
	"k8s.io/klog/v2"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/metrics"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/options"
)

const (
	// quiet is how long the propagator must have had nothing to do until the report is complete. It is longer than the
	// windows in which it collects changes of statuses.
	quiet = 3 * time.Second
	// timeout limits how long that may take.
	timeout = 10 * time.Minute
)

// Run returns what a propagator with the command line args would write in the cluster that config leads to. The
// configuration should have the propagator's identity, because admission policies and permissions depend on it. If the
// store and the cluster appear to come from different backups, trust says what is right, hnc.TrustHierarchies or
// hnc.TrustNamespaces; with "", it is what the propagator would decide.
func Run(ctx context.Context, config *rest.Config, args []string, trust string) (*Report, error) {
	o := options.New()
	flags := pflag.NewFlagSet(hnc.PropagatorName, pflag.ContinueOnError)
	flags.ParseErrorsAllowlist.UnknownFlags = true
	o.AddFlags(flags)
	if err := flags.Parse(args); err != nil {
		return nil, fmt.Errorf("arguments of %s: %w", hnc.PropagatorName, err)
	}
	report := newReport()
	config = rest.CopyConfig(config)
	config.Wrap(report.wrap)
	// The report says everything.
	config.WarningHandler = rest.NoWarnings{}
	// The zero logger discards.
	ctx = klog.NewContext(ctx, klog.Logger{})
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	managerConfig, stopEvents, err := options.ManagerConfig(ctx, config, nil)
	if err != nil {
		return nil, err
	}
	stopEvents()
	if err := o.Configure(&managerConfig); err != nil {
		return nil, err
	}
	managerConfig.Assumed = trust
	managerConfig.Events = &record.FakeRecorder{}
	managerConfig.Metrics = metrics.New(func(...basemetrics.Registerable) {}, true)
	m := propagator.NewRunner(managerConfig)
	m.Watch(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		m.Lead(ctx)
	}()
	err = wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, timeout, false, func(context.Context) (bool, error) { return m.Idle(quiet), m.Lost() })
	cancel()
	<-done
	if wait.Interrupted(err) {
		err = errors.Join(fmt.Errorf("after %s the propagator still computes what to write", timeout), m.Synced(nil))
	}
	return report, err
}
