package release

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"debug/buildinfo"
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
)

// unpack returns the files of an archive.
func unpack(t *testing.T, name string) map[string][]byte {
	t.Helper()
	zipped, err := gzip.NewReader(bytes.NewReader(read(t, name)))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	files := map[string][]byte{}
	for archive := tar.NewReader(zipped); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if header.Uid != 0 || header.Uname != "" {
			t.Errorf("%s: %s shows who has built it", name, header.Name)
		}
		content, err := io.ReadAll(archive)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		files[strings.TrimPrefix(header.Name, "./")] = content
	}
}

// isProgram returns an error unless the content is an executable file for the platform, built with the flags of the
// Makefile, and so without the paths of the machine that has built it, and without what only debuggers need.
func isProgram(content []byte, platform string) error {
	reader := bytes.NewReader(content)
	var machine any
	switch goos, _, _ := strings.Cut(platform, "/"); goos {
	case "linux":
		file, err := elf.NewFile(reader)
		if err != nil {
			return err
		}
		machine = file.Machine
		if file.Section(".symtab") != nil || file.Section(".debug_info") != nil {
			return errors.New("it contains what only debuggers need")
		}
	case "darwin":
		file, err := macho.NewFile(reader)
		if err != nil {
			return err
		}
		machine = file.Cpu
	case "windows":
		file, err := pe.NewFile(reader)
		if err != nil {
			return err
		}
		machine = file.Machine
	}
	want := map[string]any{
		"linux/amd64": elf.EM_X86_64, "linux/arm64": elf.EM_AARCH64, "darwin/amd64": macho.CpuAmd64, "darwin/arm64": macho.CpuArm64,
		"windows/amd64": uint16(pe.IMAGE_FILE_MACHINE_AMD64),
	}[platform]
	if machine == nil || machine != want {
		return fmt.Errorf("it is for %v, want %v", machine, want)
	}
	info, err := buildinfo.Read(reader)
	if err != nil {
		return err
	}
	for _, setting := range []debug.BuildSetting{{Key: "-trimpath", Value: "true"}, {Key: "-tags", Value: "grpcnotrace"}} {
		if !slices.Contains(info.Settings, setting) {
			return fmt.Errorf("it was built without %s=%s; make sets the flags", setting.Key, setting.Value)
		}
	}
	return nil
}

func saysVersion(t *testing.T, name string, content []byte, args ...string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o700); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), path, args...).CombinedOutput()
	if err != nil || !strings.Contains(string(out), *version) {
		t.Errorf("%s %v: got %q, %v, want %s", name, args, out, err, *version)
	}
}
