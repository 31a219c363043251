// Command images builds the container images of both servers into OCI layouts, without a container engine: for each
// platform a static binary and its SBOM on nothing else. The same sources, version and creation time give the same
// digests. With -push it pushes them to a registry, with the credentials of Docker's configuration.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

const source = "https://github.com/hierarchy-apiserver/hierarchy-apiserver"

// options are the flags.
type options struct {
	root, out, version, revision, platforms, binaries, push, sbom string
	created                                                       int64
}

func main() {
	var o options
	flag.StringVar(&o.root, "root", "../..", "the repository")
	flag.StringVar(&o.out, "out", "_output/images", "the directory of the layouts, one for each image, relative to the repository")
	flag.StringVar(&o.version, "version", "", "the version, such as v0.1.0")
	flag.StringVar(&o.revision, "revision", "", "the commit")
	flag.Int64Var(&o.created, "created", 0, "the creation time in seconds since 1970, such as that of the commit")
	flag.StringVar(&o.platforms, "platforms", "linux/amd64,linux/arm64", "platforms, separated by commas")
	flag.StringVar(&o.binaries, "binaries", "", "a directory with binaries for the only platform, or, for several, directories OS/ARCH; they are built if this is empty")
	flag.StringVar(&o.push, "push", "", "the registry and path to push to, such as registry.example.com/hierarchy")
	flag.StringVar(&o.sbom, "sbom", "", "a binary: print its SBOM, and build nothing")
	flag.Parse()
	if err := o.run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func (o *options) run(ctx context.Context) error {
	if o.version == "" {
		return fmt.Errorf("-version: required")
	}
	if o.sbom != "" {
		text, err := sbom(o.sbom, filepath.Base(o.sbom), o.version, time.Unix(o.created, 0))
		if err != nil {
			return err
		}
		_, err = os.Stdout.Write(text)
		return err
	}
	// Versions may contain +, tags may not.
	reference := strings.ReplaceAll(o.version, "+", "_")
	for _, server := range []string{"hns-apiserver", "hns-propagator", "hns-sync", "hns-gateway"} {
		index, err := o.index(ctx, server)
		if err != nil {
			return fmt.Errorf("%s: %w", server, err)
		}
		digest, err := index.Digest()
		if err != nil {
			return err
		}
		dir := filepath.Join(o.root, o.out, server)
		if filepath.IsAbs(o.out) {
			dir = filepath.Join(o.out, server)
		}
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
		written, err := layout.Write(dir, empty.Index)
		if err != nil {
			return err
		}
		if err := written.AppendIndex(index, layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": reference})); err != nil {
			return err
		}
		fmt.Printf("%s %s@%s\n", dir, server, digest)
		if o.push == "" {
			continue
		}
		tag, err := name.NewTag(o.push + "/" + server + ":" + reference)
		if err != nil {
			return err
		}
		if err := remote.WriteIndex(tag, index, remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain)); err != nil {
			return fmt.Errorf("pushing %s: %w", tag, err)
		}
		fmt.Println("pushed", tag)
	}
	return nil
}

// index returns the image of a server for all platforms.
func (o *options) index(ctx context.Context, server string) (v1.ImageIndex, error) {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, text := range strings.Split(o.platforms, ",") {
		platform, err := v1.ParsePlatform(text)
		if err != nil {
			return nil, err
		}
		binary, remove, err := o.binary(ctx, server, platform)
		if err != nil {
			return nil, err
		}
		image, err := o.image(server, binary, platform)
		remove()
		if err != nil {
			return nil, err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: platform}})
	}
	return index, nil
}

// binary returns the path of the server's binary, and a function that removes it if it was built.
func (o *options) binary(ctx context.Context, server string, platform *v1.Platform) (string, func(), error) {
	if o.binaries != "" {
		dir := o.binaries
		if strings.Contains(o.platforms, ",") {
			dir = filepath.Join(dir, platform.OS, platform.Architecture)
		}
		return filepath.Join(dir, server), func() {}, nil
	}
	dir, err := os.MkdirTemp("", "image-")
	if err != nil {
		return "", nil, err
	}
	remove := func() { _ = os.RemoveAll(dir) }
	binary := filepath.Join(dir, server)
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid= -X main.version="+o.version, "-o", binary, "./cmd/"+server)
	build.Dir = o.root
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+platform.OS, "GOARCH="+platform.Architecture)
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		remove()
		return "", nil, fmt.Errorf("go build for %s: %w", platform, err)
	}
	return binary, remove, nil
}

// image returns the image for one platform.
func (o *options) image(server, binary string, platform *v1.Platform) (v1.Image, error) {
	bill, err := sbom(binary, server, o.version, time.Unix(o.created, 0))
	if err != nil {
		return nil, err
	}
	content, err := os.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	layer, err := newLayer([]file{{server, content, 0o755}, {"usr/share/sbom/" + server + ".spdx.json", bill, 0o644}}, time.Unix(o.created, 0))
	if err != nil {
		return nil, err
	}
	image, err := mutate.AppendLayers(mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON), layer)
	if err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Variant = platform.OS, platform.Architecture, platform.Variant
	config.Created = v1.Time{Time: time.Unix(o.created, 0).UTC()}
	config.Config.User = "65532:65532"
	config.Config.Entrypoint = []string{"/" + server}
	config.Config.Labels = map[string]string{
		"org.opencontainers.image.title":    server,
		"org.opencontainers.image.version":  o.version,
		"org.opencontainers.image.revision": o.revision,
		"org.opencontainers.image.source":   source,
		"org.opencontainers.image.licenses": "Apache-2.0",
	}
	return mutate.ConfigFile(image, config)
}
