package restore

import (
	"context"
	"encoding/json"
	"strings"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/controller"
)

// Controller rebuilds hierarchies when their store is lost, and pauses the propagation when the store and the cluster
// appear to come from different backups.
type Controller struct {
	controller.Dependencies
	Config
	store    *Store
	requests chan struct{}
	paused   atomic.Bool
	// rebuilt is the UID of the configuration in the store in which the hierarchies were rebuilt.
	rebuilt types.UID
}

// Config says how to restore.
type Config struct {
	// Parallelism is how many namespaces are rebuilt at a time.
	Parallelism int
	// Assumed is hnc.TrustHierarchies or hnc.TrustNamespaces for a propagator that makes dry runs only: it never
	// pauses, and records nothing. "" for all others.
	Assumed string
	// Differs reports whether the propagator would write anything to namespaces, or create or delete any. It is called
	// when the cache is filled.
	Differs func() bool
}

// New returns a Controller.
func New(d controller.Dependencies, store *Store, config Config) *Controller {
	return &Controller{Dependencies: d, Config: config, store: store, requests: make(chan struct{}, 1)}
}

const (
	// retryPeriod is the time between attempts to recognize the store, and between two looks at whether a pause was
	// ended.
	retryPeriod = time.Second
	// comparisonPeriod is how many of these pass between two looks at whether there is anything to write.
	comparisonPeriod = 5
)

// Paused reports whether nothing is propagated because the store and the cluster appear to come from different backups.
func (c *Controller) Paused() bool { return c.paused.Load() }

// Run returns once the store is the one of the last time, or its hierarchies are rebuilt, or an administrator trusts
// them. It returns an error when the context ends first.
func (c *Controller) Run(ctx context.Context) error {
	if c.Assumed == hnc.TrustHierarchies {
		return nil
	}
	attempt := 0
	defer c.setPaused(false)
	return wait.PollUntilContextCancel(ctx, retryPeriod, true, func(ctx context.Context) (bool, error) {
		var done bool
		var err error
		if c.Assumed != "" {
			err = c.align(ctx)
			done = err == nil
		} else {
			done, err = c.recognize(ctx, attempt)
		}
		if err != nil && ctx.Err() == nil {
			klog.FromContext(ctx).Error(err, "Can't determine whether the store of hierarchies is the same; retrying")
		}
		attempt++
		return done && err == nil, nil
	})
}

// state is what a store is recognized by.
type state struct {
	system  *corev1.Namespace
	config  *v1beta1.HNCConfiguration
	cluster types.UID
}

// read returns the present state, nil if there is no system namespace to record a store on.
func (c *Controller) read(ctx context.Context) (*state, error) {
	namespaces := c.Kubernetes.CoreV1().Namespaces()
	system, err := namespaces.Get(ctx, hnc.SystemNamespace, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	kube, err := namespaces.Get(ctx, metav1.NamespaceSystem, metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return nil, err
	}
	s := &state{system: system}
	if err == nil {
		s.cluster = kube.UID
	}
	s.config, err = c.store.live(ctx)
	return s, err
}

// recognize reports whether the hierarchies may be propagated.
func (c *Controller) recognize(ctx context.Context, attempt int) (bool, error) {
	s, err := c.read(ctx)
	if err != nil || s == nil {
		return err == nil, err
	}
	logger, known := klog.FromContext(ctx), s.system.Annotations[hnc.AnnotationStore]
	mismatch := compare(s.system.Annotations, s.config, s.cluster)
	switch {
	case mismatch.reason != "":
		trusted, err := c.resolve(ctx, s, mismatch, attempt)
		if err != nil || !trusted {
			return false, err
		}
	case known != "" && known != string(s.config.UID):
		if c.rebuilt != s.config.UID {
			logger.Info("The API server has another store of hierarchies than the last time; rebuilding them from the namespaces", "store", s.config.UID, "known", known)
			if err := c.rebuild(ctx); err != nil {
				return false, err
			}
			c.rebuilt = s.config.UID
		}
		// Labels do not describe everything, such as the parent of an orphan. What would be deleted for that is
		// reported first.
		trusted, err := c.resolve(ctx, s, storeLost(known, s.config), attempt)
		if err != nil || !trusted {
			return false, err
		}
	case known == "":
		// A migration from HNC, which has the same labels and does not remove those that users have written, decides
		// before the propagator starts.
		if names := c.missing(); len(names) > 0 {
			trusted, err := c.resolve(ctx, s, hierarchiesMissing(names), attempt)
			if err != nil || !trusted {
				return false, err
			}
		}
	case s.config.Status.Checkpoint != nil && s.system.Annotations[hnc.AnnotationTrust] == "":
		// Otherwise a decision has remained, which a new record ends.
		c.recordKnownStore(s, s.config.Status.Checkpoint.ID)
		return true, nil
	}
	if err := c.store.record(ctx, s.system, s.config, s.cluster); err != nil {
		return false, err
	}
	c.recordKnownStore(s, "")
	return true, nil
}

// missing returns the namespaces whose lost hierarchies only their labels describe.
func (c *Controller) missing() (names []string) {
	c.Cache.Read(func(s *cache.State) { names = missing(s.Tree) })
	return names
}

func (c *Controller) recordKnownStore(s *state, checkpoint string) {
	if checkpoint != "" {
		c.store.add(checkpoint, checkpoint)
	}
	c.store.known.Store(&s.config.UID)
}

// resolve reports whether the hierarchies are trusted although they may come from another backup than the cluster:
// because an administrator says so, or because nothing would be written.
func (c *Controller) resolve(ctx context.Context, s *state, m mismatch, attempt int) (bool, error) {
	logger, decision := klog.FromContext(ctx), s.system.Annotations[hnc.AnnotationTrust]
	switch decision {
	case s.config.TrustDecision(hnc.TrustHierarchies):
		logger.Info("An administrator trusts the hierarchies; propagating them", "reason", m.reason)
		return true, nil
	case s.config.TrustDecision(hnc.TrustNamespaces):
		logger.Info("An administrator trusts the labels of the namespaces; changing the hierarchies to them", "reason", m.reason)
		return true, c.align(ctx)
	case "":
	default:
		if attempt%comparisonPeriod != 0 {
			break
		}
		logger.Info("Ignoring the decision of an administrator, which is about another state; run kubectl hns resume of this version again", "decision", decision)
	}
	if (attempt%comparisonPeriod == 0 || !c.Paused()) && !c.Differs() {
		logger.Info("The hierarchies may come from another backup than the cluster, but nothing would be written; propagating", "reason", m.reason, "message", m.message)
		return true, nil
	}
	return false, c.pause(ctx, s, m)
}

// pause reports the pause, unless that is reported already.
func (c *Controller) pause(ctx context.Context, s *state, m mismatch) error {
	message := m.message + "; nothing is propagated. kubectl hns doctor lists the differences, and kubectl hns resume ends the pause"
	if !c.Paused() {
		klog.FromContext(ctx).Info("Propagation is paused", "reason", m.reason, "message", message)
	}
	// The store may be restored again during the pause.
	reported := meta.FindStatusCondition(s.config.Status.Conditions, hnc.ConditionPropagationPaused)
	if reported != nil && reported.Status == metav1.ConditionTrue && reported.Reason == m.reason && reported.Message == message {
		c.setPaused(true)
		return nil
	}
	conditions := withCondition(s.config.Status.Conditions, metav1.Condition{
		Type: hnc.ConditionPropagationPaused, Status: metav1.ConditionTrue, Reason: m.reason, Message: message,
		ObservedGeneration: s.config.Generation, LastTransitionTime: metav1.Now(),
	})
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": s.config.UID, "resourceVersion": s.config.ResourceVersion}, "status": map[string]any{"conditions": conditions},
	})
	if err != nil {
		return err
	}
	if _, err := c.Hierarchy.HncV1beta1().HNCConfigurations().Patch(ctx, s.config.Name, types.MergePatchType, patch, metav1.PatchOptions{}, "status"); err != nil {
		return err
	}
	c.Events.Event(&corev1.ObjectReference{APIVersion: "v1", Kind: "Namespace", Name: s.system.Name, Namespace: s.system.Name, UID: s.system.UID},
		corev1.EventTypeWarning, hnc.ConditionPropagationPaused, strings.ToUpper(message[:1])+message[1:])
	c.setPaused(true)
	return nil
}

func (c *Controller) setPaused(paused bool) {
	c.paused.Store(paused)
	c.Metrics.Paused(paused)
}
