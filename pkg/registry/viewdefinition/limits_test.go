package viewdefinition

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authentication/user"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// with returns the spec of a definition with fields of the schema of spec, and of the version.
func with(properties, version string) string {
	return strings.Replace(fmt.Sprintf(`{"group":"example.com","scope":"Namespaced",%s,%s}`, names, versions),
		schema, `"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{`+properties+`}}}}}`+version, 1)
}

func printing(paths ...string) string {
	var all []string
	for _, path := range paths {
		all = append(all, fmt.Sprintf(`{"name":"a","type":"string","jsonPath":%q}`, path))
	}
	return `,"additionalPrinterColumns":[` + strings.Join(all, ",") + `]`
}

type limitTest struct {
	what, spec string
	// want is a part of the error; "" means that the definition is valid.
	want string
}

func testLimits(t *testing.T, tests []limitTest) {
	for _, test := range tests {
		t.Run(test.what, func(t *testing.T) {
			err := validate(t.Context(), definition("widgets.example.com", test.spec), nil).ToAggregate()
			if (err != nil) != (test.want != "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

// A column that prints more than a scalar, or one that many columns print, makes a table many times as large as its
// objects.
func TestColumnsPrintOneScalarEach(t *testing.T) {
	const fields = `"size":{"type":"integer"},"port":{"x-kubernetes-int-or-string":true},"object":{"type":"object","x-kubernetes-preserve-unknown-fields":true},
"items":{"type":"object","x-kubernetes-preserve-unknown-fields":true,"items":{"type":"string"}},
"map":{"type":"object","additionalProperties":{"type":"string"}},"list":{"type":"array","items":{"type":"string"}},
"conditions":{"type":"array","items":{"type":"object","properties":{"type":{"type":"string"},"status":{"type":"string"}}}}`
	var tests []limitTest
	for path, want := range map[string]string{
		".spec.size": "", ".spec.port": "", ".spec.map.a": "", ".spec.list[0]": "", ".spec.list": "", ".spec.list[*]": "", ".spec.conditions[*].status": "", ".metadata.creationTimestamp": "", ".kind": "",
		`.spec.conditions[?(@.type=="Ready")].status`: "", `.spec.conditions[?(@.type == 'Ready')].status`: "", ".spec.conditions[-1].status": "",
		`.metadata.labels['app\.kubernetes\.io/name']`: "", `.metadata.labels.app\.kubernetes\.io/name`: "",
		".spec":                         "must lead to a string",
		".spec.object":                  "must lead to a string",
		".spec.items":                   "must lead to a string",
		".spec.object.x":                "the schema has nothing at",
		".spec.conditions[0]":           "must lead to a string",
		".spec.conditions":              "must lead to a string",
		".metadata":                     "must lead to a string",
		".metadata.managedFields":       "the schema has nothing at",
		".":                             "is not supported",
		"..size":                        "is not supported",
		".spec.*":                       "is not supported",
		".spec.map[*]":                  "the schema has nothing at",
		".spec.list[0:2]":               "is not supported",
		".spec.list[0,0,0]":             "is not supported",
		".spec['size','size']":          "is not supported",
		".spec.size}{.spec.size":        "is not supported",
		".spec.size[?(@.a==@.b)]":       "is not supported",
		`.spec.list[?(@.a!="x")]`:       "is not supported",
		".spec.size.x":                  "the schema has nothing at",
		`.spec.conditions[?(@..a=="")]`: "is not supported",
	} {
		if want != "" {
			want = `spec.versions[0].additionalPrinterColumns[0].jsonPath: Invalid value: `
		}
		tests = append(tests, limitTest{path, with(fields, printing(path)), want})
	}
	same := func(n int) (paths []string) {
		for i := range n {
			paths = append(paths, fmt.Sprintf(".spec.list[%d]", i))
		}
		return paths
	}
	testLimits(t, append(tests,
		limitTest{"columns of a field", with(fields, printing(same(maxColumnsOfField)...)), ""},
		limitTest{"more columns of a field", with(fields, printing(same(maxColumnsOfField+1)...)), "additionalPrinterColumns[8].jsonPath: Invalid value: \".spec.list[8]\": at most 8"},
		limitTest{"many columns", with(fields, printing(same(maxColumns+1)...)), "spec.versions[0].additionalPrinterColumns: Too many: 33"},
	))
}

// Defaults are added to what clients send and to what is stored: an element of two bytes must not become thousands.
func TestDefaultsAreBounded(t *testing.T) {
	text := func(n int) string { return `"` + strings.Repeat("x", n) + `"` }
	object := func(value string) string {
		return `{"type":"object","properties":{"a":{"type":"string","default":` + value + `}}}`
	}
	list := func(items, more string) string { return `"list":{"type":"array"` + more + `,"items":` + items + `}` }
	testLimits(t, []limitTest{
		{"some", with(`"a":{"type":"string","default":`+text(1<<10)+`}`, ""), ""},
		{"too many", with(`"a":{"type":"string","default":`+text(maxDefaults)+`}`, ""), "spec.versions[0].schema.openAPIV3Schema: Invalid value: the defaults of an object"},
		{"many values", with(`"a":{"type":"array","items":{"type":"integer"},"default":[`+strings.Repeat("0,", maxDefaults/defaultValue)+`0]}`, ""), "the defaults of an object"},
		{"a long name", with(`"`+strings.Repeat("a", 500)+`":{"type":"object","properties":{`+manyDefaults(250)+`}}`, ""), "the defaults of an object"},
		{"in a list", with(list(object(text(200)), ""), ""), ""},
		{"too many in a list", with(list(object(text(300)), ""), ""), "properties[spec].properties[list].items: Invalid value: the defaults of one of these"},
		{"with a long name in a list", with(list(`{"type":"object","properties":{"`+strings.Repeat("n", 300)+`":{"type":"integer","default":0}}}`, ""), ""), "the defaults of one of these"},
		{"in a map", with(`"map":{"type":"object","additionalProperties":`+object(text(300))+`}`, ""), "properties[map].additionalProperties: Invalid value: the defaults of one of these"},
		{"in a map with items", with(`"map":{"type":"object","items":{"type":"string"},"additionalProperties":`+object(text(300))+`}`, ""), "properties[map].items: Forbidden: items and additionalProperties"},
		{"in a short list", with(list(object(text(300)), `,"maxItems":10`), ""), "the defaults of one of these"},
		{"in a short list in another", with(list(`{"type":"object","properties":{`+list(object(text(300)), `,"maxItems":10`)+`}}`, ""), ""), "the defaults of one of these"},
		{"of a null in a list", with(list(`{"type":"string","default":`+text(300)+`}`, ""), ""), "the defaults of one of these"},
		// The defaults of elements are added to those of a default.
		{"of a default with many elements", with(list(object(text(100)), `,"default":[`+strings.Repeat("{},", 100)+`{}]`), ""), "the defaults of an object"},
		{"of objects of a default", with(`"a":{"type":"object","default":{},"properties":{"b":{"type":"object","default":{},"properties":{"c":{"type":"string","default":`+text(maxDefaults)+`}}}}}`, ""), "the defaults of an object"},
		{"that are written out", with(list(object(text(200)), `,"default":[`+strings.Repeat(`{"a":"b"},`, 20)+`{"a":"b"}]`), ""), ""},
	})
}

func manyDefaults(n int) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf(`"f%d":{"type":"integer","default":0}`, i))
	}
	return strings.Join(all, ",")
}

// An error about an element has the values, the pattern, the message and the path that the schema has for it.
func TestChecksOfElementsAreBounded(t *testing.T) {
	list := func(items, more string) string { return with(`"list":{"type":"array"`+more+`,"items":`+items+`}`, "") }
	enum := func(n int) string { return `{"type":"string","enum":["` + strings.Repeat("x", n) + `"]}` }
	long := strings.Repeat("n", maxPath)
	fields := func(n int) string { return strings.ReplaceAll(manyDefaults(n), `,"default":0`, "") }
	testLimits(t, []limitTest{
		{"values of a field", with(`"a":`+enum(10000), ""), ""},
		{"values of elements", list(enum(100), ""), ""},
		{"many values of elements", list(enum(maxElementChecks), ""), "properties[list].items: Invalid value: allOf, anyOf"},
		{"many values of few elements", list(enum(maxElementChecks), `,"maxItems":10`), "allOf, anyOf"},
		{"many alternatives", list(`{"type":"string","anyOf":[`+strings.Repeat(`{"minLength":1},`, 50)+`{}]}`, ""), "allOf, anyOf"},
		{"fields", list(`{"type":"object","properties":{`+fields(maxElementFields)+`}}`, ""), ""},
		{"many fields", list(`{"type":"object","properties":{`+fields(maxElementFields+1)+`}}`, ""), "properties[list].items.properties: Invalid value: has 129 fields"},
		{"many fields of few elements", list(`{"type":"object","properties":{`+fields(maxElementFields+1)+`}}`, `,"maxItems":10`), "has 129 fields"},
		{"a message", list(`{"type":"string","x-kubernetes-validations":[{"rule":"false","message":"`+strings.Repeat("m", maxElementChecks+1)+`"}]}`, ""), "allOf, anyOf"},
		{"a computed message", list(`{"type":"string","maxLength":9,"x-kubernetes-validations":[{"rule":"true","messageExpression":"self"}]}`, ""), "each messageExpression counts as 1024"},
		{"a long path", with(`"`+long+`":{"type":"string"}`, ""), "the names of the fields above have more than 512 bytes"},
	})
}

// An error has a copy of the value. maxItems does not help: all elements are validated before it is looked at.
func TestValidationsOfAValueAreBounded(t *testing.T) {
	list := func(items string) string { return with(`"list":{"type":"array","maxItems":1,"items":`+items+`}`, "") }
	rules := func(n int) string {
		return `{"type":"boolean","x-kubernetes-validations":[` + strings.Repeat(`{"rule":"self"},`, n-1) + `{"rule":"self"}]}`
	}
	all := func(n int) string {
		return `{"type":"string","allOf":[` + strings.Repeat(`{"minLength":1},`, n-1) + `{"minLength":1}]}`
	}
	required := func(n int) string {
		var names []string
		for i := range n {
			names = append(names, fmt.Sprintf(`"f%d"`, i))
		}
		return `{"type":"object","required":[` + strings.Join(names, ",") + `],"properties":{` + strings.ReplaceAll(manyDefaults(n), `,"default":0`, "") + `}}`
	}
	nested := func(n int) string {
		return `{"type":"object","properties":{"b":{"type":"string"}},"anyOf":[{"not":{"properties":{"b":` + strings.Replace(all(n-2), `"type":"string",`, "", 1) + `}}}]}`
	}
	testLimits(t, []limitTest{
		{"rules", with(`"a":`+rules(maxValidations), ""), ""},
		{"many rules", with(`"a":`+rules(maxValidations+1), ""), "properties[a]: Invalid value: has 33 validations"},
		{"schemas", with(`"a":`+all(maxValidations), ""), ""},
		{"many schemas", with(`"a":`+all(maxValidations+1), ""), "has 33 validations"},
		{"nested schemas", with(`"a":`+nested(maxValidations), ""), ""},
		{"many nested schemas", with(`"a":`+nested(maxValidations+1), ""), "has 33 validations"},
		{"required fields", with(`"a":`+required(maxValidations), ""), ""},
		{"many required fields", with(`"a":`+required(maxValidations+1), ""), "has 33 validations"},
		{"rules of elements", list(rules(maxElementValidations)), ""},
		{"many rules of elements", list(rules(maxElementValidations + 1)), "properties[list].items: Invalid value: has 9 schemas"},
		{"many rules of a map with items", with(`"map":{"type":"object","items":{"type":"string"},"additionalProperties":`+rules(maxElementValidations+1)+`}`, ""), "properties[map].items: Forbidden: items and additionalProperties"},
		{"schemas of elements", list(all(maxElementValidations)), ""},
		{"many schemas of elements", list(all(maxElementValidations + 1)), "has 9 schemas"},
		{"required fields of elements", list(required(maxValidations)), ""},
		{"many required fields of elements", list(required(maxValidations + 1)), "has 33 validations"},
		{"many schemas below elements", list(`{"type":"object","properties":{"a":` + all(maxElementValidations+1) + `}}`), "items.properties[a]: Invalid value: has 9 schemas"},
	})
}

// Each link of a chain doubles the rule when it is compiled.
func TestChainsOfOptionalsAreBounded(t *testing.T) {
	chain := func(call string, n int) string { return "optional.of(1)" + strings.Repeat("."+call, n) + ".hasValue()" }
	for rule, allowed := range map[string]bool{
		`self.?a.optMap(v, v == 1).orValue(true)`: true,
		chain("optMap(a, a)", 2):                  true,
		chain("optMap(a, a)", 3):                  false,
		chain("optMap(a, a)", 30):                 false,
		chain("optFlatMap(a, optional.of(a))", 3): false,
		`[1, 2].all(x, ` + chain("optMap(a, a)", 2) + `) && self.?a.optMap(v, v == 1).orValue(true)`: false,
	} {
		for _, name := range []string{"rule", "messageExpression"} {
			of := fmt.Sprintf(`{"rule":%q}`, rule)
			if name == "messageExpression" {
				of = fmt.Sprintf(`{"rule":"true","messageExpression":%q}`, rule)
			}
			v := definition("widgets.example.com", with(`"o":{"type":"object","properties":{"a":{"type":"integer"}},"x-kubernetes-validations":[`+of+`]}`, ""))
			spec, errs := decode(v)
			if len(errs) > 0 {
				t.Fatal(errs)
			}
			err := validateSpec(v, spec).ToAggregate()
			if (err == nil) != allowed || err != nil && !strings.Contains(err.Error(), "properties[o].x-kubernetes-validations[0]."+name+": Invalid value: ") {
				t.Errorf("%s %s: got %v", name, rule, err)
			}
		}
	}
	testLimits(t, []limitTest{
		{"compiled", with(`"o":{"type":"object","properties":{"a":{"type":"integer"}},"x-kubernetes-validations":[{"rule":"self.?a.optMap(v, v == 1).orValue(true)"}]}`, ""), ""},
	})
}

func TestPatternsAreBounded(t *testing.T) {
	pattern := func(p string) string { return fmt.Sprintf(`{"type":"string","pattern":%q}`, p) }
	rule := func(rule, message string) string {
		return fmt.Sprintf(`"a":{"type":"string","maxLength":9,"x-kubernetes-validations":[{"rule":%q,"messageExpression":%q}]}`, rule, message)
	}
	many := func(n int) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(`"f%d":%s`, i, pattern(`^[a-z]{1,1000}$`)))
		}
		return strings.Join(all, ",")
	}
	const large, unsupported = "has a pattern with more than 4096 bytes", "are not supported in CustomResourceDefinitions"
	var places []limitTest // All in which a schema may have others.
	for place, want := range map[string]string{
		`"properties":{"b":%s}`: large, `"items":%s`: large, `"additionalProperties":%s`: large,
		`"not":%s`: large, `"allOf":[%s]`: large, `"anyOf":[%s]`: large, `"oneOf":[{"items":%s}]`: large, `"oneOf":[{"additionalProperties":%s}]`: large,
		`"definitions":{"b":%s}`: unsupported, `"dependencies":{"b":%s}`: unsupported, `"patternProperties":{"b":%s}`: unsupported,
		`"items":[%s]`: unsupported, `"additionalItems":%s`: unsupported,
	} {
		places = append(places, limitTest{place, with(`"a":{"type":"object",`+fmt.Sprintf(place, pattern("((abc|def){30}){30}"))+`}`, ""), want})
	}
	testLimits(t, append(places, []limitTest{
		{"that of a name", with(`"a":`+pattern(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`), ""), ""},
		{"letters of any language", with(`"a":`+pattern(`^[\p{L}\p{N}]{1,63}$`), ""), ""},
		{"repetitions of repetitions", with(`"a":`+pattern(`((abc|def){30}){30}`), ""), "properties[a].pattern: Invalid value: has a pattern with more than 4096 bytes or instructions"},
		{"a long one", with(`"a":`+pattern(strings.Repeat("a", maxPattern+1)), ""), "has a pattern with more than 4096 bytes"},
		{"in an alternative", with(`"a":{"type":"string","anyOf":[{"pattern":"((abc|def){30}){30}"}]}`, ""), "anyOf[0].pattern: Invalid value: has a pattern"},
		{"deep in an alternative", with(`"a":{"type":"object","not":{"properties":{"b":{"allOf":[{"pattern":"((abc|def){30}){30}"}]}}},"properties":{"b":{"type":"string"}}}`, ""), "not.properties[b].allOf[0].pattern"},
		{"not one", with(`"a":`+pattern(`(`), ""), "missing closing )"},
		{"many", with(many(10), ""), ""},
		{"too many", with(many(20), ""), "the patterns have more than 16384 instructions"},
		{"in a rule", with(rule(`self.matches('^[a-z]{1,63}$') && self != r'(' && optional.of({'a': self}).?a.orValue('') == self`, ""), ""), ""},
		{"repetitions in a rule", with(rule(`self.matches('((abc|def)\x7b30}){30}')`, ""), ""), "x-kubernetes-validations[0].rule: Invalid value: "},
		{"repetitions in a message", with(rule("true", "'a'.find('((abc|def){30}){30}')"), ""), "x-kubernetes-validations[0].messageExpression: Invalid value: "},
		{"in quotes", with(rule(`self.matches('^a{1,63}$') && matches(self, '^a') && self.findAll('a').size() > 0`, ""), ""), ""},
		{"computed", with(rule(`self.matches(self)`, ""), ""), "x-kubernetes-validations[0].rule: Invalid value: \"self.matches(self)\": the pattern of matches"},
		{"concatenated", with(rule(`self.matches('(' + 'a)')`, ""), ""), "the pattern of matches"},
		{"computed in a function", with(rule(`.matches(self, self)`, ""), ""), "the pattern of matches"},
		{"computed in find", with(rule("true", `self.find(self)`), ""), "messageExpression: Invalid value: \"self.find(self)\": the pattern of matches"},
		{"computed in findAll", with(rule(`['a'].all(p, self.findAll(p, 1).size() == 1)`, ""), ""), "the pattern of matches"},
		{"not one in a rule", with(rule(`self.matches('a(')`, ""), ""), "missing closing )"},
	}...))
}

// The validation of defaults in a library keeps each pattern that it compiles.
func TestPatternsAreNotKept(t *testing.T) {
	v := definition("widgets.example.com", with(`"a":{"type":"string","pattern":"^x$","anyOf":[{"pattern":"y"}]}`, ""))
	spec, errs := decode(v)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	if errs := validateSpec(v, spec); len(errs) > 0 {
		t.Fatal(errs)
	}
	a := spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties["a"]
	if a.Pattern != "" || a.AnyOf[0].Pattern != "" {
		t.Errorf("got %v", a)
	}
}

func TestNamesOfBuiltInKindsAreRejected(t *testing.T) {
	for name, want := range map[string]string{
		`"plural":"pods","singular":"x","kind":"X","listKind":"XList"`:              "spec.names.plural",
		`"plural":"po","singular":"x","kind":"X","listKind":"XList"`:                "spec.names.plural",
		`"plural":"x","singular":"deploy","kind":"X","listKind":"XList"`:            "spec.names.singular",
		`"plural":"xs","kind":"Service","listKind":"ServiceList"`:                   "spec.names.singular",
		`"plural":"xs","kind":"X","shortNames":["po"],"categories":["all"]`:         "",
		`"plural":"xs","kind":"X","shortNames":["` + strings.Repeat("x", 60) + `"]`: "spec.names.shortNames",
	} {
		plural, _, _ := strings.Cut(strings.TrimPrefix(name, `"plural":"`), `"`)
		err := validate(t.Context(), definition(plural+".example.com", `{"group":"example.com","scope":"Namespaced","names":{`+name+`},`+versions+`}`), nil).ToAggregate()
		if (err != nil) != (want != "") || err != nil && (!strings.Contains(err.Error(), want) || strings.Contains(err.Error(), placeholder)) {
			t.Errorf("%s: got %v, want %q", name, err, want)
		}
	}
}

// Dry runs cost as much as writes.
func TestFewSpecsAreValidatedAtTheSameTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, end := make(slots, maxInFlight), make(chan struct{})
		var running atomic.Int32
		for range 10 * maxInFlight {
			go func() { _ = s.do(t.Context(), func() { running.Add(1); <-end; running.Add(-1) }) }()
		}
		synctest.Wait()
		if running.Load() != maxInFlight {
			t.Errorf("%d run at the same time", running.Load())
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := s.do(ctx, func() { t.Error("it runs") }); err == nil {
			t.Error("a request that has ended waits")
		}
		close(end)
		synctest.Wait()
		for range 100 {
			if err := s.do(ctx, func() { t.Error("it runs in a free slot") }); !errors.Is(err, context.Canceled) {
				t.Fatalf("got %v", err)
			}
		}
	})
}

func TestLimitsOfANamespace(t *testing.T) {
	of := func(name string, bytes int) hnc.ViewDefinition {
		return hnc.ViewDefinition{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: runtime.RawExtension{Raw: make([]byte, bytes)}}
	}
	ending := of("a", 2)
	ending.DeletionTimestamp = &metav1.Time{}
	half, more := of("a", hnc.MaxViewDefinitionBytes/2), of("a", hnc.MaxViewDefinitionBytes/2+1)
	stored := []hnc.ViewDefinition{half, of("b", hnc.MaxViewDefinitionBytes/2), of("c", 0)}
	for _, test := range []struct {
		what    string
		v, old  hnc.ViewDefinition // A creation has no old one.
		allowed int
		number  bool
		total   bool
	}{
		{"one more", of("d", 0), hnc.ViewDefinition{}, 4, true, true},
		{"one too many", of("d", 0), hnc.ViewDefinition{}, 3, false, true},
		{"a change", of("a", 1), half, 3, true, true},
		{"a change while there are too many", of("a", 1), half, 2, false, true},
		{"a change while none are allowed", of("a", 1), half, 0, false, true},
		{"a change of one that is being deleted", of("a", 1), ending, 0, true, true},
		{"a large one", of("d", 1), hnc.ViewDefinition{}, 4, true, false},
		{"one that becomes large", more, half, 3, true, false},
		{"one that was larger", more, of("a", hnc.MaxViewDefinitionBytes), 3, true, true},
	} {
		old := &test.old
		if old.Name == "" {
			old = nil
		}
		if err := validateNumber(stored, test.allowed, &test.v, old); (err == nil) != test.number || err != nil && !apierrors.IsForbidden(err) {
			t.Errorf("%s: their number: %v", test.what, err)
		}
		if err := validateTotal(stored, &test.v, old); (err == nil) != test.total || err != nil && !apierrors.IsForbidden(err) {
			t.Errorf("%s: their size: %v", test.what, err)
		}
	}
}

// A write has its spec in memory while it waits to be validated. A tenant can have any number of users in its tree.
func TestFewWritesAreInFlight(t *testing.T) {
	failed := errors.New("failed")
	store := &genericregistry.Store{
		BeginCreate: func(context.Context, runtime.Object, *metav1.CreateOptions) (genericregistry.FinishFunc, error) {
			return nil, failed
		},
		KeyFunc: func(context.Context, string) (string, error) { return "", failed },
	}
	r := newREST(store, func(namespace string) string { return strings.Split(namespace, ".")[0] })
	in := func(namespace string) context.Context {
		as := &user.DefaultInfo{Name: "user-of-" + namespace}
		return genericapirequest.WithNamespace(genericapirequest.WithUser(t.Context(), as), namespace)
	}
	write := func(ctx context.Context) (createErr, updateErr error) {
		_, createErr = r.Create(ctx, &hnc.ViewDefinition{}, nil, &metav1.CreateOptions{})
		_, _, updateErr = r.Update(ctx, "", nil, nil, nil, false, nil)
		return createErr, updateErr
	}
	for range maxWrites + 1 { // Those that have ended are not counted.
		if createErr, updateErr := write(in("tree-0")); !errors.Is(createErr, failed) || !errors.Is(updateErr, failed) {
			t.Fatalf("got %v, %v", createErr, updateErr)
		}
	}
	for i := range maxWrites {
		if _, err := r.begin(in(fmt.Sprintf("tree-%d.child-%d", i/maxWritesPerTree, i))); err != nil {
			t.Fatal(err)
		}
		namespace := "tree-0.another" // one with another user
		if i == maxWrites-1 {
			namespace = "other"
		}
		createErr, updateErr := write(in(namespace))
		if full := i >= maxWritesPerTree-1; apierrors.IsTooManyRequests(createErr) != full || apierrors.IsTooManyRequests(updateErr) != full {
			t.Errorf("%s, while there are %d: %v, %v", namespace, i+1, createErr, updateErr)
		}
	}
	if _, err := r.begin(genericapirequest.WithUser(t.Context(), &user.DefaultInfo{Name: hnc.PropagatorUser})); err != nil {
		t.Errorf("the propagator: %v", err)
	}
}

// none lists no definitions.
type none struct{ rest.Lister }

func (none) List(context.Context, *metainternalversion.ListOptions) (runtime.Object, error) {
	return &hnc.ViewDefinitionList{}, nil
}

// A spec is parsed while others wait, and users who may have no definitions have none parsed.
func TestTheNumberIsCheckedBeforeTheSpec(t *testing.T) {
	const spec = `{"b": 1, "a": 2}`
	for allowed, want := range []string{spec, `{"a":2,"b":1}`} {
		v := &hnc.ViewDefinition{Spec: runtime.RawExtension{Raw: []byte(spec)}}
		limit := func(context.Context, string) (int, error) { return allowed, nil }
		err := withinLimits(t.Context(), none{}, limit, strategy{slots: make(slots, 1)}, v, nil)
		if apierrors.IsForbidden(err) != (allowed == 0) || string(v.Spec.Raw) != want {
			t.Errorf("%d are allowed: got %v, %s, want %s", allowed, err, v.Spec.Raw, want)
		}
	}
}

// The cost of validating a rule, and of building its types, is that of all that is below.
func TestSchemasAreNotDeep(t *testing.T) {
	nested := func(n int, before, after string) string {
		return with(`"a":`+strings.Repeat(before, n-1)+`{"type":"string"}`+strings.Repeat(after, n-1), "")
	}
	const most, want = maxSchemaDepth - 2, "spec.versions[0].schema.openAPIV3Schema: Invalid value: has 65 schemas within each other"
	testLimits(t, []limitTest{
		{"fields", nested(most, `{"type":"object","properties":{"a":`, `}}`), ""},
		{"fields within each other", nested(most+1, `{"type":"object","properties":{"a":`, `}}`), want},
		{"lists within each other", nested(most+1, `{"type":"array","items":`, `}`), want},
		{"maps within each other", nested(most+1, `{"type":"object","additionalProperties":`, `}`), want},
		{"alternatives within each other", nested(most+1, `{"anyOf":[`, `]}`), want},
		{"negations within each other", nested(most+1, `{"not":`, `}`), want},
		{"maps within each other with items", nested(most+1, `{"type":"object","items":{"type":"string"},"additionalProperties":`, `}`), "properties[a].items: Forbidden: items and additionalProperties"},
	})
}

// What is measured before a write is what is stored, which may be several times as large as what a client sends.
func TestSpecsAreMeasuredAsTheyAreStored(t *testing.T) {
	v := definition("widgets.example.com", `{"a": "<<<", "b": 1e20}`)
	measured := string(v.Spec.Raw)
	if canonicalize(v); string(v.Spec.Raw) != measured {
		t.Errorf("%s becomes %s", measured, v.Spec.Raw)
	}
	if stored, err := json.Marshal(v.Spec); err != nil || string(stored) != measured {
		t.Errorf("%s is stored as %s: %v", measured, stored, err)
	}
}
