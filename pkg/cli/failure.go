package cli

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

// failure is an error with words of its own before it, those of HNC's client. What the server says follows in a line of its own, or in the
// same if the words end in a colon.
type failure struct {
	lead string
	err  error
}

func (f *failure) Error() string { return f.lead + ": " + f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// report prints why a command has failed, and what to do about it, on standard error.
func (e *Environment) report(cmd *cobra.Command, err error) {
	if errors.Is(err, errSilent) {
		return
	}
	var led *failure
	switch {
	case errors.As(err, &led):
		next := "\nReason:"
		if strings.HasSuffix(led.lead, ":") {
			next = ""
		}
		_, _ = fmt.Fprintf(e.ErrOut, "\n%s%s %s\n", led.lead, next, reason(led.err))
	case errors.As(err, new(usageError)) || apierrors.ReasonForError(err) == metav1.StatusReasonUnknown && isCobra(err):
		_, _ = fmt.Fprintf(e.ErrOut, "error: %v\nSee: %s --help\n", err, cmd.CommandPath())
	case apierrors.ReasonForError(err) != metav1.StatusReasonUnknown:
		_, _ = fmt.Fprintf(e.ErrOut, "Error from server (%s): %s\n", apierrors.ReasonForError(err), reason(err))
	case errors.Is(err, context.Canceled):
		_, _ = fmt.Fprintln(e.ErrOut, "error: interrupted")
	default:
		_, _ = fmt.Fprintf(e.ErrOut, "error: %v\n", err)
	}
	if hint := e.hint(err); hint != "" {
		_, _ = fmt.Fprintln(e.ErrOut, hint)
	}
}

// isCobra recognizes the errors of a command line that can't be read: they have no type.
func isCobra(err error) bool {
	for _, prefix := range []string{"unknown command", "unknown flag", "unknown shorthand", "flag needs an argument", "invalid argument", "bad flag"} {
		if strings.HasPrefix(err.Error(), prefix) {
			return true
		}
	}
	return false
}

// reason is what the server says.
func reason(err error) string {
	var status apierrors.APIStatus
	if errors.As(err, &status) && status.Status().Message != "" {
		return status.Status().Message
	}
	return err.Error()
}

var forbidden = regexp.MustCompile(`cannot (\S+) resource "([^"]+)" in API group "([^"]*)" (?:in the namespace "([^"]+)"|at the cluster scope)`)

// missingRight names the right whose lack the server complains of, "" if it complains of something else.
func missingRight(err error) string {
	if !apierrors.IsForbidden(err) {
		return ""
	}
	m := forbidden.FindStringSubmatch(reason(err))
	if m == nil {
		return ""
	}
	resource, subresource, _ := strings.Cut(m[2], "/")
	if m[3] != "" {
		resource += "." + m[3]
	}
	if subresource != "" {
		resource += "/" + subresource
	}
	if m[4] == "" {
		return fmt.Sprintf("%s %s in the whole cluster", m[1], resource)
	}
	return fmt.Sprintf("%s %s in namespace %s", m[1], resource, m[4])
}

// hint says what to do about an error, "" if that is plain.
func (e *Environment) hint(err error) string {
	service := v1beta1.SchemeGroupVersion.Version + "." + hnc.GroupName
	look := "Look with: kubectl get apiservice " + service
	var status apierrors.APIStatus
	switch {
	case missingRight(err) != "":
		return "Missing right: " + missingRight(err)
	case apierrors.IsServiceUnavailable(err):
		return "The server of APIService " + service + " does not answer. " + look
	case isUnserved(err):
		if e.serves(hnc.GroupName, "v1alpha2") {
			return fmt.Sprintf("This cluster serves %s/v1alpha2 only: its server is older than this plugin, which needs APIService %s. %s", hnc.GroupName, service, look)
		}
		return fmt.Sprintf("This cluster does not serve %s: is APIService %s there? %s", v1beta1.SchemeGroupVersion, service, look)
	case apierrors.IsUnauthorized(err) && errors.As(err, &status):
		return "The cluster does not know you: log in, or choose another context."
	}
	return ""
}

// isUnserved says whether the server knows no such resource, as opposed to no such object.
func isUnserved(err error) bool {
	var status apierrors.APIStatus
	if !apierrors.IsNotFound(err) || !errors.As(err, &status) {
		return false
	}
	d := status.Status().Details
	return d == nil || d.Name == "" || strings.Contains(reason(err), "could not find the requested resource")
}

// serves says whether the cluster serves a group and version.
func (e *Environment) serves(group, version string) bool {
	discovery, err := e.flags.ToDiscoveryClient()
	if err != nil {
		return false
	}
	_, err = discovery.ServerResourcesForGroupVersion(group + "/" + version)
	return err == nil
}
