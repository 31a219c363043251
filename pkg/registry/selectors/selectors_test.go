package selectors

import (
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
)

func TestSelectorsAreLimited(t *testing.T) {
	many := func(text string, n int) string { return strings.TrimSuffix(strings.Repeat(text+",", n), ",") }
	for _, test := range []struct{ label, field, want string }{
		{"", "", ""},
		{"a=b,c in (d,e)", "metadata.name=a", ""},
		{many("a", 1000), "", ""},
		{many("a", 1001), "", "labelSelector"},
		{"a in (" + many("b", 2) + "," + many("c", 1) + ")", many("a=b", 500), ""},
		{"", many("a=b", 501), "fieldSelector"},
		{"", "a=" + strings.Repeat("b", maxBytes), "fieldSelector"},
	} {
		o := &internalversion.ListOptions{}
		var err error
		if test.label != "" {
			if o.LabelSelector, err = labels.Parse(test.label); err != nil {
				t.Fatal(err)
			}
		}
		if test.field != "" {
			o.FieldSelector = fields.ParseSelectorOrDie(test.field)
		}
		err = Validate(o)
		if (err != nil) != (test.want != "") || err != nil && (!apierrors.IsBadRequest(err) || !strings.HasPrefix(err.Error(), test.want+":")) {
			t.Errorf("%.40q, %.40q: %v", test.label, test.field, err)
		}
	}
}
