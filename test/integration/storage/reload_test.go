package storage

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/clientset/versioned"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// encryptionWith is a configuration with keys; the first one encrypts.
func encryptionWith(keys string) string {
	return `apiVersion: apiserver.config.k8s.io/v1
kind: EncryptionConfiguration
resources:
- resources: [hierarchies.hnc.x-k8s.io, overwrittenobjects.hnc.x-k8s.io]
  providers:
  - secretbox: {keys: [` + keys + `]}
`
}

const (
	key1 = `{name: key1, secret: YWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXoxMjM0NTY=}`
	key2 = `{name: key2, secret: MTIzNDU2Nzg5MGFiY2RlZmdoaWprbG1ub3BxcnN0dXY=}`
	key3 = `{name: key3, secret: OTg3NjU0MzIxMHp5eHd2dXRzcnFwb25tbGtqaWhnZmU=}`
)

// rotate replaces the configuration of a server that reads it again by itself, and writes the hierarchy of a namespace
// until it is encrypted with the key.
func rotate(t *testing.T, cp *controlplane.ControlPlane, hierarchies versioned.Interface, file, configuration, namespace, key string) {
	t.Helper()
	replacement := filepath.Join(t.TempDir(), "encryption.yaml")
	if err := os.WriteFile(replacement, []byte(configuration), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(replacement, file); err != nil {
		t.Fatal(err)
	}
	n := 0
	suite.Eventually(t, "hierarchies are encrypted with "+key, func() error {
		n++
		patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"example.com/%s":"%d"}}}`, key, n)
		if _, err := hierarchies.HncV1beta1().Hierarchies(namespace).Patch(t.Context(), hnc.Singleton, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			return err
		}
		if value := stored(t, cp, prefix+"/hnc.x-k8s.io/hierarchies/"+namespace+"/hierarchy"); !bytes.HasPrefix(value, []byte("k8s:enc:secretbox:v1:"+key+":")) {
			return fmt.Errorf("etcd holds %q", value[:min(len(value), 40)])
		}
		return nil
	})
}
