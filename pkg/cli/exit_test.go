package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"syscall"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

func TestExitCodesTellFailuresApart(t *testing.T) {
	refused := &url.Error{Op: "Get", URL: "https://127.0.0.1", Err: &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}}
	for name, test := range map[string]struct {
		err  error
		want int
	}{
		"none":            {nil, 0},
		"a plan":          {exitError{exitFound}, exitFound},
		"usage":           {UsageErrorf("no"), exitUsage},
		"cobra's":         {errors.New("unknown flag: --x"), exitUsage},
		"a required flag": {errors.New("at least one of the flags in the group [a b] is required"), exitUsage},
		"rejected":        {apierrors.NewForbidden(hnc.Resource("hierarchies"), "hierarchy", errors.New("no")), exitFailed},
		"not found":       {apierrors.NewNotFound(hnc.Resource("hierarchies"), "hierarchy"), exitFailed},
		"wrapped":         {&prefixedError{"Could not move a.", apierrors.NewServiceUnavailable("down")}, exitUnreachable},
		"unreachable":     {fmt.Errorf("cannot read: %w", refused), exitUnreachable},
		"not served":      {apierrors.NewGenericServerResponse(404, "get", hnc.Resource("hierarchies"), "", "", 0, true), exitUnreachable},
		"timeout":         {timeoutError{errors.New("after 1s: not ready")}, exitTimeout},
		"interrupted":     {fmt.Errorf("cannot read: %w", context.Canceled), exitInterrupted},
		"a missing file":  {&fs.PathError{Op: "open", Path: "tree.yaml", Err: syscall.ENOENT}, exitFailed},
		"anything else":   {errors.New("no"), exitFailed},
	} {
		if got := exitCode(test.err); got != test.want {
			t.Errorf("%s: got %d, want %d", name, got, test.want)
		}
	}
}
