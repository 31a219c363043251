package hydrate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/yamlbody"
)

// Format is an output format.
type Format string

// The output formats.
const (
	YAML Format = "yaml"
	JSON Format = "json"
)

// Formats lists the output formats.
var Formats = []string{string(YAML), string(JSON)}

// File is a printed file.
type File struct {
	// Name is the path of the file, with slashes.
	Name    string
	Content []byte
}

func numbered(name string, n int) string { return name + "_" + strconv.Itoa(n) }

// Files prints each object to its own file.
func Files(objects []*unstructured.Unstructured, format Format) ([]File, error) {
	files := make([]File, 0, len(objects))
	for i, name := range fileNames(objects) {
		content, err := marshal(objects[i].Object, format)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		files = append(files, File{Name: name + "." + string(format), Content: content})
	}
	return files, nil
}

// Flat prints all objects to one stream: YAML documents, or a List in JSON.
func Flat(objects []*unstructured.Unstructured, format Format) ([]byte, error) {
	if format == JSON {
		items := make([]any, 0, len(objects))
		for _, o := range objects {
			items = append(items, o.Object)
		}
		return marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": items}, format)
	}
	var b bytes.Buffer
	for i, o := range objects {
		content, err := marshal(o.Object, format)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			b.WriteString("---\n")
		}
		b.Write(content)
	}
	return b.Bytes(), nil
}

func marshal(value map[string]any, format Format) ([]byte, error) {
	if format == JSON {
		content, err := json.MarshalIndent(value, "", "    ")
		return append(content, '\n'), err
	}
	return yamlbody.Marshal(value)
}
