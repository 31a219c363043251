// Package release checks what make release has written, as those who download it use it.
package release

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

var (
	dir       = flag.String("release", "", "the absolute path of the directory that make release has written; without it there is nothing to check")
	version   = flag.String("version", "", "the version of the release, such as v0.1.0")
	platforms = flag.String("platforms", "", "the platforms of the plugin, separated by spaces")
)

func released(t *testing.T) {
	t.Helper()
	if *dir == "" {
		t.Skip("no release: make release VERSION=v0.1.0")
	}
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(*dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// servers returns the names of the servers: those of their commands.
func servers(t *testing.T) []string {
	t.Helper()
	commands, err := filepath.Glob("../../cmd/hns-*")
	if err != nil || len(commands) == 0 {
		t.Fatalf("no servers: %v", err)
	}
	for i, command := range commands {
		commands[i] = filepath.Base(command)
	}
	slices.Sort(commands)
	return commands
}

// Every server is built, has an image, and is signed.
func TestEveryServerIsReleased(t *testing.T) {
	for file, list := range map[string]string{
		"hack/release.sh":                `(?m)^servers=\((.+)\)$`,
		"hack/images/main.go":            `range \[\]string\{(.+)\}`,
		".github/workflows/release.yaml": `for server in (.+); do`,
	} {
		source, err := os.ReadFile(filepath.Join("../..", file))
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		if match := regexp.MustCompile(list).FindSubmatch(source); match != nil {
			found = regexp.MustCompile(`[a-z-]+`).FindAllString(string(match[1]), -1)
		}
		slices.Sort(found)
		if want := servers(t); !slices.Equal(found, want) {
			t.Errorf("%s: the servers are %v, want %v", file, found, want)
		}
	}
}

// Each file has a checksum, and nothing else does.
func TestChecksums(t *testing.T) {
	released(t)
	listed := map[string]string{}
	for lines := bufio.NewScanner(bytes.NewReader(read(t, "SHA256SUMS"))); lines.Scan(); {
		sum, name, _ := strings.Cut(lines.Text(), "  ")
		listed[name] = sum
	}
	entries, err := os.ReadDir(*dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if entry.Name() == "SHA256SUMS" {
			continue
		}
		sum := sha256.Sum256(read(t, entry.Name()))
		if listed[entry.Name()] != hex.EncodeToString(sum[:]) {
			t.Errorf("the checksum of %s is %q", entry.Name(), listed[entry.Name()])
		}
		delete(listed, entry.Name())
	}
	if len(listed) > 0 {
		t.Errorf("checksums of files that do not exist: %v", listed)
	}
}

// krewPlugin is the part of a krew manifest that krew requires.
type krewPlugin struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Spec struct {
		Version          string `json:"version"`
		Homepage         string `json:"homepage"`
		ShortDescription string `json:"shortDescription"`
		Description      string `json:"description"`
		Caveats          string `json:"caveats"`
		Platforms        []struct {
			Selector struct {
				MatchLabels map[string]string `json:"matchLabels"`
			} `json:"selector"`
			URI    string `json:"uri"`
			Sha256 string `json:"sha256"`
			Bin    string `json:"bin"`
		} `json:"platforms"`
	} `json:"spec"`
}

// maxPluginSize limits kubectl-hns, in bytes.
const maxPluginSize = 45 << 20

// krew can install the plugin for each platform by the manifest, and what it installs is a program for that platform.
func TestKrewManifest(t *testing.T) {
	released(t)
	var plugin krewPlugin
	if err := yaml.UnmarshalStrict(read(t, "hns.yaml"), &plugin); err != nil {
		t.Fatal(err)
	}
	if plugin.APIVersion != "krew.googlecontainertools.github.com/v1alpha2" || plugin.Kind != "Plugin" || plugin.Metadata.Name != "hns" {
		t.Errorf("the manifest is not that of the plugin: %+v", plugin)
	}
	if plugin.Spec.Version != *version || plugin.Spec.ShortDescription == "" || plugin.Spec.Homepage == "" || plugin.Spec.Description == "" {
		t.Errorf("the manifest is incomplete: %+v", plugin.Spec)
	}
	var found []string
	for _, p := range plugin.Spec.Platforms {
		platform := p.Selector.MatchLabels["os"] + "/" + p.Selector.MatchLabels["arch"]
		found = append(found, platform)
		name := p.URI[strings.LastIndex(p.URI, "/")+1:]
		if sum := sha256.Sum256(read(t, name)); p.Sha256 != hex.EncodeToString(sum[:]) || !strings.Contains(p.URI, "/"+*version+"/") {
			t.Errorf("%s: %s has another checksum or URI", platform, name)
		}
		files := unpack(t, name)
		if files["LICENSE"] == nil {
			t.Errorf("%s has no license", name)
		}
		if size := len(files[p.Bin]); size > maxPluginSize {
			t.Errorf("%s: %s has %d bytes, more than %d; what it newly links may belong into a plugin of its own", name, p.Bin, size, maxPluginSize)
		}
		main, exe, _ := strings.Cut(p.Bin, ".")
		if exe != "" {
			exe = "." + exe
		}
		for _, plugin := range []string{main, main + "-repo", main + "-migrate"} {
			if err := isProgram(files[plugin+exe], platform); err != nil {
				t.Errorf("%s: %s: %v", name, plugin, err)
			} else if platform == runtime.GOOS+"/"+runtime.GOARCH {
				saysVersion(t, plugin, files[plugin+exe], "--version")
			}
			if completion := strings.Replace(plugin, "kubectl-", "kubectl_complete-", 1); files[completion] == nil {
				t.Errorf("%s has no %s", name, completion)
			}
		}
	}
	if want := strings.Fields(*platforms); !slices.Equal(found, want) {
		t.Errorf("the platforms are %v, want %v", found, want)
	}
}

// The servers are for Linux, and say their version.
func TestServers(t *testing.T) {
	released(t)
	for _, platform := range strings.Fields(*platforms) {
		goos, arch, _ := strings.Cut(platform, "/")
		if goos != "linux" {
			continue
		}
		files := unpack(t, fmt.Sprintf("hns_%s_%s_%s.tar.gz", *version, goos, arch))
		if files["LICENSE"] == nil {
			t.Errorf("the archive for %s has no license", platform)
		}
		for _, server := range servers(t) {
			if err := isProgram(files[server], platform); err != nil {
				t.Errorf("%s for %s: %v", server, platform, err)
			} else if platform == runtime.GOOS+"/"+runtime.GOARCH {
				saysVersion(t, server, files[server], "--version")
			}
		}
	}
}

// Each program has a list of what it consists of, with its own digest.
func TestSBOMs(t *testing.T) {
	released(t)
	files, err := filepath.Glob(filepath.Join(*dir, "*.spdx.json"))
	if err != nil || len(files) == 0 {
		t.Fatal("no SBOMs", err)
	}
	// Three plugins for each platform, and the servers for Linux.
	count := 3*len(strings.Fields(*platforms)) + len(servers(t))*strings.Count(*platforms, "linux/")
	if len(files) != count {
		t.Errorf("got %d SBOMs, want %d", len(files), count)
	}
	for _, file := range files {
		var document struct {
			SPDXVersion string
			Packages    []struct {
				Name        string
				VersionInfo string
			}
		}
		if err := json.Unmarshal(read(t, filepath.Base(file)), &document); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		modules := map[string]string{}
		for _, p := range document.Packages {
			modules[p.Name] = p.VersionInfo
		}
		if document.SPDXVersion != "SPDX-2.3" || modules["github.com/hierarchy-apiserver/hierarchy-apiserver"] != *version || modules["k8s.io/client-go"] == "" || modules["stdlib"] == "" {
			t.Errorf("%s is incomplete", file)
		}
	}
}

// The chart and the manifests install the images of this version.
func TestChartAndManifests(t *testing.T) {
	released(t)
	chart := filepath.Join(*dir, "hns-"+strings.TrimPrefix(*version, "v")+".tgz")
	helm := func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "../../_output/bin/helm", args...)
		home := t.TempDir()
		cmd.Env = append(os.Environ(), "HOME="+home, "HELM_CACHE_HOME="+home, "HELM_CONFIG_HOME="+home, "HELM_DATA_HOME="+home)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("helm %v: %v: %s", args, err, out)
		}
		return string(out)
	}
	helm("lint", "--strict", chart, "--namespace=hns-system", "--kube-version=1.37.1", "--set=image.registry=registry.example.com/hierarchy")
	files := unpack(t, filepath.Base(chart))
	registry := regexp.MustCompile(`(?m)^  registry: "?([^"\n]*)`).FindSubmatch(files["hns/values.yaml"])
	if registry == nil {
		t.Fatal("the chart has no default of image.registry")
	}
	// A release that is not pushed has none, and its page names an example.
	if from := cmp.Or(string(registry[1]), "registry.example.com/hierarchy"); !strings.Contains(string(files["hns/README.md"]), "oci://"+from+"/charts/hns ") {
		t.Errorf("the README of the chart does not install it from the registry %q", from)
	}
	manifests := map[string]string{"the chart": helm("template", "hns", chart, "--namespace=hns-system", "--kube-version=1.37.1", "--set=sync.enabled=true,image.registry=registry.example.com/hierarchy")}
	for _, variant := range []string{"base", "ha", "sync", "gateway"} {
		manifests[variant] = string(read(t, "hns-"+variant+".yaml"))
	}
	image := regexp.MustCompile(`(?m)^\s+image: "?([^\s"]+)`)
	for name, text := range manifests {
		found := image.FindAllStringSubmatch(text, -1)
		if len(found) == 0 {
			t.Errorf("%s: no images", name)
		}
		for _, match := range found {
			if !strings.HasSuffix(match[1], ":"+*version) {
				t.Errorf("%s: the image %s is not that of %s", name, match[1], *version)
			}
		}
	}
}

// The layouts of the images are complete.
func TestImages(t *testing.T) {
	released(t)
	for _, server := range servers(t) {
		layout := t.TempDir()
		archive := filepath.Join(*dir, server+"_"+*version+"_oci.tar")
		if out, err := exec.CommandContext(t.Context(), "tar", "-C", layout, "-xf", archive).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", archive, err, out)
		}
		blobs, err := filepath.Glob(filepath.Join(layout, "blobs/sha256/*"))
		if err != nil || len(blobs) < 4 {
			t.Fatalf("%s: %d blobs, %v", server, len(blobs), err)
		}
		for _, blob := range blobs {
			content, err := os.ReadFile(blob)
			if err != nil {
				t.Fatal(err)
			}
			if sum := sha256.Sum256(content); hex.EncodeToString(sum[:]) != filepath.Base(blob) {
				t.Errorf("%s: blob %s has another digest", server, filepath.Base(blob))
			}
		}
		index, err := os.ReadFile(filepath.Join(layout, "index.json"))
		if err != nil || !strings.Contains(string(index), *version) {
			t.Errorf("%s: the index does not name %s: %v", server, *version, err)
		}
	}
}
