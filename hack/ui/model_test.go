package main

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/dop251/goja"
	"github.com/evanw/esbuild/pkg/api"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
)

// model returns an evaluator of expressions in which M is the model of the page, which needs no browser.
func model(t *testing.T) func(expression string) string {
	t.Helper()
	result := api.Build(api.BuildOptions{
		EntryPoints: []string{"../../ui/src/model.ts"}, Bundle: true, Format: api.FormatIIFE, GlobalName: "M", Target: api.ES2017, Charset: api.CharsetUTF8, TsconfigRaw: "{}",
	})
	if len(result.Errors) > 0 {
		t.Fatalf("esbuild: %v", result.Errors)
	}
	vm := goja.New()
	if _, err := vm.RunString(string(result.OutputFiles[0].Contents)); err != nil {
		t.Fatal(err)
	}
	return func(expression string) string {
		t.Helper()
		value, err := vm.RunString(expression)
		if err != nil {
			t.Fatalf("%s: %v", expression, err)
		}
		text, err := json.Marshal(value.Export())
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
}

// converted returns what a function of the model makes of a text.
func converted(t *testing.T, eval func(string) string, function, text string) string {
	t.Helper()
	literal, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	var result string
	if err := json.Unmarshal([]byte(eval("M."+function+"("+string(literal)+")")), &result); err != nil {
		t.Fatal(err)
	}
	return result
}

// The page shows what readers do not see as names.Printable escapes it.
func TestMarksThatReadersDoNotSee(t *testing.T) {
	eval := model(t)
	for _, text := range []string{
		"team-a Größe 名前 ●", "a\rb\x1b\a\u007f\u009b", "a\u202eb", "a\u2066b\u2069\u200b\u200e\u061c", "line\u2028paragraph\u2029", "\ufeffmark\u00adhyphen", "filler\u3164\uffa0\u115f\u17b4",
		"selector\ufe0f\u180b\U000e0100", "joiner\u034f", "tag\U000e0041", "space\u00a0\u2003\u3000", "private\ue000", "unassigned\u0378", "astral 😀",
	} {
		got, want := converted(t, eval, "visible", text), ""
		for _, r := range text {
			if names.Printable(string(r)) == string(r) {
				want += string(r)
			} else {
				want += fmt.Sprintf("⟨%U⟩", r)
			}
		}
		if got != want {
			t.Errorf("%+q is shown as %+q, want %+q", text, got, want)
		}
	}
}

// TestShellWordsAreThoseOfTheCommandLine has words of which a terminal would act on a part.
func TestShellWordsAreThoseOfTheCommandLine(t *testing.T) {
	eval := model(t)
	for _, text := range []string{
		"", "roles/pod-reader", "-n", "it's", "$(id)", "Größe", "a\nid", "a\tb", "a\x03id\r", "\x1b[201~id\n", "'\n!\\`Größe 😀", "a\u202eb", "\u009b", "space\u00a0",
	} {
		if got, want := converted(t, eval, "shellWord", text), names.ShellWord(text); got != want {
			t.Errorf("%+q is %+q, want %+q", text, got, want)
		}
	}
}

func TestModel(t *testing.T) {
	eval := model(t)
	eval(`
		var bad = [{ type: 'ActivitiesHalted', status: 'True', reason: 'ParentMissing', message: 'm' }]
		var members = [
			{ name: 'acme', kind: 'full' }, { name: 'beta', kind: 'full' }, { name: 'beta-1', parent: 'beta', kind: 'full', problems: bad, labels: { team: 'Red' } },
			{ name: 'acme-2', parent: 'acme', kind: 'full' }, { name: 'acme-1', parent: 'acme', kind: 'full' }, { name: 'lost', parent: 'gone', kind: 'full' },
			{ name: 'x', parent: 'y', kind: 'full' }, { name: 'y', parent: 'x', kind: 'full' },
		]
		var roots = M.build(members)
		var list = (filter, open) => M.rows(roots, Object.assign({ text: '', problems: false }, filter), () => open).map(r => ' '.repeat(r.depth) + r.node.member.name).join('\n')
		var quota = { namespace: 'acme', name: 'q', limits: [], namespaces: [{ namespace: 'acme', used: { pods: 1 } }, { namespace: 'deep', used: { pods: 2 } }, { namespace: 'stray', used: { pods: 4 } }, { namespace: 'none', used: { pods: 0 } }] }
		var useText = u => u.name + ':' + u.own + '/' + u.sum + '(' + u.children.map(useText).join(' ') + ')'
	`)
	for name, row := range map[string]struct{ expression, want string }{
		"problems come first, and a cycle ends": {`list({}, true)`, `"beta\n beta-1\nacme\n acme-1\n acme-2\nlost\nx\n y"`},
		"collapsed":                             {`list({}, false)`, `"beta\nacme\nlost\nx"`},
		"a filter shows ancestors":              {`list({ text: 'me-1' }, false)`, `"acme\n acme-1"`},
		"a label":                               {`list({ text: 'team=red' }, false)`, `"beta\n beta-1"`},
		"an unknown label":                      {`list({ text: 'team=blue' }, false)`, `""`},
		"a label named as an object's property": {`list({ text: 'constructor=x' }, false)`, `""`},
		"with problems":                         {`list({ problems: true }, false)`, `"beta\n beta-1"`},
		"mine":                                  {`list({ mine: new Set(['acme-2']) }, false)`, `"acme\n acme-2"`},
		"a missing parent":                      {`roots.filter(n => n.parentMissing).map(n => n.member.name).join()`, `"lost"`},
		"10,000 levels":                         {`M.build(Array.from({ length: 10000 }, (_, i) => ({ name: 'n' + i, parent: i ? 'n' + (i - 1) : undefined })))[0].descendants`, `9999`},
		"rows around one":                       {`[M.around(5, 4, 10), M.around(100, -1, 10), M.around(100, 50, 10), M.around(100, 99, 10)]`, `[[0,5],[0,10],[45,55],[90,100]]`},
		"words":                                 {`M.words('ActivitiesHalted')`, `"Activities halted"`},
		"an age":                                {`M.age('2026-01-01T00:00:00Z', Date.parse('2026-01-03T01:00:00Z'))`, `"2d"`},
		"marks that hide text":                  {"M.visible('a\\u202eb\\u200b\\u0007<b>')", `"a⟨U+202E⟩b⟨U+200B⟩⟨U+0007⟩\u003cb\u003e"`},
		"lines stay":                            {"M.visible('a\\n\\tb')", `"a\n\tb"`},
		"a spreadsheet gets no formulas":        {`M.csv([['=1+1', 'a"b', '-x']])`, `"\"'=1+1\",\"a\"\"b\",\"'-x\"\r\n"`},
		"an amount in binary units":             {`M.amount(1610612736, '3Gi')`, `"1.5Gi"`},
		"an amount in thousandths":              {`M.amount(0.25, '500m')`, `"250m"`},
		"an amount without unit":                {`M.amount(0.3, '2')`, `"0.3"`},
		"use along the tree":                    {`useText(M.useOf(quota, 'pods', new Map([['acme', undefined], ['team', 'acme'], ['deep', 'team'], ['stray', 'elsewhere']])))`, `"acme:1/7(stray:4/4() team:0/2(deep:2/2()))"`},
		"use when parents form a cycle":         {`useText(M.useOf(quota, 'pods', new Map([['deep', 'stray'], ['stray', 'deep']])))`, `"acme:1/7(deep:2/6(stray:4/4()))"`},
		"the limit with the least left binds": {`JSON.stringify(M.binding([
			{ namespace: 'acme', limits: [{ resource: 'pods', value: 100, share: 0.9 }, { resource: 'secrets', value: 1, share: 1 }] },
			{ namespace: 'team', limits: [{ resource: 'pods', value: 10, share: 0.5 }] }, { namespace: 'other', limits: [{ resource: 'pods', value: 1, share: 1 }] },
			{ namespace: 'team', scoped: true, limits: [{ resource: 'pods', value: 1, share: 1 }] },
		], ['acme', 'team']).map(b => [b.quota.namespace, b.limit.resource]))`, `"[[\"acme\",\"secrets\"],[\"team\",\"pods\"]]"`},
		"permissions by subject":                  {`JSON.stringify(M.accessChanges([{ name: 'a', access: [{ change: 'Gained', kind: 'User', name: 'u', roleKind: 'Role', role: 'r' }] }, { name: 'b', access: [{ change: 'Gained', kind: 'User', name: 'u', roleKind: 'Role', role: 'r' }] }]).map(c => [c.text, c.namespaces.join()]))`, `"[[\"User u gains Role/r\",\"a,b\"]]"`},
		"a parent is in the middle of its leaves": {`JSON.stringify(M.layout(M.rows(roots, { text: 'acme', problems: false }, () => true)).nodes.map(n => [n.name, n.y]))`, `"[[\"acme\",40],[\"acme-1\",28],[\"acme-2\",52]]"`},
		"an empty drawing":                        {`JSON.stringify(M.layout([]))`, `"{\"nodes\":[],\"width\":16,\"height\":32}"`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := eval(row.expression); got != row.want {
				t.Errorf("%s\ngot  %s\nwant %s", row.expression, got, row.want)
			}
		})
	}
}
