package git

import (
	"errors"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/transport"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"
)

// withoutBody returns the error of a request without what the server has answered: the error is shown to whoever may
// read RepositorySyncs, and the server may be any that hns-sync can reach.
func withoutBody(err error) error {
	var unexpected *plumbing.UnexpectedError
	var status *githttp.Err
	switch {
	case errors.Is(err, transport.ErrAuthenticationRequired):
		return errors.New("the server answered with status 401: authentication required")
	case errors.Is(err, transport.ErrAuthorizationFailed):
		return errors.New("the server answered with status 403: authorization failed")
	case errors.Is(err, transport.ErrRepositoryNotFound):
		return transport.ErrRepositoryNotFound
	case errors.As(err, &unexpected) && errors.As(unexpected.Err, &status):
		return fmt.Errorf("the server answered with status %d", status.StatusCode())
	}
	return err
}
