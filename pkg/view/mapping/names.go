package mapping

import (
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// ExternalSuffix marks the names of namespaces that are not shown. Names of namespaces contain no dot, so no namespace can
// have such a name.
const ExternalSuffix = ".external"

// Config describes the names of a view.
type Config struct {
	// Root is the real name of the view's namespace.
	Root string
	// Relative selects names relative to the root. Otherwise all names are real.
	Relative bool
	// Prefix is cut from the real names of members. If it is empty, members have their real names.
	Prefix string
	// External are the namespaces, except for Root, that references mean as they are.
	External []string
	// Member reports whether a namespace is in the subtree of Root, and when it was created, zero if that is not known.
	// It may be called at any time, from several goroutines.
	Member func(realName string) (created time.Time, ok bool)
}

// Names translates between the real names of namespaces and those in a view. It computes each name from the
// configuration and the membership of two names, so it needs no memory for each member, and follows the tree.
//
// A namespace with the prefix and one without it can have one name in the view. The one that was created first keeps
// it, so that nobody can take over a name that is in use; the other one is shadowed.
type Names struct {
	root, prefix string
	relative     bool
	external     map[string]bool
	created      func(string) (time.Time, bool)
}

// NewNames returns the names of a view. hnc.ViewRootName is not external, because it means the root.
func NewNames(c Config) *Names {
	n := &Names{root: c.Root, prefix: c.Prefix, relative: c.Relative, created: c.Member, external: map[string]bool{}}
	for _, name := range c.External {
		if name != c.Root && name != hnc.ViewRootName {
			n.external[name] = true
		}
	}
	return n
}

// Root returns the real name of the view's namespace.
func (n *Names) Root() string { return n.root }

// Relative reports whether names in the view differ from real ones.
func (n *Names) Relative() bool { return n.relative }

// Member reports whether a namespace is in the view, shown or shadowed.
func (n *Names) Member(realName string) bool { return realName == n.root || n.member(realName) }

func (n *Names) member(realName string) bool {
	_, ok := n.created(realName)
	return ok
}

// Shown returns the name of a member in the view; ok is false for other namespaces and for shadowed members.
func (n *Names) Shown(realName string) (view string, ok bool) {
	if !n.Member(realName) {
		return "", false
	}
	view = n.Out(realName)
	return view, !strings.HasSuffix(view, ExternalSuffix)
}

// Shadowed reports whether a member is not shown, because another member has its name in the view.
func (n *Names) Shadowed(realName string) bool {
	_, shown := n.Shown(realName)
	return n.Member(realName) && !shown
}

// Resolve returns the real name of a namespace that is shown in the view; ok is false for any other name.
func (n *Names) Resolve(view string) (realName string, ok bool) {
	realName = n.In(view)
	shown, ok := n.Shown(realName)
	if !ok || shown != view {
		return "", false
	}
	return realName, true
}

// Create returns the real name under which a namespace is created through the view. The error is one of the API: 422
// for names that are not valid, 409 for names that are taken.
func (n *Names) Create(view string) (realName string, err error) {
	path := field.NewPath("metadata", "name")
	kind := schema.GroupKind{Kind: "Namespace"}
	if problems := validation.IsDNS1123Label(view); len(problems) > 0 {
		return "", apierrors.NewInvalid(kind, view, field.ErrorList{field.Invalid(path, view, strings.Join(problems, "; "))})
	}
	realName = n.In(view)
	_, shown := n.Resolve(view)
	// With ExternalSuffix, it is the name of the root without the prefix.
	if shown || n.Member(realName) || n.relative && n.external[view] || strings.HasSuffix(realName, ExternalSuffix) {
		return "", apierrors.NewAlreadyExists(schema.GroupResource{Resource: "namespaces"}, view)
	}
	if len(realName) > validation.DNS1123LabelMaxLength {
		return "", apierrors.NewInvalid(kind, view, field.ErrorList{field.Invalid(path, view,
			fmt.Sprintf("must have at most %d characters in this view", max(validation.DNS1123LabelMaxLength-len(n.prefix), 0)))})
	}
	return realName, nil
}

// Out returns the name in the view of any namespace that a reference names by its real name. No two real names have
// the same name in a view, and In is the inverse. Text that is not the name of a namespace is returned unchanged.
func (n *Names) Out(realName string) string {
	switch {
	case !n.relative:
		return realName
	case realName == n.root:
		return hnc.ViewRootName
	case !isLabel(realName):
		if strings.HasSuffix(realName, ExternalSuffix) {
			return realName + ExternalSuffix
		}
		return realName
	case n.external[realName], n.kept(realName) && realName != hnc.ViewRootName:
		return realName
	}
	// A name with the prefix that is not a member is one that the view could create.
	if view, ok := n.short(realName); ok && !n.yields(realName) {
		return view
	}
	if n.unprefixed(realName) {
		return realName
	}
	return realName + ExternalSuffix
}

// In returns the real name of any namespace that a reference in the view names. A name that is not in use is that of
// the namespace that the view would create; if there cannot be one, it is a name that no namespace can have. So only
// Config.External and names with ExternalSuffix mean namespaces that are neither members nor have the prefix, and no two
// names without that suffix mean one namespace.
func (n *Names) In(view string) string {
	if !n.relative {
		return view
	}
	if view == hnc.ViewRootName {
		return n.root
	}
	if realName, ok := strings.CutSuffix(view, ExternalSuffix); ok && (isLabel(realName) || strings.HasSuffix(realName, ExternalSuffix)) {
		return realName
	}
	if !isLabel(view) {
		return view
	}
	realName := view
	if !n.kept(view) && !n.unprefixed(view) {
		realName = n.prefix + view // which can be too long
	}
	if realName == n.root {
		return view + ExternalSuffix // Only hnc.ViewRootName means the root.
	}
	return realName
}

// short returns the name without the prefix, if there it can be used in the view.
func (n *Names) short(realName string) (view string, ok bool) {
	view, ok = strings.CutPrefix(realName, n.prefix)
	return view, ok && n.prefix != "" && realName != n.root && isLabel(realName) && isLabel(view) && !n.kept(view)
}

// kept reports whether a name means the same in the view and outside, with the exception of hnc.ViewRootName: names of external
// namespaces and hnc.ViewRootName itself, and these with the prefix, any number of times. If "acme-default" was shown as
// "default", it would hide the root.
func (n *Names) kept(name string) bool {
	for {
		if name == hnc.ViewRootName || n.external[name] {
			return true
		}
		rest, ok := strings.CutPrefix(name, n.prefix)
		if !ok || n.prefix == "" {
			return false
		}
		name = rest
	}
}

// unprefixed reports whether a name that is not kept is that of a member that is shown under its real name.
func (n *Names) unprefixed(realName string) bool {
	return n.plain(realName) && n.member(realName) && !n.yields(realName)
}

// plain reports whether a member of that name would be shown under its real name, if no other one had that.
func (n *Names) plain(realName string) bool {
	_, prefixed := n.short(realName)
	return realName != n.root && realName != hnc.ViewRootName && !prefixed
}

// Rival returns the only other namespace that would have the same name in the view as this one, if both were members;
// ok is false if there is none.
func (n *Names) Rival(realName string) (rival string, ok bool) {
	switch view, prefixed := n.short(realName); {
	case !n.relative:
		return "", false
	case prefixed:
		return view, n.plain(view)
	case realName == hnc.ViewRootName && realName != n.root:
		return n.root, true
	case !n.plain(realName):
		return "", false
	}
	rival = n.prefix + realName
	_, ok = n.short(rival)
	return rival, ok
}

// yields reports whether another member has the name in the view that this namespace would have.
func (n *Names) yields(realName string) bool {
	rival, ok := n.Rival(realName)
	if !ok {
		return false
	}
	theirs, member := n.created(rival)
	if !member {
		return false
	}
	own, member := n.created(realName)
	return !member || earlier(rival, theirs, realName, own)
}

// earlier reports whether namespace a was created before b. Of those of the same second, the name decides, and those of
// which nothing is known yet are the latest.
func earlier(a string, aCreated time.Time, b string, bCreated time.Time) bool {
	switch {
	case aCreated.IsZero() != bCreated.IsZero():
		return bCreated.IsZero()
	case !aCreated.Equal(bCreated):
		return aCreated.Before(bCreated)
	}
	return a < b
}

// isLabel reports whether a text can be the name of a namespace.
func isLabel(s string) bool {
	if len(s) == 0 || len(s) > validation.DNS1123LabelMaxLength || s[0] == '-' || s[len(s)-1] == '-' {
		return false
	}
	for i := range len(s) {
		if c := s[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return true
}
