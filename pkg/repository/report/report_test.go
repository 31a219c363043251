package report_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/report"
)

const help = "https://github.com/hierarchy-apiserver/hierarchy-apiserver/blob/main/docs/reference/repository-errors.md"

// TestTextOfErrors has the very text, which other tools read.
func TestTextOfErrors(t *testing.T) {
	errors := report.Errors{
		{Code: report.MissingRepo, Message: "no Repo", Paths: []string{"system/"}},
		{Code: report.NameCollision, Message: "two of them", Sources: []report.Source{
			{Path: "namespaces/a/b.yaml", Line: 3, Namespace: "a", Name: "b", Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "Role"},
			{Path: "cluster/c.json", Name: "c", Version: "v1", Kind: "Namespace"},
		}},
		{Code: report.MissingRepo, Message: "no Repo", Paths: []string{"system/"}},
	}
	want := `2 error(s)


[1] KNV1017: no Repo

path: system/

For more information, see ` + help + `#knv1017


[2] KNV1029: two of them

source: namespaces/a/b.yaml:3
namespace: a
metadata.name: b
group: rbac.authorization.k8s.io
version: v1
kind: Role

source: cluster/c.json
metadata.name: c
group: 
version: v1
kind: Namespace

For more information, see ` + help + `#knv1029
`
	if diff := cmp.Diff(want, errors.Error()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestTextCannotBeForged has names that would move a terminal's cursor, and that would look like another error.
func TestTextCannotBeForged(t *testing.T) {
	text := (&report.Error{Code: report.InvalidName, Message: "a\x1b[2Jb", Paths: []string{"x\ny"}, Sources: []report.Source{
		{Path: "a\n\n[2] KNV1017: forged", Namespace: "\r", Name: "\u202e", Group: "\x00", Version: "\x07", Kind: "\u2028"},
	}}).Error()
	for _, part := range []string{"a\\x1b[2Jb\n", `path: x\ny`, `source: a\n\n[2] KNV1017: forged`, `namespace: \r`, `metadata.name: \u202e`, `group: \x00`, `version: \a`, `kind: \u2028`} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in\n%s", part, text)
		}
	}
}

// retired are numbers that Config Sync has given up, which must mean nothing else.
const retired = "1000 1001 1002 1008 1012 1015 1016 1018 1022 1023 1024 1025 1026 1028 1030 1033 1035 1037 1040 1049 1051 1059 1062 1063"

func TestRetiredNumbersAreNotUsed(t *testing.T) {
	source, err := os.ReadFile("code.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, number := range strings.Fields(retired) {
		if strings.Contains(string(source), "KNV"+number) {
			t.Errorf("KNV%s is used", number)
		}
	}
}
