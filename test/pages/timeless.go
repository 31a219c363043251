package pages

import "regexp"

// Ages, times and generated names are different in each run, and versions in each build. Columns are as wide as the
// longest age.
var timelessly = []struct {
	pattern     *regexp.Regexp
	replacement string
}{
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`), "TIME"},
	{regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`), "UID"},
	{regexp.MustCompile(`"release-\w{5}"`), `"release-NAME"`},
	{regexp.MustCompile(`(version v\d+\.\d+\.\d+)[-+.\w]*`), "$1"},
	{regexp.MustCompile(`(?m)(\s)(?:\d+[dhms]){1,2}( |$)`), "${1}AGE$2"},
	{regexp.MustCompile(`(?m) +$`), ""},
	{regexp.MustCompile(` {2,}`), "  "},
}

// timeless returns a text without what differs from run to run.
func timeless(text string) string {
	for _, t := range timelessly {
		text = t.pattern.ReplaceAllString(text, t.replacement)
	}
	return text
}
