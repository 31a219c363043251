package certificates

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// GatewaySecret is the name of the Secret that the pods of hns-gateway mount.
const GatewaySecret = "hns-gateway-cert"

// issueForGateway issues the certificate of hns-gateway by the current authority, if hns-gateway is installed. secret
// is nil if it has none yet. It returns when the next change is due, which is due at the latest.
func (c *Controller) issueForGateway(ctx context.Context, s state, secret *corev1.Secret, due time.Time) (time.Time, error) {
	if _, installed, err := c.registrations.GetStore().GetByKey(hnc.ViewAPIService.Name); err != nil || !installed {
		return due, err
	}
	if err := issuedByManager(secret); err != nil {
		return due, err
	}
	if s.serving = nil; secret != nil {
		// A damaged certificate is replaced.
		s.serving, _ = parsePair(secret.Data[corev1.TLSCertKey], secret.Data[corev1.TLSPrivateKeyKey])
	}
	now, names := time.Now(), namesOf(hnc.GatewayName)
	if !s.serves(now, names) {
		var err error
		if s.serving, err = newServing(s.current, now, c.lifetimes.Serving, names); err != nil {
			return due, err
		}
	}
	if err := c.write(ctx, secret, GatewaySecret, corev1.SecretTypeTLS, s.servingData()); err != nil {
		return due, err
	}
	if renewal := s.serving.renewal(); renewal.Before(due) {
		due = renewal
	}
	return due, nil
}

// namesOf returns the names of a Service in the system's namespace.
func namesOf(service string) []string {
	return []string{service + "." + hnc.SystemNamespace + ".svc", service + "." + hnc.SystemNamespace + ".svc.cluster.local"}
}
