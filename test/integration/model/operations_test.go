package model

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// operation is something that a user does. Names are those of the model: the cluster's have a prefix.
type operation struct {
	verb        verb
	space, to   string
	kind, name  string
	source      source
	mode        mode
	limit       int
	environment string
	allow       bool
}

// verb is a type of operations.
type verb string

const (
	createNamespace verb = "namespace"
	createSub       verb = "sub-namespace"
	deleteNamespace verb = "delete namespace"
	deleteSub       verb = "delete sub-namespace"
	setParent       verb = "parent"
	deleteHierarchy verb = "delete hierarchy"
	setCascading    verb = "cascading"
	setEnvironment  verb = "environment"
	put             verb = "put"
	remove          verb = "remove"
	setMode         verb = "mode"
	setQuota        verb = "quota"
	deleteQuota     verb = "delete quota"
	// await is no operation of the API: the cluster must match the model before the next operation.
	await verb = "await"
)

func (o operation) String() string {
	line := string(o.verb)
	switch o.verb {
	case createSub, setParent:
		line += fmt.Sprintf(" %s below %q", o.space, o.to)
	case setCascading:
		line += fmt.Sprintf(" %s %t", o.space, o.allow)
	case setEnvironment:
		line += fmt.Sprintf(" %s %q", o.space, o.environment)
	case put:
		line += fmt.Sprintf(" %s %s/%s %+v", o.kind, o.space, o.name, o.source)
	case remove:
		line += fmt.Sprintf(" %s %s/%s", o.kind, o.space, o.name)
	case setMode:
		line += fmt.Sprintf(" %s %+v", o.kind, o.mode)
	case setQuota:
		line += fmt.Sprintf(" %s %d", o.space, o.limit)
	case await:
	default:
		line += " " + o.space
	}
	return line
}

const (
	configMaps, roles, roleBindings = "configmaps", "roles", "rolebindings"
)

// ownPrefix begins names that are in one namespace only: nothing may ever happen to these objects.
const ownPrefix = "own-"

// generator draws operations. They do not depend on what was accepted, so that any part of a list can be repeated.
type generator struct {
	*rand.Rand
	// fulls and subs are the numbers of names of full namespaces and of sub-namespaces.
	fulls, subs int
	// churn leaves out what concerns the whole cluster.
	churn bool
	n     int
	// last is the last operation on an object whose kind and name are not those of an earlier one.
	last operation
}

func (g *generator) one(of ...string) string { return of[g.IntN(len(of))] }

func (g *generator) full() string { return fmt.Sprintf("n%d", g.IntN(g.fulls)) }
func (g *generator) sub() string  { return fmt.Sprintf("s%d", g.IntN(g.subs)) }

func (g *generator) any() string {
	if g.IntN(g.fulls+g.subs) < g.subs {
		return g.sub()
	}
	return g.full()
}

// operations returns a tree and n operations on it.
func (g *generator) operations(n int) (list []operation) {
	for i := range g.fulls {
		list = append(list, operation{verb: createNamespace, space: fmt.Sprintf("n%d", i)})
		if i > 0 && g.IntN(3) > 0 {
			list = append(list, operation{verb: setParent, space: fmt.Sprintf("n%d", i), to: fmt.Sprintf("n%d", g.IntN(i))})
		}
	}
	for range n {
		list = append(list, g.operation())
	}
	return list
}

func (g *generator) operation() operation {
	switch n := g.IntN(100); {
	case n < 14:
		return operation{verb: setParent, space: g.full(), to: g.one(g.any(), g.any(), g.full(), g.full(), "")}
	case n < 24:
		return operation{verb: createSub, space: g.sub(), to: g.any()}
	case n < 29:
		return operation{verb: createNamespace, space: g.full()}
	case n < 31:
		return operation{verb: deleteNamespace, space: g.any()}
	case n < 34:
		return operation{verb: deleteSub, space: g.sub()}
	case n < 36:
		return operation{verb: deleteHierarchy, space: g.full()}
	case n < 40:
		return operation{verb: setCascading, space: g.any(), allow: g.IntN(2) == 0}
	case n < 45:
		return operation{verb: setEnvironment, space: g.any(), environment: g.one("prod", "dev", "")}
	case n < 76:
		return g.put()
	case n < 88:
		o := g.put()
		o.verb = remove
		return o
	case n < 92 && !g.churn:
		return operation{verb: setMode, kind: configMaps, mode: mode{g.one("Propagate", "Propagate", "AllowPropagate", "Remove", "Ignore"), g.IntN(2) == 0}}
	case n < 96:
		return operation{verb: setQuota, space: g.any(), limit: 1000 + g.IntN(1000)}
	case n < 98:
		return operation{verb: deleteQuota, space: g.any()}
	case g.churn:
		return g.put()
	default:
		return operation{verb: await}
	}
}

func (g *generator) put() operation {
	g.n++
	o := operation{verb: put, kind: g.one(configMaps, roles, roleBindings), space: g.any(), source: source{value: fmt.Sprintf("v%d", g.n)}}
	switch o.name = g.one("a", "b", "c", ownPrefix); {
	case o.name == ownPrefix:
		o.name += o.space
	case g.last.verb == put && g.IntN(2) == 0:
		// Objects of one name are overwritten.
		o.kind, o.name = g.last.kind, g.last.name
	default:
		g.last = o
	}
	switch g.IntN(10) {
	case 0:
		o.source.exception = hnc.AnnotationNone
	case 1:
		o.source.exception = hnc.AnnotationAll
	case 2:
		o.source.exception, o.source.argument = hnc.AnnotationSelect, g.one("prod", "dev")
	case 3:
		o.source.exception, o.source.argument = hnc.AnnotationTreeSelect, g.one("", "!")+g.any()
	}
	o.source.allows, o.source.overrides = g.IntN(4) == 0, g.IntN(4) == 0
	return o
}

// text returns operations as a list.
func text(list []operation) string {
	var lines []string
	for i, o := range list {
		lines = append(lines, fmt.Sprintf("%3d %s", i, o))
	}
	return strings.Join(lines, "\n")
}
