package pages

// RunElsewhere are the pages that a suite with another cluster runs than the one that runs all others.
var RunElsewhere = map[string]string{
	"install.md":    "test/integration/install",
	"quickstart.md": "test/integration/install",
}
