package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// event is a line of what go test -json prints.
type event struct{ Action, Package, Test, Output string }

// specPassed begins the line that a suite of Ginkgo prints for each spec that has passed.
const specPassed = "spec passed: " //nolint:gosec // no credential

// follow reads what go test -json prints, and writes what go test prints without it: a line for each package, and the
// output of tests that fail. It returns the names of the tests and specs that ran and passed.
func follow(r io.Reader, w io.Writer) (passed []string, err error) {
	lines := bufio.NewReader(r)
	output := map[string]map[string][]string{}
	show := func(texts ...string) {
		for _, text := range texts {
			if err == nil && !strings.HasPrefix(text, "=== ") && !strings.HasPrefix(text, specPassed) && text != "PASS\n" {
				_, err = io.WriteString(w, text)
			}
		}
	}
	for {
		line, end := lines.ReadString('\n')
		var e event
		if json.Unmarshal([]byte(line), &e) != nil {
			show(line)
		}
		switch {
		case e.Action == "build-output", e.Action == "output" && e.Test == "":
			show(e.Output)
		case e.Action == "output":
			if output[e.Package] == nil {
				output[e.Package] = map[string][]string{}
			}
			output[e.Package][e.Test] = append(output[e.Package][e.Test], e.Output)
			if spec, ok := strings.CutPrefix(e.Output, specPassed); ok {
				passed = append(passed, "/"+strings.TrimSpace(spec))
			}
		case e.Action == "fail" && e.Test == "":
			// What was running when the package failed has no end of its own.
			for _, texts := range output[e.Package] {
				show(texts...)
			}
		case e.Action == "fail":
			show(output[e.Package][e.Test]...)
		case e.Action == "pass" && e.Test != "":
			passed = append(passed, e.Test)
		}
		if e.Action == "pass" || e.Action == "skip" || e.Action == "fail" {
			delete(output[e.Package], e.Test)
		}
		if err == nil && end != nil && end != io.EOF {
			err = fmt.Errorf("what go test prints: %w", end)
		}
		if end != nil || err != nil {
			return passed, err
		}
	}
}

// idsOf returns the rows that a test which passed bears: its function's name, and those of its subtests, in which go
// test has replaced blanks.
func idsOf(test string, rows []row) []string {
	function, subtests, _ := strings.Cut(test, "/")
	ids := idsInFunction(function, rows)
	known, _ := idsIn(strings.ReplaceAll(subtests, "_", " "), rows)
	return append(ids, known...)
}
