package certificates

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/component-base/metrics"
	"k8s.io/klog/v2"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// Controller keeps the certificates in the Secrets, and the bundle in the APIServices, up to date.
type Controller struct {
	kubernetes kubernetes.Interface
	dynamic    dynamic.Interface
	lifetimes  Lifetimes
	names      []string
	expiration *metrics.GaugeVec

	authority, serving, gateway, registrations cache.SharedIndexInformer
	queue                                      workqueue.TypedRateLimitingInterface[struct{}]
}

// clockPeriod is the longest time between two reconciliations. Timers do not notice that a wrong clock was set.
const clockPeriod = time.Minute

// New returns a Controller for the certificates of the Services. It registers its metric.
func New(client kubernetes.Interface, dynamicClient dynamic.Interface, lifetimes Lifetimes, register func(...metrics.Registerable)) *Controller {
	c := &Controller{
		kubernetes: client,
		dynamic:    dynamicClient,
		lifetimes:  lifetimes,
		names:      namesOf(hnc.APIServerName),
		expiration: metrics.NewGaugeVec(&metrics.GaugeOpts{
			Name:           "hns_certificate_expiration_timestamp_seconds",
			Help:           "When the certificates that the propagator has issued expire, in seconds since 1970.",
			StabilityLevel: metrics.ALPHA,
		}, []string{"certificate"}),
		authority: secretInformer(client, AuthoritySecret),
		serving:   secretInformer(client, ServingSecret),
		gateway:   secretInformer(client, GatewaySecret),
		queue: workqueue.NewTypedRateLimitingQueue(workqueue.NewTypedItemExponentialFailureRateLimiter[struct{}](
			100*time.Millisecond, time.Minute)),
	}
	c.registrations = dynamicinformer.NewFilteredDynamicInformer(dynamicClient, hnc.APIServiceResource, "", 0, cache.Indexers{}, nil).Informer()
	register(c.expiration)
	return c
}

// secretInformer watches one Secret: the role allows no others.
func secretInformer(client kubernetes.Interface, name string) cache.SharedIndexInformer {
	return coreinformers.NewFilteredSecretInformer(client, hnc.SystemNamespace, 0, cache.Indexers{}, func(options *metav1.ListOptions) {
		options.FieldSelector = fields.OneTermEqualSelector("metadata.name", name).String()
	})
}

// Run reconciles until the context ends. Only one replica may run it.
func (c *Controller) Run(ctx context.Context) {
	logger := klog.FromContext(ctx)
	enqueue := func(any) { c.queue.Add(struct{}{}) }
	var synced []cache.InformerSynced
	for _, informer := range []cache.SharedIndexInformer{c.authority, c.serving, c.gateway, c.registrations} {
		registration, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: enqueue, UpdateFunc: func(_, _ any) { c.queue.Add(struct{}{}) }, DeleteFunc: enqueue,
		})
		if err != nil {
			logger.Error(err, "Cannot watch the certificates")
			return
		}
		go informer.RunWithContext(ctx)
		synced = append(synced, registration.HasSynced)
	}
	defer context.AfterFunc(ctx, c.queue.ShutDown)()
	if !cache.WaitForCacheSync(ctx.Done(), synced...) {
		return
	}
	c.queue.Add(struct{}{})
	for {
		item, shutdown := c.queue.Get()
		if shutdown {
			return
		}
		due, err := c.reconcile(ctx)
		if err != nil && ctx.Err() == nil {
			if !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) {
				logger.Error(err, "Cannot issue or publish certificates")
			}
			c.queue.AddRateLimited(item)
		} else {
			c.queue.Forget(item)
			c.queue.AddAfter(item, delay(due))
		}
		c.queue.Done(item)
	}
}

// delay returns how long to wait for the next change.
func delay(due time.Time) time.Duration { return min(time.Until(due), clockPeriod) }

// reconcile makes all changes that are due, and returns when the next one is. Clients trust an authority before a
// server uses its certificates; a server whose clients cannot be told keeps its certificate, and the others do not.
func (c *Controller) reconcile(ctx context.Context) (time.Time, error) {
	var secrets [3]*corev1.Secret
	for i, from := range []struct {
		informer          cache.SharedIndexInformer
		name, metric, key string
	}{
		{c.authority, AuthoritySecret, "ca", corev1.ServiceAccountRootCAKey},
		{c.serving, ServingSecret, "serving", corev1.TLSCertKey},
		{c.gateway, GatewaySecret, "gateway", corev1.TLSCertKey},
	} {
		var err error
		if secrets[i], err = stored(from.informer, from.name); err != nil {
			return time.Time{}, err
		}
		c.report(from.metric, secrets[i], from.key)
	}
	authority, serving, gateway := secrets[0], secrets[1], secrets[2]
	s, err := parse(authority, serving)
	if err != nil {
		return time.Time{}, err
	}
	s, due, err := plan(s, time.Now(), c.lifetimes, c.names)
	if err != nil {
		return due, err
	}
	if err := c.write(ctx, authority, AuthoritySecret, corev1.SecretTypeOpaque, s.authorityData()); err != nil {
		return due, err
	}
	untrusting, err := c.publish(ctx, s)
	errs := []error{err}
	if !untrusting[hnc.APIServerName] {
		errs = append(errs, c.write(ctx, serving, ServingSecret, corev1.SecretTypeTLS, s.servingData()))
	}
	if !untrusting[hnc.GatewayName] {
		due, err = c.issueForGateway(ctx, s, gateway, due)
		errs = append(errs, err)
	}
	return due, errors.Join(errs...)
}

// report sets the metric to when a certificate of ours expires, whatever happens to it next.
func (c *Controller) report(certificate string, secret *corev1.Secret, key string) {
	if secret == nil || secret.Labels[hnc.LabelManagedBy] != hnc.PropagatorName {
		c.expiration.Delete(map[string]string{"certificate": certificate})
		return
	}
	if parsed, err := cert.ParseCertsPEM(secret.Data[key]); err == nil {
		c.expiration.WithLabelValues(certificate).Set(float64(parsed[0].NotAfter.Unix()))
	}
}

// stored returns nil if the Secret does not exist.
func stored(informer cache.SharedIndexInformer, name string) (*corev1.Secret, error) {
	object, exists, err := informer.GetStore().GetByKey(hnc.SystemNamespace + "/" + name)
	if err != nil || !exists {
		return nil, err
	}
	return object.(*corev1.Secret), nil
}
