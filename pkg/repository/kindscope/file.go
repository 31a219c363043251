package kindscope

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/report"
)

// FileName is the file at the root of a repository with the kinds of a cluster: the output of `kubectl api-resources`.
const FileName = "api-resources.txt"

// maxFileBytes is far above what clusters print: 2 000 kinds take 200 KiB.
const maxFileBytes = 4 << 20

// FromFile returns the kinds in the repository's api-resources.txt, nil if there is no such file.
func FromFile(fsys fs.FS) (Table, *report.Error) {
	table, err := read(fsys)
	if err == nil {
		return table, nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return nil, &report.Error{
		Code:    report.InvalidKindsFile,
		Message: fmt.Sprintf("%v; regenerate the file with: kubectl api-resources > %s", err, FileName),
		Paths:   []string{FileName},
	}
}

// read opens regular files only: a pipe would wait for a writer.
func read(fsys fs.FS) (Table, error) {
	info, err := fs.Stat(fsys, FileName)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("not a regular file (%s)", info.Mode().Type())
	}
	f, err := fsys.Open(FileName)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return parse(io.LimitReader(f, maxFileBytes))
}

func parse(r io.Reader) (Table, error) {
	lines := bufio.NewScanner(r)
	if !lines.Scan() {
		return nil, errors.Join(errors.New("the file is empty"), lines.Err())
	}
	header := lines.Text()
	version := strings.Index(header, "APIVERSION")
	if version < 0 {
		// Older versions of kubectl.
		version = strings.Index(header, "APIGROUP")
	}
	if version < 0 || !strings.Contains(header, "NAMESPACED") || !strings.Contains(header, "KIND") {
		return nil, errors.New("the first line must have the columns APIVERSION, NAMESPACED and KIND")
	}
	grouped := !strings.Contains(header, "APIVERSION")
	table := Table{}
	for n := 2; lines.Scan(); n++ {
		line := lines.Text()
		if strings.TrimSpace(line) == "" {
			continue
		}
		if len(line) <= version {
			return nil, fmt.Errorf("line %d is too short", n)
		}
		columns := strings.Fields(line[version:])
		if grouped && len(columns) == 2 {
			// The core group is an empty column there.
			columns = append([]string{""}, columns...)
		}
		if len(columns) < 3 || columns[1] != "true" && columns[1] != "false" {
			return nil, fmt.Errorf("line %d has no column NAMESPACED of true or false", n)
		}
		group, _, hasVersion := strings.Cut(columns[0], "/")
		if !grouped && !hasVersion {
			group = ""
		}
		table[schema.GroupKind{Group: group, Kind: columns[2]}] = columns[1] == "true"
	}
	return table, lines.Err()
}
