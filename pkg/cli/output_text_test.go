package cli

import (
	"io"
	"strings"
	"testing"
	"time"
	"unicode"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli/admins"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli/diagnosis"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli/origin"
)

func TestTextWriterEscapesAllButOwnCodes(t *testing.T) {
	t.Parallel()
	for _, text := range []struct{ in, want string }{
		{"plain\n\tindented\n", "plain\n\tindented\n"},
		{Ansi("36")("[s]") + " " + Ansi("31;1")("KNV1036"), Ansi("36")("[s]") + " " + Ansi("31;1")("KNV1036")},
		{clearLine + "1/2 objects ...", clearLine + "1/2 objects ..."},
		{"a\x1b[2J\rb\x1b]0;title\a", `a\x1b[2J\rb\x1b]0;title\a`},
		{"admin\u202enimda \x9b31m └── ●\n", "admin\\u202enimda \\x9b31m └── ●\n"},
	} {
		// However the text is divided, the result is the same.
		for n := 1; n <= len(text.in); n++ {
			if got := throughWriter(text.in, n); got != text.want {
				t.Errorf("%q in parts of %d bytes: got %q, want %q", text.in, n, got, text.want)
			}
		}
	}
}

// throughWriter returns what a textWriter makes of a text in parts of n bytes.
func throughWriter(text string, n int) string {
	var out strings.Builder
	w := &textWriter{w: &out}
	for len(text) > 0 {
		part := text[:min(n, len(text))]
		_, _ = w.Write([]byte(part))
		text = text[len(part):]
	}
	w.flush()
	return out.String()
}

func FuzzTextWriter(f *testing.F) {
	for _, seed := range []string{"a\n\tb", Ansi("36")("[s]"), clearLine, "\x1b[3\x1b[36m\r", "\u202e\x9b31m", "└──\xe2\x94"} {
		f.Add(seed, uint8(1))
	}
	f.Fuzz(func(t *testing.T, text string, n uint8) {
		got := throughWriter(text, int(n)+1)
		if whole := throughWriter(text, len(text)+1); got != whole {
			t.Errorf("%q in parts of %d bytes: got %q, want %q", text, int(n)+1, got, whole)
		}
		for _, code := range ownCodes {
			got = strings.ReplaceAll(got, code, "")
		}
		if strings.ContainsFunc(got, func(r rune) bool { return r != '\n' && r != '\t' && !unicode.IsPrint(r) }) {
			t.Errorf("the output of %q contains %q", text, got)
		}
	})
}

func TestForeignTextForgesNoRow(t *testing.T) {
	t.Parallel()
	const foreign, shown = "x\nUser  mallory\tadmin\u202e", `User  mallory\tadmin\u202e`
	for name, write := range map[string]func(w io.Writer) error{
		"who": func(w io.Writer) error {
			return printGrants(w, []admins.Grant{{Subject: rbacv1.Subject{Kind: rbacv1.UserKind, Name: foreign}, Role: foreign, Binding: foreign}}, true)
		},
		"conditions": func(w io.Writer) error {
			h := &v1beta1.Hierarchy{Status: v1beta1.HierarchyStatus{Conditions: []metav1.Condition{{Type: "T", Status: metav1.ConditionTrue, Message: foreign}}}}
			return describeHierarchy(w, h, nil)
		},
		"events": func(w io.Writer) error {
			return describeEvents(w, "ns", []corev1.Event{{Source: corev1.EventSource{Component: hnc.GroupName}, Message: foreign}}, time.Now())
		},
		"rows of get": func(w io.Writer) error {
			return rowPrinter(w)(unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": foreign}}})
		},
		"explain": func(w io.Writer) error {
			o := &whyOptions{IOStreams: genericiooptions.IOStreams{Out: w}}
			return o.printAnswer(&origin.Answer{Object: foreign, Because: []string{foreign}})
		},
		"doctor": func(w io.Writer) error {
			o := &doctorOptions{IOStreams: genericiooptions.IOStreams{Out: w}}
			o.add(diagnosis.Finding{Subject: foreign, Text: foreign, Hint: foreign})
			return o.report()
		},
		"warnings": func(w io.Writer) error { Warnf(w, "%s", foreign); return nil },
		"progress": func(w io.Writer) error { (&Progress{w: w}).Showf("%s", foreign); return nil },
	} {
		var out strings.Builder
		if err := write(&out); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := out.String(); !strings.Contains(got, shown) || strings.Contains(got, "\nUser  mallory") {
			t.Errorf("%s: got\n%s", name, got)
		}
	}
}

func TestErrorsOfServersAreIndentedAndEscaped(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	PrintError(&out, nil, nil, apierrors.NewBadRequest("a\nerror: forged\u202e"))
	if got, want := out.String(), "Error from server (BadRequest): a\n  error: forged\\u202e\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestCompletionsThatAreNotPrintableAreLeftOut(t *testing.T) {
	t.Parallel()
	if got := matching([]string{"a", "a\nb", "a\u202e"}, nil, "a"); len(got) != 1 || got[0] != "a" {
		t.Errorf("got %q", got)
	}
}

func TestMachineReadableOutputIsExact(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	printed, err := (&OutputFlag{Format: "name"}).Print(&textWriter{w: &out}, nil, func() []string { return []string{"user/a\u202e"} })
	if got := out.String(); !printed || err != nil || got != "user/a\u202e\n" {
		t.Errorf("%t, %v, got %q", printed, err, got)
	}
}
