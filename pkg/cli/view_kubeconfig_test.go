package cli

import (
	"io"
	"path/filepath"
	"reflect"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
)

// A kubeconfig with less than the whole impersonation would make its requests as somebody else.
func TestKubeconfigOfAViewImpersonatesAsTheCommandDoes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "kubeconfig")
	err := clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{"c": {Server: "https://example.net"}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{"u": {Token: "secret"}},
		Contexts:       map[string]*clientcmdapi.Context{"x": {Cluster: "c", AuthInfo: "u"}},
		CurrentContext: "x",
	}, file)
	if err != nil {
		t.Fatal(err)
	}
	view := &v1alpha3.TenantView{ObjectMeta: metav1.ObjectMeta{Namespace: "acme"}}
	for _, args := range [][]string{nil, {"--as=jo", "--as-uid=7", "--as-group=dev", "--as-group=ops", "--as-user-extra=team=a", "--as-user-extra=team=b"}} {
		f := NewFactory(io.Discard)
		cmd := newViewKubeconfigCommand(f, genericiooptions.NewTestIOStreamsDiscard())
		f.Flags.AddFlags(cmd.Flags())
		if err := cmd.ParseFlags(append(args, "--kubeconfig="+file)); err != nil {
			t.Fatal(err)
		}
		config, err := (&viewKubeconfigOptions{factory: f, namespace: "acme"}).kubeconfig(view)
		if err != nil {
			t.Fatal(err)
		}
		want := &clientcmdapi.AuthInfo{Token: "secret"}
		if args != nil {
			want.Impersonate, want.ImpersonateUID = "jo", "7"
			want.ImpersonateGroups, want.ImpersonateUserExtra = []string{"dev", "ops"}, map[string][]string{"team": {"a", "b"}}
		}
		user := config.AuthInfos["view-acme"]
		user.LocationOfOrigin, user.Extensions = "", nil
		if !reflect.DeepEqual(user, want) {
			t.Errorf("%v: got %#v, want %#v", args, user, want)
		}
	}
}
