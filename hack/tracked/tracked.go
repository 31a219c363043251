// Package tracked lists the files of the repository.
package tracked

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
)

// Files returns the files below paths, or below the working directory without any, that git tracks or would add and
// that want accepts. A file that is deleted but still in the index is among them.
func Files(paths []string, want func(name string) bool) ([]string, error) {
	args := append([]string{"ls-files", "--cached", "--others", "--exclude-standard", "-z", "--"}, paths...)
	out, err := exec.Command("git", args...).Output()
	if err != nil {
		return nil, fmt.Errorf("git ls-files: %w", err)
	}
	return slices.DeleteFunc(strings.Split(string(out), "\x00"), func(name string) bool { return name == "" || !want(name) }), nil
}
