package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
)

// prefixedError is an error with a prefix that HNC's client prints. The server's message follows on its own line, or on
// the same line if the prefix ends in a colon.
type prefixedError struct {
	prefix string
	err    error
}

func (e *prefixedError) Error() string { return e.prefix + ": " + e.err.Error() }
func (e *prefixedError) Unwrap() error { return e.err }

// indent begins all lines of errors and warnings but the first.
const indent = "  "

// PrintError prints why a command has failed, and a hint at what to do, on standard error.
func PrintError(errOut io.Writer, f *Factory, cmd *cobra.Command, err error) {
	if errors.Is(err, ErrReported) || errors.As(err, new(exitError)) {
		return
	}
	var prefixed *prefixedError
	switch {
	case errors.As(err, &prefixed):
		separator := "\nReason:"
		if strings.HasSuffix(prefixed.prefix, ":") {
			separator = ""
		}
		_, _ = fmt.Fprintf(errOut, "\n%s%s %s\n", names.PrintableLines(prefixed.prefix, indent), separator, names.PrintableLines(ServerMessage(prefixed.err), indent))
	case isUsage(err):
		_, _ = fmt.Fprintf(errOut, "error: %s\nSee: %s --help\n", names.PrintableLines(err.Error(), indent), cmd.CommandPath())
	case apierrors.ReasonForError(err) != metav1.StatusReasonUnknown:
		_, _ = fmt.Fprintf(errOut, "Error from server (%s): %s\n", apierrors.ReasonForError(err), names.PrintableLines(ServerMessage(err), indent))
	case errors.Is(err, context.Canceled):
		_, _ = fmt.Fprintln(errOut, "error: interrupted")
	default:
		_, _ = fmt.Fprintf(errOut, "error: %s\n", names.PrintableLines(err.Error(), indent))
	}
	if hint := hintFor(f, err); hint != "" {
		_, _ = io.WriteString(errOut, names.Line("%s", hint))
	}
}

// isUsage reports whether an error is about the command line. Cobra's have no type.
func isUsage(err error) bool {
	if errors.As(err, new(usageError)) {
		return true
	}
	if apierrors.ReasonForError(err) != metav1.StatusReasonUnknown {
		return false
	}
	for _, prefix := range []string{
		"unknown command", "unknown flag", "unknown shorthand", "flag needs an argument", "invalid argument", "bad flag", "required flag(s)",
		"at least one of the flags in the group", "if any flags in the group", "requires at least", "accepts ",
	} {
		if strings.HasPrefix(err.Error(), prefix) {
			return true
		}
	}
	return false
}

// ServerMessage returns the server's message, or that of any other error.
func ServerMessage(err error) string {
	var status apierrors.APIStatus
	if errors.As(err, &status) && status.Status().Message != "" {
		return status.Status().Message
	}
	return err.Error()
}

var forbidden = regexp.MustCompile(`cannot (\S+) resource "([^"]+)" in API group "([^"]*)" (?:in the namespace "([^"]+)"|at the cluster scope)`)

// missingPermission returns the permission that the requester lacks according to the server, "" if the error is another
// one.
func missingPermission(err error) string {
	if !apierrors.IsForbidden(err) {
		return ""
	}
	m := forbidden.FindStringSubmatch(ServerMessage(err))
	if m == nil {
		return ""
	}
	resource, subresource, _ := strings.Cut(m[2], "/")
	if subresource != "" {
		resource += "/" + subresource
	}
	if m[3] != "" {
		resource += "." + m[3]
	}
	if m[4] == "" {
		return fmt.Sprintf("%s %s in the whole cluster", m[1], resource)
	}
	return fmt.Sprintf("%s %s in namespace %s", m[1], resource, m[4])
}

// hintFor returns what to do about an error, "" if that is obvious.
func hintFor(f *Factory, err error) string {
	service := v1beta1.SchemeGroupVersion.Version + "." + hnc.GroupName
	look := "Look with: kubectl get apiservice " + service
	var status apierrors.APIStatus
	switch {
	case missingPermission(err) != "":
		return "Missing permission: " + missingPermission(err)
	case apierrors.IsServiceUnavailable(err):
		return "The server of APIService " + service + " does not answer. " + look
	case isUnserved(err):
		if f.serves(schema.GroupVersion{Group: hnc.GroupName, Version: "v1alpha2"}) {
			return fmt.Sprintf("This cluster serves %s/v1alpha2 only: its server is older than this plugin, which needs APIService %s. %s", hnc.GroupName, service, look)
		}
		return fmt.Sprintf("This cluster does not serve %s: install the servers (docs/install.md), or find out with kubectl hns doctor why APIService %s is missing.", v1beta1.SchemeGroupVersion, service)
	case apierrors.IsUnauthorized(err) && errors.As(err, &status):
		return "The cluster does not know you: log in, or choose another context."
	}
	return ""
}

// isUnserved reports whether the server does not have the resource, as opposed to the object.
func isUnserved(err error) bool {
	var status apierrors.APIStatus
	if !apierrors.IsNotFound(err) || !errors.As(err, &status) {
		return false
	}
	d := status.Status().Details
	return d == nil || d.Name == "" || strings.Contains(ServerMessage(err), "could not find the requested resource")
}
