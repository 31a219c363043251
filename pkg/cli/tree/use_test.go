package tree

import (
	"strings"
	"testing"
)

func TestUseIsShownWhereItIs(t *testing.T) {
	full := New()
	for name, parent := range map[string]string{"acme": "", "a": "acme", "a1": "a", "a2": "a", "b": "acme", "b1": "b", "c": "acme", "top": ""} {
		full.AddNamespace(name, false, false)
		full.AddHierarchy(name, parent, nil)
	}
	full.Link()
	for name, row := range map[string]struct {
		used map[string]string
		want string
	}{
		"nothing": {nil, `
NAMESPACE   USED
acme        -
`},
		"some": {map[string]string{"acme": "pods: 1", "b1": "pods: 2", "a": "pods: 3", "a2": "pods: 4, secrets: 1"}, `
NAMESPACE    USED
acme         pods: 1
├── a        pods: 3
│   └── a2   pods: 4, secrets: 1
└── b        -
    └── b1   pods: 2
`},
		"elsewhere": {map[string]string{"top": "pods: 1", "gone": "pods: 2", "c": "pods: 3"}, `
NAMESPACE   USED
acme        -
└── c       pods: 3
gone        pods: 2
top         pods: 1
`},
	} {
		t.Run(name, func(t *testing.T) {
			var s strings.Builder
			if err := full.WriteUse(&s, "acme", row.used); err != nil || s.String() != strings.TrimPrefix(row.want, "\n") {
				t.Errorf("%v, got\n%s\nwant%s", err, s.String(), row.want)
			}
		})
	}
}
