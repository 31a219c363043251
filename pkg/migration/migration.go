package migration

import (
	"context"
	"errors"
	"fmt"
	"io"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/clientset/versioned"
)

// Options are the choices of a migration.
type Options struct {
	// Out receives a line for each step, and what it has found.
	Out io.Writer
	// File is where HNC's objects are exported to.
	File string
	// SkipRejected leaves out the objects that the API server rejects, instead of ending the migration before it
	// changes anything.
	SkipRejected bool
	// NoGrant leaves the permissions of hns-propagator as they are. Otherwise it is granted those on the configured
	// kinds.
	NoGrant bool
	// KeepTracking leaves the metadata in copies by which tools track their objects.
	KeepTracking bool
	// DryRun reports what would be done, and changes nothing.
	DryRun bool
	// Confirm asks the user a question. It returns ErrNotConfirmed if the answer is not yes, or why there is none.
	Confirm func(question string) error
}

// ErrNotConfirmed is the result of a migration that the user has ended at a question.
var ErrNotConfirmed = errors.New("not confirmed; answer yes, or give --yes")

// Migration is the migration of one cluster. It is for one call of Run or Rollback.
type Migration struct {
	Options
	*clients
	user   string
	state  *state
	export *export
}

// clients are the clients of the cluster.
type clients struct {
	config    *rest.Config
	kube      kubernetes.Interface
	hierarchy versioned.Interface
	// propagator acts as hns-propagator, which creates Subnamespaces without waiting for itself.
	propagator versioned.Interface
	dynamic    dynamic.Interface
	// keepTracking makes the imported rules those of Options.KeepTracking.
	keepTracking bool
}

// New returns the migration of the cluster that a configuration of clients leads to.
func New(config *rest.Config, options Options) (*Migration, error) {
	// The dry run of the import warns about copies of each namespace that becomes a root, although none will be
	// removed.
	config = rest.CopyConfig(config)
	config.WarningHandler = rest.NoWarnings{}
	c := &clients{config: config, keepTracking: options.KeepTracking}
	var err error
	if c.kube, err = kubernetes.NewForConfig(config); err != nil {
		return nil, err
	}
	if c.hierarchy, err = versioned.NewForConfig(config); err != nil {
		return nil, err
	}
	if c.propagator, err = versioned.NewForConfig(asPropagator(config)); err != nil {
		return nil, err
	}
	c.dynamic, err = dynamic.NewForConfig(config)
	return &Migration{Options: options, clients: c}, err
}

// asPropagator returns the configuration with the identity of hns-propagator.
func asPropagator(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.Impersonate = rest.ImpersonationConfig{UserName: hnc.PropagatorUser}
	return config
}

// step is a part of the migration. It can be repeated after an interruption at any point.
type step struct {
	name, title string
	run         func(context.Context) error
}

func (m *Migration) steps() []step {
	return []step{
		{"freeze", "reject changes of the hierarchies by others", func(ctx context.Context) error { return m.freeze(ctx, m.user) }},
		{"webhooks", "remove HNC's webhooks", m.removeWebhooks},
		{"stop", "stop HNC", m.stop},
		{"export", "export HNC's objects to " + m.File, m.whileStopped(m.writeExport)},
		{"import", "import them into hns-apiserver", m.whileStopped(m.importAll)},
		{"finalizers", "remove HNC's finalizers", m.whileStopped(m.removeFinalizers)},
		{"switch", "serve " + hnc.GroupName + "/" + version + " from hns-apiserver", m.whileStopped(m.switchServices)},
		{"verify", "compare what is served with the export", m.whileStopped(m.verify)},
		{"preview", "compute what hns-propagator will write", m.whileStopped(m.preview)},
		{"definitions", "delete HNC's definitions; a rollback needs the export from here on", m.whileStopped(m.deleteDefinitions)},
		{"unfreeze", "allow changes again", m.finish},
	}
}

// Run migrates the cluster, or continues a migration that was interrupted. Errors before the first step mean that
// nothing was changed.
func (m *Migration) Run(ctx context.Context) error {
	if err := m.checkPermissions(ctx); err != nil {
		return err
	}
	var err error
	if m.state, err = loadState(ctx, m.clients); err != nil {
		return err
	}
	if m.state != nil && m.state.stored.Data[hnc.MigrationRollingBack] != "" {
		return errors.New("a rollback has begun; repeat kubectl hns migrate rollback to complete it, then migrate again")
	}
	steps := m.steps()
	// The last step is repeated until the state is deleted.
	begin := min(m.state.position(steps), len(steps)-1)
	switch {
	case steps[begin].name == "import":
		begin-- // HNC's objects may have been changed, because they were rejected.
	case steps[begin].name == "definitions" && m.state.stored.Data[hnc.MigrationDeleting] == "":
		begin-- // What hns-propagator will write may be something else than what was confirmed.
	}
	if err := m.check(ctx, begin); err != nil {
		return err
	}
	if m.DryRun {
		return m.announce(steps[begin:])
	}
	if begin == 0 {
		if err := m.announce(steps); err != nil {
			return err
		}
		if err := m.Confirm("Begin? (yes/no) "); err != nil {
			return fmt.Errorf("nothing was changed: %w", err)
		}
	}
	if m.state == nil {
		m.state, err = newState(ctx, m.clients)
	} else {
		err = m.state.claim(ctx)
	}
	if err != nil {
		return err
	}
	if begin > 0 {
		// Another user may continue, and is exempt from the freeze then.
		if err := m.freeze(ctx, m.user); err != nil {
			return err
		}
	}
	for i := begin; i < len(steps); i++ {
		if err := m.printf("%2d/%d %-11s %s\n", i+1, len(steps), steps[i].name, steps[i].title); err != nil {
			return err
		}
		err := steps[i].run(ctx)
		if errors.Is(err, errPoliciesMissing) {
			return m.printf("Hierarchies cannot be changed: %s. Next:\n"+
				"  install them: helm upgrade with besideHNC=false, or kubectl apply -k artifacts/policies\n"+
				"  repeat this command, which then allows changes again\n", err)
		}
		if err != nil {
			return stepFailed(steps[i], err, m.wayBack())
		}
		if err := m.state.completed(ctx, steps[i].name); err != nil {
			return err
		}
	}
	return m.state.forget(ctx)
}

// stepFailed returns the error of a step, with its name and what to do. It does not wrap an error of the API, of which
// kubectl would print nothing but the message.
func stepFailed(s step, err error, way string) error {
	if errors.Is(err, errRestarted) || errors.Is(err, errOther) {
		return fmt.Errorf("step %s: %w", s.name, err)
	}
	if errors.Is(err, ErrNotConfirmed) || errors.Is(err, context.Canceled) {
		return fmt.Errorf("step %s: %w\nRepeat the command to continue%s", s.name, err, way)
	}
	return fmt.Errorf("step %s: %s\nRepeat the command to continue%s", s.name, err.Error(), way)
}

// wayBack is a hint at the rollback.
func (m *Migration) wayBack() string {
	if m.state.stored.Data[hnc.MigrationDeleting] != "" {
		return ", or undo everything: kubectl hns migrate rollback --export FILE"
	}
	return ", or undo everything: kubectl hns migrate rollback"
}

func (m *Migration) announce(steps []step) error {
	if err := m.printf("The migration will:\n"); err != nil {
		return err
	}
	for _, s := range steps {
		if err := m.printf("  %-11s %s\n", s.name, s.title); err != nil {
			return err
		}
	}
	return nil
}

func (m *Migration) printf(format string, args ...any) error {
	_, err := fmt.Fprintf(m.Out, format, args...)
	return err
}

// whoAmI returns the name of the user.
func (c *clients) whoAmI(ctx context.Context) (string, error) {
	review, err := c.kube.AuthenticationV1().SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	return review.Status.UserInfo.Username, nil
}
