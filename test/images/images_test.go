// Package images tests the images that hack/images builds: it reads the OCI layouts without a container engine, and
// runs the binaries.
package images

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"debug/elf"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

const version = "v9.9.9-test"

type descriptor struct {
	MediaType, Digest string
	Annotations       map[string]string
	Platform          struct{ OS, Architecture string }
}

// image is what a layout contains of an image for one platform.
type image struct {
	config struct {
		OS, Architecture, Created string
		Config                    struct {
			User       string
			Entrypoint []string
			Labels     map[string]string
		}
	}
	headers map[string]*tar.Header
	files   map[string][]byte
}

func build(t *testing.T) string {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("the binaries of this machine do not run in containers")
	}
	out := t.TempDir()
	binaries, err := filepath.Abs("../../_output/bin")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", "run", ".", "-version="+version, "-revision=abc", "-created=1700000000",
		"-platforms=linux/"+runtime.GOARCH, "-binaries="+binaries, "-out="+out)
	cmd.Dir = "../../hack/images"
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return out
}

func decode(t *testing.T, layout, digest string, into any) {
	t.Helper()
	if err := json.Unmarshal(blob(t, layout, digest), into); err != nil {
		t.Fatal(err)
	}
}

func blob(t *testing.T, layout, digest string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(layout, "blobs", strings.Replace(digest, ":", "/", 1)))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// read returns the image for this machine, and the reference that names it.
func read(t *testing.T, layout string) (image, string) {
	t.Helper()
	var top, index struct{ Manifests []descriptor }
	data, err := os.ReadFile(filepath.Join(layout, "index.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &top); err != nil {
		t.Fatal(err)
	}
	decode(t, layout, top.Manifests[0].Digest, &index)
	at := slices.IndexFunc(index.Manifests, func(d descriptor) bool { return d.Platform.OS == "linux" && d.Platform.Architecture == runtime.GOARCH })
	if at < 0 {
		t.Fatalf("no image for this machine: %v", index.Manifests)
	}
	var manifest struct {
		MediaType string
		Config    descriptor
		Layers    []descriptor
	}
	decode(t, layout, index.Manifests[at].Digest, &manifest)
	if want := "application/vnd.oci.image.manifest.v1+json"; manifest.MediaType != want {
		t.Errorf("the manifest is %s, want %s", manifest.MediaType, want)
	}
	found := image{headers: map[string]*tar.Header{}, files: map[string][]byte{}}
	decode(t, layout, manifest.Config.Digest, &found.config)
	for _, layer := range manifest.Layers {
		unpacked, err := gzip.NewReader(bytes.NewReader(blob(t, layout, layer.Digest)))
		if err != nil {
			t.Fatal(err)
		}
		archive := tar.NewReader(unpacked)
		for {
			header, err := archive.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			found.headers[header.Name] = header
			if found.files[header.Name], err = io.ReadAll(archive); err != nil {
				t.Fatal(err)
			}
		}
	}
	return found, top.Manifests[0].Annotations["org.opencontainers.image.ref.name"]
}

// Two builds are equal.
func TestImages(t *testing.T) {
	out, again := build(t), build(t)
	for _, server := range []string{"hns-apiserver", "hns-propagator", "hns-sync", "hns-gateway"} {
		t.Run(server, func(t *testing.T) {
			// The index contains the digests of everything else.
			index, err := os.ReadFile(filepath.Join(out, server, "index.json"))
			second, againErr := os.ReadFile(filepath.Join(again, server, "index.json"))
			if err := errors.Join(err, againErr); err != nil || !bytes.Equal(index, second) {
				t.Errorf("two builds differ:\n%s\n%s, %v", index, second, err)
			}
			found, reference := read(t, filepath.Join(out, server))
			if reference != version {
				t.Errorf("the reference is %q", reference)
			}
			config := found.config
			if config.Config.User != "65532:65532" {
				t.Errorf("the user is %q", config.Config.User)
			}
			if config.OS != "linux" || config.Architecture != runtime.GOARCH || config.Created != "2023-11-14T22:13:20Z" {
				t.Errorf("got %s/%s, created %s", config.OS, config.Architecture, config.Created)
			}
			for label, want := range map[string]string{"title": server, "version": version, "revision": "abc", "licenses": "Apache-2.0"} {
				if got := config.Config.Labels["org.opencontainers.image."+label]; got != want {
					t.Errorf("the label %s is %q, want %q", label, got, want)
				}
			}
			bill := "usr/share/sbom/" + server + ".spdx.json"
			for name, header := range found.headers {
				if header.Typeflag == tar.TypeReg && name != server && name != bill {
					t.Errorf("the image contains %s", name)
				}
				if header.Uid != 0 || header.Mode&0o022 != 0 {
					t.Errorf("%s belongs to %d, mode %o: the server could change it", name, header.Uid, header.Mode)
				}
			}
			var sbom struct {
				SPDXVersion string
				Packages    []struct{ Name string }
			}
			if err := json.Unmarshal(found.files[bill], &sbom); err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(sbom.Packages, func(p struct{ Name string }) bool { return p.Name == "k8s.io/client-go" }) {
				t.Errorf("the SBOM (%s) of %d packages does not contain k8s.io/client-go", sbom.SPDXVersion, len(sbom.Packages))
			}
			content := found.files[strings.TrimPrefix(config.Config.Entrypoint[0], "/")]
			if program, err := elf.NewFile(bytes.NewReader(content)); err != nil {
				t.Error(err)
			} else if program.Section(".symtab") != nil || program.Section(".debug_info") != nil {
				t.Error("the binary contains what only debuggers need, a third of its size")
			}
			// It runs without anything else.
			dir := t.TempDir()
			binary := filepath.Join(dir, filepath.Base(config.Config.Entrypoint[0]))
			if err := os.WriteFile(binary, content, 0o700); err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), binary, "--version")
			cmd.Env = []string{}
			if text, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(text), server) {
				t.Errorf("%v\n%s", err, text)
			}
		})
	}
}
