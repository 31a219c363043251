package pages

import (
	"regexp"
	"testing"
)

var (
	fences = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
	// unwanted are words for which pages have others: permissions, HNS, a few seconds, everything else.
	unwanted = regexp.MustCompile(`(?i)\s(rights|ours|without us|this project|nevertheless|some seconds|all else)\b|\bHNS'[^s]`)
)

func TestPagesAvoidWords(t *testing.T) {
	for _, page := range append(all(t), read(t, "CHANGELOG.md"), read(t, "SECURITY.md"), read(t, "artifacts/chart/README.md")) {
		for _, word := range unwanted.FindAllString(fences.ReplaceAllString(string(page.source), ""), -1) {
			t.Errorf("%s contains %q", page.Path, word)
		}
	}
}

func TestUnwantedWords(t *testing.T) {
	for text, found := range map[string]bool{
		"the permissions of HNS's servers": false, "in 24 hours": false, "yours": false,
		"`test/rights`": false, "their rights": true, "HNS' servers": true, "In this project": true,
	} {
		if unwanted.MatchString(text) != found {
			t.Errorf("%q: found is not %v", text, found)
		}
	}
}
