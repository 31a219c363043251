package cli

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Exit codes. Programs that a command runs, such as that of `view`, end it with their own.
const (
	exitFailed      = 1   // The server rejected the request, or something else went wrong.
	exitFound       = 2   // The command has done its work, and found something: warnings of doctor, a plan that would be refused.
	exitErrors      = 3   // doctor has found errors.
	exitUsage       = 4   // The command line is wrong; nothing was sent.
	exitUnreachable = 5   // The cluster, or our API in it, does not answer.
	exitTimeout     = 6   // What --wait waits for has not happened in time.
	exitInterrupted = 130 // As shells report SIGINT.
)

// exitError is the result of a command whose exit code says more than that it has failed.
type exitError struct{ code int }

func (e exitError) Error() string { return fmt.Sprintf("exit code %d", e.code) }

// timeoutError says what has not happened until --timeout.
type timeoutError struct{ error }

// exitCode returns the exit code for the error of a command, 0 for none.
func exitCode(err error) int {
	var exit exitError
	var request *url.Error
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.code
	case isUsage(err):
		return exitUsage
	case errors.As(err, new(timeoutError)):
		return exitTimeout
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	case apierrors.IsServiceUnavailable(err), isUnserved(err), errors.As(err, &request):
		return exitUnreachable
	}
	return exitFailed
}
