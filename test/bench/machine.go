package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strings"
)

// machine describes where this runs: processors, memory, operating system.
func machine() string {
	words := []string{fmt.Sprintf("%d × %s", runtime.NumCPU(), field("/proc/cpuinfo", "model name", runtime.GOARCH))}
	var kilobytes int64
	if n, _ := fmt.Sscan(field("/proc/meminfo", "MemTotal", ""), &kilobytes); n == 1 {
		words = append(words, fmt.Sprintf("%.0f GiB", float64(kilobytes)/(1<<20)))
	}
	return strings.Join(append(words, runtime.GOOS+"/"+runtime.GOARCH, runtime.Version()), ", ")
}

// field returns what a file says after "name:", or the fallback.
func field(file, name, fallback string) string {
	f, err := os.Open(file)
	if err != nil {
		return fallback
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if key, value, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return fallback
}
