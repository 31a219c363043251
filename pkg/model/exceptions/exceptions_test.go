package exceptions

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// east is a namespace below team, which is below acme.
var east = map[string]string{
	"env": "prod", "empty": "", hnc.TreeLabel("east"): "0", hnc.TreeLabel("team"): "1", hnc.TreeLabel("acme"): "2",
}

// The rows carry the steps of docs/spec/hnc.md 3.8, SEL-1 to SEL-5 and SEL-7; step 6 does not depend on annotations.
func TestSelects(t *testing.T) {
	for name, test := range map[string]struct {
		given Annotations
		// propagate and allow are the expected results for east in the modes Propagate and AllowPropagate.
		propagate, allow bool
	}{
		"SEL-1 SEL-7 nothing":                                      {Annotations{}, true, false},
		"SEL-2 select k":                                           {Annotations{Select: "env"}, true, true},
		"SEL-2 select k, absent":                                   {Annotations{Select: "other"}, false, false},
		"SEL-2 select !k":                                          {Annotations{Select: "!other"}, true, true},
		"SEL-2 select !k, present":                                 {Annotations{Select: "!env"}, false, false},
		"SEL-2 select k=v":                                         {Annotations{Select: "env=prod"}, true, true},
		"SEL-2 select k=v, another":                                {Annotations{Select: "env=dev"}, false, false},
		"SEL-2 select k==v":                                        {Annotations{Select: "env==prod"}, true, true},
		"SEL-2 select k= for an empty value":                       {Annotations{Select: "empty="}, true, true},
		"SEL-2 select k in":                                        {Annotations{Select: "env in (dev, prod)"}, true, true},
		"SEL-2 select k in, another":                               {Annotations{Select: "env in (dev)"}, false, false},
		"SEL-2 select k notin":                                     {Annotations{Select: "env notin (dev)"}, true, true},
		"SEL-2 select k notin, one of them":                        {Annotations{Select: "env notin (dev,prod)"}, false, false},
		"SEL-2 select k notin, absent":                             {Annotations{Select: "other notin (a)"}, true, true},
		"SEL-2 a comma is and":                                     {Annotations{Select: "env=prod,!other"}, true, true},
		"SEL-2 a comma is and, one does not hold":                  {Annotations{Select: "env=prod,other"}, false, false},
		"SEL-2 a repeated k= keeps the last":                       {Annotations{Select: "env=dev,env=prod"}, true, true},
		"SEL-2 a repeated k= keeps the last, which does not match": {Annotations{Select: "env=prod,env=dev"}, false, false},
		"SEL-2 select on a tree label":                             {Annotations{Select: "acme.tree.hnc.x-k8s.io/depth"}, true, true},
		"SEL-2 select on a depth":                                  {Annotations{Select: "acme.tree.hnc.x-k8s.io/depth in (1)"}, false, false},
		"SEL-2 as many items as allowed":                           {Annotations{Select: strings.Repeat("!a,", 63) + "!a"}, true, true},
		"SEL-3 as many items as allowed":                           {Annotations{TreeSelect: strings.Repeat("!a,", 63) + "team"}, true, true},
		"SEL-2 as long as allowed":                                 {Annotations{Select: "env" + strings.Repeat(" ", 8189)}, true, true},
		"SEL-2 empty is absent":                                    {Annotations{Select: ""}, true, false},
		"SEL-2 blanks are absent":                                  {Annotations{Select: "  "}, true, false},
		"SEL-3 treeSelect the parent":                              {Annotations{TreeSelect: "team"}, true, true},
		"SEL-3 treeSelect the root":                                {Annotations{TreeSelect: "acme"}, true, true},
		"SEL-3 treeSelect the namespace itself":                    {Annotations{TreeSelect: "east"}, true, true},
		"SEL-3 treeSelect another":                                 {Annotations{TreeSelect: "west"}, false, false},
		"SEL-3 treeSelect not the parent":                          {Annotations{TreeSelect: "!team"}, false, false},
		"SEL-3 treeSelect not another":                             {Annotations{TreeSelect: "!west"}, true, true},
		"SEL-3 treeSelect not several":                             {Annotations{TreeSelect: "!west, !south"}, true, true},
		"SEL-3 treeSelect not several, one of them":                {Annotations{TreeSelect: "!west,!east"}, false, false},
		"SEL-3 treeSelect one but not a part of it":                {Annotations{TreeSelect: "acme, !west"}, true, true},
		"SEL-3 treeSelect one but not this part":                   {Annotations{TreeSelect: "acme,!team"}, false, false},
		"SEL-3 blanks around items":                                {Annotations{TreeSelect: " team ,  !west "}, true, true},
		"SEL-3 empty is absent":                                    {Annotations{TreeSelect: ""}, true, false},
		"SEL-4 none":                                               {Annotations{None: "true"}, false, false},
		"SEL-4 none=false is neutral":                              {Annotations{None: "false"}, true, false},
		"SEL-4 empty none is false":                                {Annotations{None: ""}, true, false},
		"SEL-4 none beats all":                                     {Annotations{None: "true", All: "true"}, false, false},
		"SEL-4 none beats a select that matches":                   {Annotations{None: "T", Select: "env"}, false, false},
		"SEL-5 all":                                                {Annotations{All: "true"}, true, true},
		"SEL-5 all=false is neutral":                               {Annotations{All: "false"}, true, false},
		"SEL-5 all does not help a select":                         {Annotations{All: "true", Select: "other"}, false, false},
		"SEL-2 SEL-3 both must match":                              {Annotations{Select: "env", TreeSelect: "team"}, true, true},
		"SEL-2 SEL-3 both must match, the first not":               {Annotations{Select: "other", TreeSelect: "team"}, false, false},
		"SEL-2 SEL-3 both must match, the second not":              {Annotations{Select: "env", TreeSelect: "!team"}, false, false},
		"SEL-4 none=false leaves a select its match":               {Annotations{None: "false", Select: "env"}, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			e, err := Parse(test.given)
			if err != nil {
				t.Fatal(err)
			}
			if got := e.Selects(true, east); got != test.propagate {
				t.Errorf("in Propagate: %v", got)
			}
			if got := e.Selects(false, east); got != test.allow {
				t.Errorf("in AllowPropagate: %v", got)
			}
		})
	}
}

func TestParseBooleans(t *testing.T) {
	for value, want := range map[string]bool{
		"1": true, "t": true, "T": true, "TRUE": true, "true": true, "True": true,
		"0": false, "f": false, "F": false, "FALSE": false, "false": false, "False": false,
	} {
		none, err := Parse(Annotations{None: value})
		if err != nil || none.none != want {
			t.Errorf("none: %q is %v, error %v", value, none.none, err)
		}
		all, err := Parse(Annotations{All: value})
		if err != nil || all.all != want {
			t.Errorf("all: %q is %v, error %v", value, all.all, err)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for name, test := range map[string]struct {
		given Annotations
		// key is the annotation that the error names, why a part of the error.
		key, why string
	}{
		"SEL-2 !=":                        {Annotations{Select: "env!=prod"}, "select", "notin"},
		"SEL-2 >":                         {Annotations{Select: "env>1"}, "select", ">"},
		"SEL-2 <":                         {Annotations{Select: "env<1"}, "select", "<"},
		"SEL-2 != among others":           {Annotations{Select: "env,env!=prod"}, "select", "notin"},
		"SEL-2 no key":                    {Annotations{Select: "=prod"}, "select", ""},
		"SEL-2 only a comma":              {Annotations{Select: ","}, "select", ""},
		"SEL-2 an open parenthesis":       {Annotations{Select: "env in (a"}, "select", ""},
		"SEL-2 an illegal key":            {Annotations{Select: "a/b/c"}, "select", ""},
		"SEL-2 an illegal value":          {Annotations{Select: "env=a b"}, "select", ""},
		"SEL-3 an empty last item":        {Annotations{TreeSelect: "team,"}, "treeSelect", "item 2 is empty"},
		"SEL-3 an empty item between":     {Annotations{TreeSelect: "team,,!west"}, "treeSelect", "item 2 is empty"},
		"SEL-3 an empty first item":       {Annotations{TreeSelect: ",team"}, "treeSelect", "item 1 is empty"},
		"SEL-3 blanks alone":              {Annotations{TreeSelect: "  "}, "treeSelect", "item 1 is empty"},
		"SEL-3 ! alone":                   {Annotations{TreeSelect: "!"}, "treeSelect", "namespace name"},
		"SEL-3 a blank after !":           {Annotations{TreeSelect: "! team"}, "treeSelect", "namespace name"},
		"SEL-3 two !":                     {Annotations{TreeSelect: "!!team"}, "treeSelect", "namespace name"},
		"SEL-3 two that are not negated":  {Annotations{TreeSelect: "team,west"}, "treeSelect", `both "team" and "west"`},
		"SEL-3 the same one twice":        {Annotations{TreeSelect: "team,team"}, "treeSelect", "both"},
		"SEL-3 capitals":                  {Annotations{TreeSelect: "Team"}, "treeSelect", "namespace name"},
		"SEL-3 a dot":                     {Annotations{TreeSelect: "a.b"}, "treeSelect", "namespace name"},
		"SEL-3 a selector":                {Annotations{TreeSelect: "a=b"}, "treeSelect", "namespace name"},
		"SEL-3 too long a name":           {Annotations{TreeSelect: strings.Repeat("a", 64)}, "treeSelect", "namespace name"},
		"SEL-2 too many items":            {Annotations{Select: strings.Repeat("!a,", 64) + "!a"}, "select", "65 items are more than 64"},
		"SEL-2 too many values":           {Annotations{Select: "a in (" + strings.Repeat("b,", 64) + "b)"}, "select", "65 items are more than 64"},
		"SEL-2 too long":                  {Annotations{Select: "a" + strings.Repeat(" ", 8192)}, "select", "8193 characters are more than 8192"},
		"SEL-3 too many items":            {Annotations{TreeSelect: strings.Repeat("!a,", 64) + "a"}, "treeSelect", "65 items are more than 64"},
		"SEL-3 too long":                  {Annotations{TreeSelect: "a" + strings.Repeat(" ", 8192)}, "treeSelect", "8193 characters are more than 8192"},
		"SEL-4 none, mixed case":          {Annotations{None: "tRUE"}, "none", "neither"},
		"SEL-4 none, a word":              {Annotations{None: "yes"}, "none", "neither"},
		"SEL-4 none, blanks":              {Annotations{None: " "}, "none", "neither"},
		"SEL-5 all, mixed case":           {Annotations{All: "fALSE"}, "all", "neither"},
		"SEL-5 all, a number":             {Annotations{All: "2"}, "all", "neither"},
		"SEL-4 all is read after none":    {Annotations{None: "true", All: "x"}, "all", "neither"},
		"SEL-3 read though select is bad": {Annotations{Select: "!", TreeSelect: ","}, "treeSelect", "empty"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse(test.given)
			if err == nil {
				t.Fatal("read")
			}
			if key := "annotation propagate.hnc.x-k8s.io/" + test.key + ":"; !strings.Contains(err.Error(), key) || !strings.Contains(err.Error(), test.why) {
				t.Errorf("%v; want %s ... %s", err, key, test.why)
			}
		})
	}
}

func TestSelective(t *testing.T) {
	for a, want := range map[Annotations]bool{
		{}: false, {None: "true"}: false, {All: "true"}: false, {Select: " "}: false,
		{Select: "a"}: true, {TreeSelect: "!a"}: true,
	} {
		e, err := Parse(a)
		if err != nil || e.Selective() != want {
			t.Errorf("%+v: %v, error %v", a, e.Selective(), err)
		}
	}
}

// The watch that delivers the update of a source waits for the parser.
func TestSelectorsBeyondTheLimitsAreNotParsed(t *testing.T) {
	value := strings.Repeat("!a,", 80_000) + "a"
	for name, parse := range map[string]func(string) (labels.Selector, error){"select": parseSelect, "treeSelect": parseTree} {
		if allocations := testing.AllocsPerRun(10, func() { _, _ = parse(value) }); allocations > 20 {
			t.Errorf("%s: %.0f allocations", name, allocations)
		}
	}
}

// The index keeps both for each object, and events repeat the error.
func TestOfLongValuesLittleIsKeptAndRepeated(t *testing.T) {
	for _, value := range []string{strings.Repeat("\x01", 260_000), strings.Repeat("\U0010ffff", 8000)} {
		all := map[string]string{}
		for _, key := range []string{hnc.AnnotationSelect, hnc.AnnotationTreeSelect, hnc.AnnotationNone, hnc.AnnotationAll, hnc.AnnotationAllowOverride, hnc.AnnotationOverride} {
			all[key] = value
		}
		kept := Of(all)
		if n := len(kept.Select); n > 4*maxCharacters {
			t.Errorf("%d bytes of a selector are kept", n)
		}
		if n := len(kept.None + kept.All + kept.AllowOverride + kept.Override); n > 4*maxBoolean {
			t.Errorf("%d bytes of booleans are kept", n)
		}
		_, problem := Parse(kept)
		_, misread := ParseOverrides(kept)
		if problem == nil || misread == nil {
			t.Fatalf("got the errors %v and %v", problem, misread)
		}
		if n := len(problem.Error() + misread.Error()); n > 8<<10 {
			t.Errorf("errors of %d bytes", n)
		}
	}
}
