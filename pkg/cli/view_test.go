package cli

import (
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"
)

func TestNamesOutsideAViewAreNotThoseOfItsRoot(t *testing.T) {
	const root = "--external default: is the name of the view's own namespace"
	for _, test := range []struct {
		real     bool
		external string
		want     string
	}{
		{false, "kube-system", ""},
		{false, "default", root},
		{true, "default", ""},
		{true, "Default", "Default"},
	} {
		o := &viewOptions{IOStreams: genericiooptions.NewTestIOStreamsDiscard(), real: test.real}
		o.names.External = []string{"kube-public", test.external}
		if err := o.Complete(nil, []string{"acme"}); err != nil {
			t.Fatal(err)
		}
		err := o.Validate()
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%+v: got %v", test, err)
		}
	}
}
