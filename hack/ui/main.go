// Command ui bundles the page of `kubectl hns ui`, whose sources are in ui, into pkg/ui/dist, which is committed. It
// needs no Node. Usage, from the root of the repository: go run ./hack/ui [-out FOLDER]
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

func main() {
	root := flag.String("root", ".", "the root of the repository")
	out := flag.String("out", "", "the folder to write, pkg/ui/dist by default")
	flag.Parse()
	if *out == "" {
		*out = filepath.Join(*root, "pkg/ui/dist")
	}
	if err := run(*root, *out); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(root, out string) error {
	source, err := filepath.Abs(filepath.Join(root, "ui"))
	if err != nil {
		return err
	}
	license, err := os.ReadFile(filepath.Join(source, "vendor/preact/LICENSE"))
	if err != nil {
		return err
	}
	if out, err = filepath.Abs(out); err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o750); err != nil {
		return err
	}
	result := api.Build(api.BuildOptions{
		AbsWorkingDir: source,
		EntryPoints:   []string{"src/app.tsx", "src/app.css"},
		Outdir:        out,
		Bundle:        true,
		Write:         true,
		// Lines keep differences between two versions of the bundle small enough to read.
		MinifyWhitespace:  true,
		MinifySyntax:      true,
		MinifyIdentifiers: true,
		LineLimit:         160,
		Charset:           api.CharsetUTF8,
		Format:            api.FormatESModule,
		Target:            api.ES2022,
		JSX:               api.JSXTransform,
		JSXFactory:        "h",
		JSXFragment:       "Fragment",
		Inject:            []string{"src/jsx.ts"},
		Alias:             map[string]string{"preact": "./vendor/preact/src/index.js", "preact/hooks": "./vendor/preact/hooks/src/index.js"},
		// The license requires its text in copies.
		Banner:      map[string]string{"js": "/*! Contains Preact.\n" + strings.ReplaceAll(string(license), "*/", "* /") + "*/"},
		LogLevel:    api.LogLevelWarning,
		TsconfigRaw: "{}",
	})
	if len(result.Errors) > 0 {
		return fmt.Errorf("%d errors in %s", len(result.Errors), source)
	}
	for _, name := range []string{"page.html", "icon.svg"} {
		data, err := os.ReadFile(filepath.Join(source, "src", name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(out, name), data, 0o600); err != nil { //nolint:gosec // the developer names the folder
			return err
		}
	}
	return nil
}
