package load

import (
	"fmt"
	"io"
	"path"

	"k8s.io/apimachinery/pkg/util/json"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/object"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/report"
)

// counts subtracts a file from the limit, and reports whether there was one left.
func (l *loader) counts(name string) bool {
	if l.files--; l.files < 0 {
		l.fail(report.LimitExceeded, name, "the repository contains more than %d files", l.limits.Files)
	}
	return l.files >= 0
}

// file reads the objects of one file.
func (l *loader) file(name string) {
	if !l.counts(name) {
		return
	}
	data, err := l.read(name)
	if err != nil {
		l.fail(report.UnreadableFile, name, "the file cannot be read: %v", err)
		return
	}
	if data == nil {
		return
	}
	if path.Ext(name) == ".json" {
		l.json(name, data)
	} else {
		l.yaml(name, data)
	}
}

// read returns the content of a file, or nil if it exceeds a limit.
func (l *loader) read(name string) ([]byte, error) {
	f, err := l.fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	limit := min(l.limits.FileBytes, l.bytes)
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > l.limits.FileBytes {
		l.bytes -= l.limits.FileBytes
		l.fail(report.LimitExceeded, name, "the file is larger than %s; split it", size(l.limits.FileBytes))
		return nil, nil
	}
	if l.bytes -= int64(len(data)); l.bytes < 0 {
		l.fail(report.LimitExceeded, name, "the repository is larger than %s; split it into several", size(l.limits.TotalBytes))
		return nil, nil
	}
	return data, nil
}

func size(bytes int64) string {
	if bytes >= 1<<20 {
		return fmt.Sprintf("%d MiB", bytes>>20)
	}
	return fmt.Sprintf("%d bytes", bytes)
}

// json reads a JSON file, which holds one value.
func (l *loader) json(name string, data []byte) {
	if int64(len(data)) > l.limits.DocumentBytes {
		l.fail(report.LimitExceeded, name, "the document is larger than %s", size(l.limits.DocumentBytes))
		return
	}
	if err := manyValues(data, true, &l.limits); err != nil {
		l.fail(report.LimitExceeded, name, "%v", err)
		return
	}
	var value any
	if err := json.Unmarshal(data, &value); err != nil {
		l.fail(report.UnreadableFile, name, "the file is not valid JSON: %v", err)
		return
	}
	values, nesting := count(value)
	if err := l.spend(values, nesting); err != nil {
		l.fail(report.LimitExceeded, name, "%v", err)
		return
	}
	l.add(name, value, nil)
}

// Values returns the number of values in objects.
func Values(objects []*object.Object) int64 {
	var sum int64
	for _, o := range objects {
		values, _ := count(o.Object)
		sum += int64(values)
	}
	return sum
}

// count returns the number of values in a value, and how deep they are nested.
func count(value any) (values, nesting int) {
	visit := func(child any) {
		n, depth := count(child)
		values, nesting = values+n, max(nesting, depth)
	}
	switch v := value.(type) {
	case map[string]any:
		for _, child := range v {
			visit(child)
		}
	case []any:
		for _, child := range v {
			visit(child)
		}
	}
	return values + 1, nesting + 1
}

// spend subtracts a document's values from the limits.
func (l *loader) spend(values, nesting int) error {
	if nesting > l.limits.Nesting {
		return fmt.Errorf("values are nested deeper than %d", l.limits.Nesting)
	}
	if values > l.limits.DocumentValues {
		return fmt.Errorf("the document has more than %d values", l.limits.DocumentValues)
	}
	if l.values -= values; l.values < 0 {
		return fmt.Errorf("the repository has more than %d values; split it into several", l.limits.TotalValues)
	}
	return nil
}
