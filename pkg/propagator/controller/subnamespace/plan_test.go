package subnamespace

import (
	"strings"
	"testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree/treetest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
)

func TestWhatASubnamespaceNeeds(t *testing.T) {
	for name, test := range map[string]struct {
		given []string
		want  string // action, options, and state and reason of the status
	}{
		"ANCHOR-5 the namespace is missing":                   {[]string{"ns p", "asked p c"}, "Create mark set-parent Ok/Ready"},
		"the parent is marked":                                {[]string{"ns p last label hnc.x-k8s.io/has-subnamespaces=true", "asked p c"}, "Create set-parent Ok/Ready"},
		"an earlier version marked the parent":                {[]string{"ns p label hnc.x-k8s.io/has-subnamespaces=true", "asked p c"}, "Create mark set-parent Ok/Ready"},
		"the parent is missing":                               {[]string{"asked p c"}, "None"},
		"the parent terminates":                               {[]string{"ns p", "asked p c", "terminating p"}, "Release"},
		"the parent is halted":                                {[]string{"ns p", "parent p x", "asked p c"}, "Report Missing/AncestorHaltActivities"},
		"an ancestor terminates":                              {[]string{"ns a", "ns p", "parent p a", "asked p c", "terminating a"}, "Report Missing/NamespaceTerminating"},
		"the namespace was just created":                      {[]string{"ns p", "asked p c", "ns c sub-of p"}, "Populate set-parent Ok/Ready"},
		"ANCHOR-6 the hierarchy is there":                     {[]string{"ns p", "asked p c", "ns c sub-of p", "parent c p"}, "Populate Ok/Ready"},
		"the hierarchy names no parent":                       {[]string{"ns p", "ready p c", "ns c sub-of p", "cascading c"}, "Populate set-parent Ok/Ready"},
		"all is done":                                         {[]string{"ns p", "ready p c", "ns c sub-of p", "parent c p"}, "None"},
		"it was ready before the tree was halted":             {[]string{"ns p", "parent p x", "ready p c", "ns c sub-of p", "parent c p"}, "None"},
		"a ready one's namespace is gone":                     {[]string{"ns p", "ready p c", "parent c p"}, "Create mark set-parent Ok/Ready"},
		"the namespace is not a sub-namespace":                {[]string{"ns p", "asked p c", "ns c"}, "Void"},
		"the namespace is somebody else's":                    {[]string{"ns p", "asked p c", "ns c sub-of q"}, "Void"},
		"the namespace is external":                           {[]string{"ns p", "asked p c", "ns c", "has c manager other"}, "Void"},
		"the same, and it is below the parent":                {[]string{"ns p", "asked p c", "ns c", "parent c p", "has c manager other"}, "Report Conflict/NamespaceConflict"},
		"the namespace is excluded, and no sub-namespace":     {[]string{"ns p", "asked p c", "ns c label off="}, "Void"},
		"it was converted, its parent was excluded":           {[]string{"ns p label off=", "asked p c", "ns c label p.tree.hnc.x-k8s.io/depth=1"}, "Report Forbidden/NamespaceForbidden"},
		"ANCHOR-3 a void one's is not a sub-namespace":        {[]string{"ns p", "asked p c", "void p c", "ns c"}, "Report Conflict/NamespaceConflict"},
		"ANCHOR-3 a void one's is somebody else's":            {[]string{"ns p", "asked p c", "void p c", "ns c sub-of q"}, "Report Conflict/NamespaceConflict"},
		"a void one's is excluded":                            {[]string{"ns p", "asked p c", "void p c", "ns c label off="}, "Report Forbidden/NamespaceForbidden"},
		"its hierarchy names another parent":                  {[]string{"ns p", "asked p c", "ns c sub-of p", "parent c q"}, "Report Conflict/NamespaceConflict"},
		"an older one asks for the same name":                 {[]string{"ns a", "ns p", "asked a c", "asked p c"}, "Report Conflict/NamespaceConflict"},
		"the name is excluded":                                {[]string{"ns p", "asked p kube-system"}, "Report Forbidden/NamespaceForbidden"},
		"the parent is excluded":                              {[]string{"ns kube-system", "asked kube-system c"}, "Report Forbidden/NamespaceForbidden"},
		"the namespace terminates":                            {[]string{"ns p", "ready p c", "ns c sub-of p", "parent c p", "terminating c"}, "Report Ok/NamespaceTerminating"},
		"ANCHOR-4 deletion of a leaf":                         {[]string{"ns p", "deleting p c", "ns c sub-of p", "parent c p"}, "Delete uid-c"},
		"DEL-2 deletion of a leaf without a hierarchy":        {[]string{"ns p", "deleting p c", "ns c sub-of p"}, "Delete uid-c"},
		"DEL-3 deletion with a full child":                    {[]string{"ns p", "deleting p c", "ns c sub-of p", "ns d", "parent d c"}, "Release set-parent"},
		"deletion with a child being created":                 {[]string{"ns p", "deleting p c", "ns c sub-of p", "asked c d"}, "Release set-parent"},
		"the same, and its hierarchy names the parent":        {[]string{"ns p", "deleting p c", "ns c sub-of p", "parent c p", "asked c d"}, "Release"},
		"DEL-2 deletion with a child, cascading":              {[]string{"ns p", "cascading c", "deleting p c", "ns c sub-of p", "ns d", "parent d c"}, "Delete record uid-c"},
		"DEL-2 deletion with a child, cascading above":        {[]string{"ns p", "cascading p", "deleting p c", "ns c sub-of p", "ns d", "parent d c"}, "Delete record uid-c"},
		"deletion in a terminating parent":                    {[]string{"ns p", "deleting p c", "ns c sub-of p", "terminating p"}, "Release"},
		"deletion in a terminating parent, own ACD":           {[]string{"ns p", "deleting p c", "ns c sub-of p", "cascading c", "terminating p"}, "Release"},
		"CASCADE-1 deletion in a terminating parent, allowed": {[]string{"ns p label hnc.x-k8s.io/cascading-deletion=allowed", "deleting p c", "ns c sub-of p", "terminating p"}, "Delete record uid-c"},
		"the same, and it was revoked":                        {[]string{"ns p label hnc.x-k8s.io/cascading-deletion=allowed", "requires p", "deleting p c", "ns c sub-of p", "terminating p"}, "Release"},
		"deletion in a terminating parent, record":            {[]string{"ns p", "cascading p", "deleting p c", "ns c sub-of p", "terminating p"}, "Delete record uid-c"},
		"deletion in a terminating parent, Hierarchy gone":    {[]string{"ns p", "deleting p c", "ns c sub-of p label hnc.x-k8s.io/cascading-deletion=allowed", "terminating p"}, "Release"},
		"DEL-4 deletion while the namespace terminates":       {[]string{"ns p", "deleting p c", "ns c sub-of p", "terminating c"}, "None"},
		"DEL-5 deletion when the namespace is gone":           {[]string{"ns p", "deleting p c"}, "Release"},
		"deletion when the parent is gone":                    {[]string{"deleting p c", "ns c sub-of p"}, "Release"},
		"DEL-6 deletion of one in conflict":                   {[]string{"ns p", "deleting p c", "ns c"}, "Release"},
		"the same, and somebody's finalizer keeps it":         {[]string{"ns p", "deleting p c", "kept p c", "ns c"}, "Void"},
		"the same, in a terminating parent":                   {[]string{"ns p", "deleting p c", "kept p c", "ns c", "terminating p"}, "Void"},
		"the same, and it is void":                            {[]string{"ns p", "deleting p c", "kept p c", "void p c", "ns c"}, "Release"},
		"the same, and its Hierarchy takes no parent now":     {[]string{"ns p", "deleting p c", "kept p c", "ns c label p.tree.hnc.x-k8s.io/depth=1", "cascading c", "terminating p"}, "Release"},
		"DEL-6 deletion of somebody else's":                   {[]string{"ns p", "deleting p c", "ns c sub-of q"}, "Release"},
		"deletion of a moved one":                             {[]string{"ns p", "ns q", "deleting p c", "ns c sub-of p", "parent c q"}, "Release"},
		"the namespace was converted":                         {[]string{"ns p", "ready p c", "ns c sub-of p", "parent c p", "ns c"}, "Void"},
		"it was converted while nobody looked":                {[]string{"ns p", "ready p c", "ns c", "parent c p"}, "Void"},
		"it was converted before this was remembered":         {[]string{"ns p", "asked p c", "ns c label p.tree.hnc.x-k8s.io/depth=1", "parent c p"}, "Void"},
		"it was converted and deleted":                        {[]string{"ns p", "ready p c", "ns c sub-of p", "ns c", "gone c"}, "Void"},
		"it was converted and annotated again":                {[]string{"ns p", "ready p c", "ns c sub-of p", "parent c p", "ns c", "ns c sub-of p"}, "None"},
		"the same, and it is gone":                            {[]string{"ns p", "ready p c", "ns c sub-of p", "parent c p", "ns c", "ns c sub-of p", "gone c"}, "Create mark set-parent Ok/Ready"},
		"it was converted before it had a hierarchy":          {[]string{"ns p", "asked p c", "ns c label p.tree.hnc.x-k8s.io/depth=1"}, "Void set-parent"},
		"the same, and its record is deleted":                 {[]string{"ns p", "deleting p c", "ns c label p.tree.hnc.x-k8s.io/depth=1"}, "Void set-parent"},
		"it was converted, its hierarchy names no parent":     {[]string{"ns p", "asked p c", "ns c label p.tree.hnc.x-k8s.io/depth=1", "cascading c"}, "Void set-parent"},
		"the same, and the record is deleted":                 {[]string{"ns p", "deleting p c", "ns c label p.tree.hnc.x-k8s.io/depth=1", "cascading c"}, "Void set-parent"},
		"the same, with the parent":                           {[]string{"ns p", "deleting p c", "ns c label p.tree.hnc.x-k8s.io/depth=1", "cascading c", "terminating p"}, "Release"},
		"one in conflict, the namespace is gone":              {[]string{"ns p", "conflict p c"}, "Create mark set-parent Ok/Ready"},
		"the same, and the parent was excluded":               {[]string{"ns p label off=", "conflict p c", "ns d", "parent d c"}, "Report Conflict/NamespaceForbidden"},
		"one in conflict, its namespace was a parent":         {[]string{"ns p", "conflict p c", "ns d", "parent d c"}, "Report Conflict/NamespaceConflict"},
		"a ready one's namespace is gone and was a parent":    {[]string{"ns p", "ready p c", "ns d", "parent d c"}, "Create mark set-parent Ok/Ready"},
		"it was converted, and left":                          {[]string{"ns p", "ready p c", "ns c label p.tree.hnc.x-k8s.io/depth=1"}, "Void"},
		"a void one":                                          {[]string{"ns p", "ready p c", "void p c", "ns c", "parent c p"}, "Report Conflict/NamespaceConverted"},
		"a void one's namespace is gone":                      {[]string{"ns p", "ready p c", "void p c"}, "Report Conflict/NamespaceConverted"},
		"a void one's namespace is annotated again":           {[]string{"ns p", "ready p c", "void p c", "ns c sub-of p"}, "Report Conflict/NamespaceConverted"},
		"deletion of a void one":                              {[]string{"ns p", "deleting p c", "void p c", "ns c sub-of p", "parent c p"}, "Release"},
		"deletion of an excluded name":                        {[]string{"ns p", "ns kube-system sub-of p", "deleting p kube-system"}, "Release"},
	} {
		t.Run(name, func(t *testing.T) {
			key := tree.Key{Parent: "p", Name: "c"}
			if strings.Contains(name, "name is excluded") || strings.Contains(name, "excluded name") {
				key.Name = "kube-system"
			}
			if strings.Contains(name, "parent is excluded") {
				key.Parent = "kube-system"
			}
			plan := planFor(treetest.New(test.given...), key, treetest.Now)
			words := []string{string(plan.action)}
			if plan.markParent {
				words = append(words, "mark")
			}
			if plan.setParent {
				words = append(words, "set-parent")
			}
			if plan.recordCascading {
				words = append(words, "record")
			}
			if plan.uid != "" {
				words = append(words, string(plan.uid))
			}
			if len(plan.status.Conditions) > 0 {
				words = append(words, string(plan.status.State)+"/"+plan.status.Conditions[0].Reason)
			}
			if got := strings.Join(words, " "); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// The namespace controller of Kubernetes deletes the Subnamespace of a terminating namespace only after some seconds.
func TestSubnamespacesOfATerminatingNamespace(t *testing.T) {
	const allowed = " label hnc.x-k8s.io/cascading-deletion=allowed"
	for name, test := range map[string]struct {
		given []string
		want  action
	}{
		"CASCADE-3 the namespace goes along":               {[]string{"ns p" + allowed, "ready p c", "ns c sub-of p", "parent c p"}, deleteNamespace},
		"CASCADE-3 its Hierarchy is gone already":          {[]string{"ns p" + allowed, "ready p c", "ns c sub-of p"}, deleteNamespace},
		"an ancestor of the parent allows it":              {[]string{"ns a", "cascading a", "ns p", "parent p a", "ready p c", "ns c sub-of p"}, deleteNamespace},
		"it is not allowed":                                {[]string{"ns p", "ready p c", "ns c sub-of p", "parent c p"}, release},
		"it is allowed below only":                         {[]string{"ns p", "ready p c", "ns c sub-of p" + allowed, "parent c p", "cascading c"}, release},
		"CASCADE-5 the namespace terminates":               {[]string{"ns p" + allowed, "ready p c", "ns c sub-of p", "terminating c"}, release},
		"the namespace is gone":                            {[]string{"ns p" + allowed, "ready p c"}, release},
		"CASCADE-6 the namespace was converted":            {[]string{"ns p" + allowed, "ready p c", "ns c sub-of p", "parent c p", "ns c"}, release},
		"CASCADE-6 the namespace is somebody else's":       {[]string{"ns p" + allowed, "conflict p c", "ns c sub-of q"}, release},
		"CASCADE-6 the namespace is full":                  {[]string{"ns p" + allowed, "conflict p c", "ns c", "parent c p"}, release},
		"the namespace has another parent":                 {[]string{"ns p" + allowed, "ns q", "ready p c", "ns c sub-of p", "parent c q"}, release},
		"the namespace is external":                        {[]string{"ns p" + allowed, "ready p c", "ns c sub-of p", "has c manager other"}, release},
		"the Subnamespace is void":                         {[]string{"ns p" + allowed, "ready p c", "void p c", "ns c sub-of p", "parent c p"}, deleteNamespace},
		"the same, and the namespace is full":              {[]string{"ns p" + allowed, "ready p c", "void p c", "ns c", "parent c p"}, release},
		"the Subnamespace belongs to an earlier namespace": {[]string{"ns p" + allowed, "ready p c", "bound p c uid-earlier", "ns c sub-of p", "parent c p"}, deleteNamespace},
		"the Subnamespace has no finalizer":                {[]string{"ns p" + allowed, "ready p c", "free p c", "ns c sub-of p", "parent c p"}, deleteNamespace},
		"the same, and its Hierarchy is gone":              {[]string{"ns p" + allowed, "ready p c", "free p c", "ns c sub-of p"}, none},
		"there is no Subnamespace":                         {[]string{"ns p" + allowed, "ns c sub-of p", "parent c p"}, deleteNamespace},
		"the same, and it is not allowed":                  {[]string{"ns p", "ns c sub-of p" + allowed, "parent c p"}, none},
		"the same, and the namespace terminates":           {[]string{"ns p" + allowed, "ns c sub-of p", "parent c p", "terminating c"}, none},
		"there is an annotation only":                      {[]string{"ns p" + allowed, "ns c sub-of p"}, none},
		"there is a Hierarchy only":                        {[]string{"ns p" + allowed, "ns c", "parent c p"}, none},
		"the Hierarchy names another parent":               {[]string{"ns p" + allowed, "ns q", "ns c sub-of p", "parent c q"}, none},
	} {
		t.Run(name, func(t *testing.T) {
			w := treetest.New(append(test.given, "terminating p")...)
			if got := planFor(w, tree.Key{Parent: "p", Name: "c"}, treetest.Now); got.action != test.want {
				t.Errorf("got %s, want %s", got.action, test.want)
			}
		})
	}
}

// The Hierarchies that allow cascading deletion may be gone before the namespaces below are considered.
func TestCascadingIsRecordedBeforeANamespaceIsDeleted(t *testing.T) {
	w := treetest.New("ns p", "cascading p", "ready p c", "ns c sub-of p", "parent c p", "ready c d", "ns d sub-of c", "parent d c", "terminating p")
	key := tree.Key{Parent: "p", Name: "c"}
	if p := planFor(w, key, treetest.Now); p.action != deleteNamespace || !p.recordCascading {
		t.Errorf("without the label: %+v", p)
	}
	treetest.Apply(w, "has c label hnc.x-k8s.io/cascading-deletion=allowed")
	if p := planFor(w, key, treetest.Now); p.action != deleteNamespace || p.recordCascading {
		t.Errorf("with the label: %+v", p)
	}
	for _, line := range []string{"terminating c", "no-hierarchy c", "no-hierarchy p", "gone p"} {
		treetest.Apply(w, line)
	}
	if p := planFor(w, tree.Key{Parent: "c", Name: "d"}, treetest.Now); p.action != deleteNamespace {
		t.Errorf("below, after everything else is gone: %+v", p)
	}
}

func TestANewSubnamespaceHasItsLabelsFromTheStart(t *testing.T) {
	plan := planFor(treetest.New("ns a", "ns p", "parent p a", "cascading a", "asked p c"), tree.Key{Parent: "p", Name: "c"}, treetest.Now)
	if got, want := treetest.Show(plan.namespace.Labels), "a:2 c:0 cascading-deletion in-tree included-namespace p:1"; got != want {
		t.Errorf("labels %q, want %q", got, want)
	}
	if got := plan.namespace.Annotations[hnc.AnnotationSubnamespaceOf]; got != "p" {
		t.Errorf("sub-namespace of %q", got)
	}
}

func TestAReportedStatusIsNotReportedAgain(t *testing.T) {
	for name, lines := range map[string][]string{
		"in conflict":     {"ns p", "asked p c", "void p c", "ns c"},
		"in a halted one": {"ns p", "parent p missing", "asked p c", "ns c sub-of p", "parent c p"},
	} {
		w := treetest.New(lines...)
		key := tree.Key{Parent: "p", Name: "c"}
		s := *w.SubnamespaceRecord(key)
		s.ResourceVersion, s.Status = treetest.Next(), planFor(w, key, treetest.Now).status
		w.SetSubnamespace(&s)
		if plan := planFor(w, key, treetest.Now); plan.action != none {
			t.Errorf("%s: %s %v", name, plan.action, plan.status)
		}
	}
}

func TestAReleasedSubnamespaceIsLeftAlone(t *testing.T) {
	w := treetest.New("ns p", "deleting p c", "ns c sub-of p")
	key := tree.Key{Parent: "p", Name: "c"}
	s := *w.SubnamespaceRecord(key)
	s.ResourceVersion, s.Finalizers = treetest.Next(), []string{"somebody.else/holds"}
	w.SetSubnamespace(&s)
	if plan := planFor(w, key, treetest.Now); plan.action != none {
		t.Error(plan.action)
	}
}
