package kubelet

import (
	"bytes"
	"context"
	"os"
	"path/filepath"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// mount writes the files of the volumes where the container expects them, or what has changed in them. Claims outlive
// their pods.
func (k *Kubelet) mount(ctx context.Context, p *corev1.Pod, run *pod) error {
	volumes := map[string]corev1.Volume{}
	for _, v := range p.Spec.Volumes {
		volumes[v.Name] = v
	}
	for _, m := range p.Spec.Containers[0].VolumeMounts {
		v, dir := volumes[m.Name], filepath.Join(run.root, m.MountPath)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		if v.PersistentVolumeClaim != nil && run.process == nil {
			if err := shell("mkdir -p %[1]s && mount --bind %[1]s %[2]s", filepath.Join(k.Dir, "claims", p.Namespace, v.PersistentVolumeClaim.ClaimName), dir); err != nil {
				return err
			}
		}
		files, err := k.files(ctx, p, v, dir)
		if err != nil {
			return err
		}
		for name, content := range files {
			file := filepath.Join(dir, name)
			if old, err := os.ReadFile(file); err == nil && bytes.Equal(old, content) {
				continue
			}
			if err := os.WriteFile(file, content, 0o600); err != nil {
				return err
			}
		}
	}
	return nil
}

// files returns the files of a volume, which are in a directory if they were written. A projected volume is that of the
// ServiceAccount.
func (k *Kubelet) files(ctx context.Context, p *corev1.Pod, v corev1.Volume, dir string) (map[string][]byte, error) {
	if v.Secret != nil {
		s, err := k.client.CoreV1().Secrets(p.Namespace).Get(ctx, v.Secret.SecretName, metav1.GetOptions{})
		return s.Data, err
	}
	if _, err := os.Stat(filepath.Join(dir, "token")); v.Projected == nil || err == nil {
		return nil, nil
	}
	t, err := k.client.CoreV1().ServiceAccounts(p.Namespace).CreateToken(ctx, p.Spec.ServiceAccountName, &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		ExpirationSeconds: ptr.To[int64](24 * 3600),
		BoundObjectRef:    &authenticationv1.BoundObjectReference{Kind: "Pod", APIVersion: "v1", Name: p.Name, UID: p.UID},
	}}, metav1.CreateOptions{})
	return map[string][]byte{"token": []byte(t.Status.Token), "namespace": []byte(p.Namespace), "ca.crt": k.Config.CAData}, err
}
