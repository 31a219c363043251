package certificates

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// AuthoritySecret and ServingSecret are the names of the Secrets in the system's namespace. Only the propagator reads
// the first, which contains the authorities' keys; the pods of hns-apiserver mount the second.
const (
	AuthoritySecret = "hns-ca"
	ServingSecret   = "hns-apiserver-cert" //nolint:gosec // a name
)

// Keys of the authorities' Secret, besides ca.crt for the certificate of the current authority.
const authorityKey, nextCert, nextKey, previousCert = "ca.key", "next.crt", "next.key", "previous.crt"

// issuedByManager returns an error for a Secret of another issuer; nil is none.
func issuedByManager(secret *corev1.Secret) error {
	if secret == nil || secret.Labels[hnc.LabelManagedBy] == hnc.PropagatorName {
		return nil
	}
	return fmt.Errorf("secret %s/%s has another issuer: delete it to have certificates issued by %s, or remove --manage-certificates",
		secret.Namespace, secret.Name, hnc.PropagatorName)
}

// parse returns the state that the Secrets contain; nil Secrets do not exist.
func parse(authority, serving *corev1.Secret) (s state, err error) {
	if err := errors.Join(issuedByManager(authority), issuedByManager(serving)); err != nil {
		return s, err
	}
	if authority != nil {
		// A damaged authority that signs nothing now is of no use to any client.
		s.next, _ = parsePair(authority.Data[nextCert], authority.Data[nextKey])
		s.previous, _ = parseRetired(authority.Data[previousCert])
		if s.current, err = parsePair(authority.Data[corev1.ServiceAccountRootCAKey], authority.Data[authorityKey]); err != nil {
			return s, fmt.Errorf("secret %s/%s is damaged: delete it to have a new authority issued: %w", authority.Namespace, authority.Name, err)
		}
	}
	if serving != nil {
		// A damaged certificate is replaced: it is of no use to any server.
		s.serving, _ = parsePair(serving.Data[corev1.TLSCertKey], serving.Data[corev1.TLSPrivateKeyKey])
	}
	return s, nil
}

// authorityData returns the content of the authorities' Secret.
func (s state) authorityData() map[string][]byte {
	data := map[string][]byte{corev1.ServiceAccountRootCAKey: s.current.certificate, authorityKey: s.current.key}
	if s.next != nil {
		data[nextCert], data[nextKey] = s.next.certificate, s.next.key
	}
	if s.previous != nil {
		data[previousCert] = s.previous.certificate
	}
	return data
}

// servingData returns the content of the Secret that hns-apiserver mounts.
func (s state) servingData() map[string][]byte {
	return map[string][]byte{
		corev1.TLSCertKey: s.serving.certificate, corev1.TLSPrivateKeyKey: s.serving.key, corev1.ServiceAccountRootCAKey: s.bundle(),
	}
}

// write creates or updates a Secret unless it has this content. The version of existing, which may be nil, makes a
// write fail that is based on an outdated read.
func (c *Controller) write(ctx context.Context, existing *corev1.Secret, name string, kind corev1.SecretType, data map[string][]byte) error {
	secrets := c.kubernetes.CoreV1().Secrets(hnc.SystemNamespace)
	if existing == nil {
		_, err := secrets.Create(ctx, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{hnc.LabelManagedBy: hnc.PropagatorName, hnc.LabelPartOf: hnc.PartOf}},
			Type:       kind,
			Data:       data,
		}, metav1.CreateOptions{FieldManager: hnc.PropagatorName})
		return err
	}
	if maps.EqualFunc(existing.Data, data, slices.Equal[[]byte]) {
		return nil
	}
	existing = existing.DeepCopy()
	existing.Data = data
	_, err := secrets.Update(ctx, existing, metav1.UpdateOptions{FieldManager: hnc.PropagatorName})
	return err
}
