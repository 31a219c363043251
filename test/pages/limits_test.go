package pages

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/format"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// limits are constants of the code, and what the page of limits says about them. In that, {} is the value, {KiB}, {MiB}
// and {minutes} the value in these units.
var limits = []struct{ file, constant, says string }{
	{"pkg/forest/forest.go", "maxDepth", "| namespaces from a namespace to its root | {} |"},
	{"pkg/apis/hnc/validation/abstract.go", "maxAbstractAncestors", "| [abstract ancestors](../abstract-ancestors.md) of a root | {} |"},
	{"pkg/apis/hnc/validation/metadata.go", "maxPairs", "one hierarchy or Subnamespace sets | {}, of"},
	{"pkg/apis/hnc/validation/metadata.go", "maxPairsBytes", "one hierarchy or Subnamespace sets | 256, of {KiB} KiB |"},
	{"pkg/propagator/desired/room.go", "maxManagedBytes", "hierarchies set on one namespace | {KiB} KiB |"},
	{"pkg/names/names.go", "MaxLength", "| name of a propagated object | {} bytes |"},
	{"pkg/exceptions/exceptions.go", "maxCharacters", "| `select`, `treeSelect` | {} characters"},
	{"pkg/exceptions/exceptions.go", "maxItems", "characters, {} items |"},
	{"pkg/registry/overwrittenobject/eviction.go", "maxManifest", "[overwritten object](../kinds.md#overwritten-objects) | {KiB} KiB |"},
	{"pkg/registry/overwrittenobject/eviction.go", "maxTotal", "| stored content in total | {MiB} MiB;"},
	{"pkg/apis/hnc/validation/quota.go", "maxQuotaResources", "| resources of a [quota](../quota.md) | {}, of"},
	{"pkg/apis/hnc/validation/quota.go", "maxQuotaText", "of {KiB} KiB with the values of scopes"},
	{"pkg/registry/tree/quota.go", "maxQuotas", "| quotas in a namespace | {} |"},
	{"pkg/quota/size.go", "quotaSize", "each of which counts as {} bytes more"},
	{"pkg/quota/size.go", "MaxNamespaceSize", "bytes more | {KiB} KiB;"},
	{"pkg/quota/size.go", "MaxChainSize", "KiB; {KiB} KiB with those of its ancestors"},
	{"pkg/quota/size.go", "MaxChainScopes", "| different scopes of the quotas of a namespace and its ancestors | {} |"},
	{"pkg/apis/hnc/validation/quota_scopes.go", "maxScopes", "values of one | {};"},
	{"pkg/apis/hnc/validation/quota_scopes.go", "maxScopeValues", "values of one | 20; {} |"},
	{"pkg/apis/hnc/quantity.go", "MaxQuantityText", "| a limit | 9223372036854775807, {} characters"},
	{"pkg/propagator/controller/quota/status.go", "maxNamespaces", "| namespaces in `status.namespaces` | {}, of"},
	{"pkg/propagator/controller/quota/status.go", "maxUseBytes", "of {KiB} KiB | counted in `status.omittedNamespaces`"},
	{"pkg/registry/tree/quotas_move.go", "maxLedgers", "moves below another quota | {} |"},
	{"pkg/registry/quota/ledger/subtrees.go", "maxSubtrees", "summed up at the same time | {} per replica,"},
	{"pkg/registry/quota/ledger/subtrees.go", "maxSubtreesPerUser", "summed up at the same time | 16 per replica, {} per user |"},
	{"pkg/registry/rates/changes.go", "changesPerSecond", "| changes of limits | {} per second"},
	{"pkg/registry/rates/changes.go", "changesBurst", "with a burst of {} per replica"},
	{"pkg/registry/rates/changes.go", "namespacesOfChange", "{} namespaces below the quota cost one more"},
	{"pkg/propagator/controller/quota/probe.go", "probeTimeout", "| time until use is recorded | {s} s |"},
	{"pkg/apiserver/longurls.go", "maxPath", "| URL | {KiB} KiB of path"},
	{"pkg/longurl/longurl.go", "MaxQuery", "in a [view](../views.md) {KiB} KiB; {KiB} KiB of query |"},
	{"pkg/view/path.go", "maxHeaders", "| headers in a view, without credentials | {KiB} KiB |"},
	{"pkg/apiserver/bodylimit.go", "maxRequestBody", "| body | {MiB} MiB;"},
	{"pkg/apiserver/bodylimit.go", "maxPlanBody", "{KiB} KiB for a plan and for a strategic merge patch"},
	{"pkg/apiserver/bodylimit.go", "maxStrategicPatch", "{KiB} KiB for a plan and for a strategic merge patch"},
	{"pkg/yamlbody/yamlbody.go", "MaxBytes", "{KiB} KiB for YAML"},
	{"pkg/yamlbody/yamlbody.go", "MaxValues", "like JSON in its place, {} values"},
	{"pkg/registry/strategy/metadata.go", "maxLabels", "| metadata of an object | {} labels"},
	{"pkg/registry/strategy/metadata.go", "maxFinalizers", "{} finalizers"},
	{"pkg/registry/strategy/metadata.go", "maxOwnerReferences", "{} owner references"},
	{"pkg/registry/strategy/metadata.go", "maxMetadataBytes", "owner references, {KiB} KiB of these"},
	{"pkg/registry/strategy/metadata.go", "maxAnnotationsBytes", "{KiB} KiB of annotations"},
	{"pkg/registry/strategy/metadata.go", "maxManagedFieldsBytes", "{KiB} KiB of `managedFields` with"},
	{"pkg/registry/largeobjects/limit.go", "small", "what exceeds {KiB} KiB |"},
	{"pkg/registry/largeobjects/limit.go", "burst", "with a burst of {MiB} MiB per replica"},
	{"pkg/registry/copyrelease/rooms.go", "maxPerTree", "| CopyReleases that are stored | {} per tree |"},
	{"pkg/registry/copyrelease/storage.go", "ttl", "they expire after {sixtieth} minutes"},
	{"pkg/registry/subtree/memory.go", "maxListMemory", "| objects of one list, as JSON | {MiB} MiB |"},
	{"pkg/registry/subtree/memory.go", "maxListsMemory", "| objects of all lists in flight | {MiB} MiB per replica"},
	{"pkg/registry/subtree/watchmux.go", "maxWatchMemory", "such a watch has not read | {MiB} MiB each"},
	{"pkg/registry/subtree/watchmux.go", "maxMemory", "MiB each, {MiB} MiB per replica"},
	{"pkg/registry/subtree/eventwriter.go", "writeTimeout", "per replica, {s} s | the watch ends"},
	{"pkg/apiserver/options/selectors.go", "maxReviewedSelector", "| a selector in a review of permissions | {KiB} KiB |"},
	{"pkg/registry/selectors/selectors.go", "maxValues", "| keys and values of a selector | {}, of"},
	{"pkg/registry/selectors/selectors.go", "maxBytes", "| keys and values of a selector | 1,000, of {KiB} KiB |"},
	{"pkg/registry/strategy/metadata.go", "maxManagedFieldsLevels", "of `managedFields` with {} levels |"},
	{"pkg/serving/entry.go", "reviewTimeout", "40 of one user; {s} s |"},
	{"pkg/view/gateway/budget.go", "maxViewBodies", "| bodies of requests that are translated | {MiB} MiB together"},
	{"pkg/view/gateway/budget.go", "maxBodies", "together in a view, {MiB} MiB in all; one minute"},
	{"pkg/view/gateway/budget.go", "maxViewResponses", "| stored parts of large responses | {MiB} MiB together"},
	{"pkg/view/gateway/budget.go", "maxResponses", "together in a view, {MiB} MiB in all | 429"},
	{"pkg/view/entries.go", "maxDocument", "without what is of other views | {MiB} MiB each;"},
	{"pkg/view/gateway/budget.go", "maxViewDocuments", "each; {} of a view and"},
	{"pkg/view/gateway/budget.go", "maxDocuments", "of a view and {MiB} MiB of all at the same time"},
	{"pkg/view/gateway/budget.go", "minDocument", "counts as {MiB} MiB at least"},
	{"pkg/view/gateway/budget.go", "minDocument", "wait, above {MiB} MiB 429"},
	{"pkg/view/mapping/scan.go", "maxMembers", "fields of a message in protobuf | {} |"},
	{"pkg/view/mapping/protobuf.go", "maxWireFields", "fields of a message in protobuf | {} |"},
	{"pkg/view/patch/patch.go", "maxObject", "strategic merge patches change | {KiB} KiB |"},
	{"pkg/view/patch/patch.go", "maxPatch", "strategic merge patches of a namespace | {KiB} KiB |"},
	{"pkg/apis/hnc/types_viewdefinition.go", "MaxViewDefinitions", "of a view | 0 by default, {} at most"},
	{"pkg/registry/viewdefinition/validation.go", "maxSpec", "| one of them | {MiB} MiB of"},
	{"pkg/registry/viewdefinition/validation.go", "maxDepth", "MiB of `spec`, {} levels"},
	{"pkg/registry/viewdefinition/validation.go", "maxVersions", "levels, {} versions"},
	{"pkg/registry/viewdefinition/validation.go", "maxRules", "versions, {} validation rules"},
	{"pkg/yamlbody/yamlbody.go", "MaxValues", "| values in one | {} |"},
	{"pkg/apis/hnc/types_viewdefinition.go", "MaxViewDefinitionBytes", "| all of a namespace | {MiB} MiB"},
	{"pkg/registry/viewdefinition/columns.go", "maxColumns", "| printer columns of a version | {}, of which"},
	{"pkg/registry/viewdefinition/columns.go", "maxColumnsOfField", "of which {} print the same field"},
	{"pkg/registry/viewdefinition/defaults.go", "maxDefaults", "| defaults of an object | {KiB} KiB, to which"},
	{"pkg/registry/viewdefinition/defaults.go", "defaultValue", "each value adds {} bytes"},
	{"pkg/registry/viewdefinition/defaults.go", "maxElementDefaults", "{} bytes in an object below a list or map"},
	{"pkg/registry/viewdefinition/schema.go", "maxElementChecks", "below lists and maps | {} bytes of JSON"},
	{"pkg/registry/viewdefinition/schema.go", "messageSize", "each `messageExpression` counts as {} |"},
	{"pkg/registry/viewdefinition/schema.go", "maxValidations", "required fields of one value | {}; below"},
	{"pkg/registry/viewdefinition/schema.go", "maxElementValidations", "below lists and maps, {} without"},
	{"pkg/registry/viewdefinition/patterns.go", "maxCopies", "`optFlatMap` in a rule or message | {} |"},
	{"pkg/registry/viewdefinition/schema.go", "maxElementFields", "| fields of an object below a list or map | {} |"},
	{"pkg/registry/viewdefinition/schema.go", "maxPath", "| names of the fields above a field | {} bytes"},
	{"pkg/registry/viewdefinition/patterns.go", "maxPattern", "| patterns, also in rules | {} instructions each"},
	{"pkg/registry/viewdefinition/patterns.go", "maxPatterns", "instructions each, {} in all"},
	{"pkg/registry/viewdefinition/strategy.go", "maxInFlight", "| their validation | {} at the same time"},
	{"pkg/propagator/controller/viewdefinition/controller.go", "perSecond", "| their changes | {} per second"},
	{"pkg/propagator/controller/viewdefinition/controller.go", "burst", "per second, with a burst of {}; half"},
	{"pkg/view/upgrade.go", "maxAnswer", "such as of `exec` | {KiB} KiB |"},
	{"pkg/registry/hierarchyplan/validation.go", "maxLimit", "| `spec.limit` | {} objects"},
	{"pkg/registry/hierarchyplan/validation.go", "defaultLimit", "objects in a response, {} by default"},
	{"pkg/registry/hierarchyplan/validation.go", "maxResources", "| `spec.resources` | {} |"},
	{"pkg/registry/hierarchyplan/diff.go", "maxDiffLines", "| diff of an object | {} lines |"},
	{"pkg/registry/hierarchyplan/exceeded.go", "maxExceededQuotas", "| exceeded quotas in a response | {} |"},
	{"pkg/repository/inherit.go", "maxObjects", "inherited ones included | {} |"},
	{"pkg/repository/inherit.go", "maxInherited", "once for each namespace | {MiB} MiB, to which"},
	{"pkg/repository/inherit.go", "valueSize", "to which each value adds {} bytes"},
	{"pkg/repository/inherit.go", "fieldSize", "each field of an object and of its metadata {} |"},
	{"pkg/reposync/git/pack.go", "maxPackObjects", "| Git objects of a commit, in `hns-sync` | {} of up to"},
	{"pkg/reposync/git/objects.go", "maxObject", "of up to {MiB} MiB; commits and directories"},
	{"pkg/reposync/git/objects.go", "maxTree", "commits and directories of {MiB} MiB;"},
	{"pkg/reposync/git/objects.go", "maxExpansion", "{} times as much unpacked"},
	{"pkg/reposync/repository.go", "readLimit", "times as much unpacked; {minutes} minutes |"},
}

// A limit that is changed in the code is changed on its page, too.
func TestTheLimitsOnThePageAreThoseInTheCode(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(root, "docs/reference/limits.md"))
	if err != nil {
		t.Fatal(err)
	}
	page := strings.Join(strings.Fields(string(raw)), " ")
	for _, l := range limits {
		value := constantOf(t, l.file, l.constant)
		says := strings.NewReplacer("{}", grouped(value), "{KiB}", grouped(value>>10), "{MiB}", grouped(value>>20), "{s}", grouped(value/1e9),
			"{minutes}", grouped(value/60e9), "{sixtieth}", grouped(value/60)).Replace(l.says)
		if !strings.Contains(page, says) {
			t.Errorf("docs/reference/limits.md does not say %q, of %s in %s", says, l.constant, l.file)
		}
	}
}

// grouped formats a number as the pages do, with commas.
func grouped(n int64) string {
	digits := fmt.Sprint(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

var durations = regexp.MustCompile(`\btime\.(Second|Minute)\b`)

// constantOf returns the value of a constant, whose expression has literals and durations only.
func constantOf(t *testing.T, file, name string) int64 {
	t.Helper()
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, filepath.Join(root, file), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, decl := range parsed.Decls {
		consts, ok := decl.(*ast.GenDecl)
		if !ok || consts.Tok != token.CONST {
			continue
		}
		for _, spec := range consts.Specs {
			values := spec.(*ast.ValueSpec)
			for i, ident := range values.Names {
				if ident.Name != name || i >= len(values.Values) {
					continue
				}
				var source strings.Builder
				if err := format.Node(&source, set, values.Values[i]); err != nil {
					t.Fatal(err)
				}
				text := durations.ReplaceAllStringFunc(source.String(), func(unit string) string {
					return map[string]string{"time.Second": "1000000000", "time.Minute": "60000000000"}[unit]
				})
				result, err := types.Eval(token.NewFileSet(), nil, token.NoPos, text)
				if err != nil {
					t.Fatalf("%s in %s: %v", name, file, err)
				}
				value, _ := constant.Int64Val(result.Value)
				return value
			}
		}
	}
	t.Fatalf("there is no constant %s in %s", name, file)
	return 0
}
