package git

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/pem"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"golang.org/x/crypto/ssh"
)

// history returns a repository with two commits: first, which has the tag v1, and second, the head of the branch
// master.
func history(t *testing.T) (dir, first, second string) {
	t.Helper()
	dir, first = repository(t, t.TempDir(), map[string]string{"file": "one"})
	r, err := gogit.PlainOpen(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.CreateTag("v1", plumbing.NewHash(first), nil); err != nil {
		t.Fatal(err)
	}
	return dir, first, commitTo(t, r, dir, map[string]string{"file": "two"})
}

// read returns the commit of a source and the content of its file, in the way of hns-sync: the head first.
func read(t *testing.T, source Source, credentials *Credentials) (commit, content string, err error) {
	t.Helper()
	reader := &Reader{Scratch: t.TempDir(), MaxBytes: 1 << 20}
	head, err := reader.Head(t.Context(), source, credentials)
	if err != nil {
		return "", "", err
	}
	snapshot, err := reader.Read(t.Context(), source, credentials)
	if err != nil {
		return "", "", err
	}
	defer func() {
		if err := snapshot.Close(); err != nil {
			t.Error(err)
		}
	}()
	if head != snapshot.Commit {
		t.Errorf("the head is %s, and the snapshot is of %s", head, snapshot.Commit)
	}
	data, err := fs.ReadFile(snapshot.FS, "file")
	return snapshot.Commit, string(data), err
}

// revisions checks that each way to name a revision reads the right commit.
func revisions(t *testing.T, url string, credentials *Credentials, first, second string) {
	t.Helper()
	for name, c := range map[string]struct {
		source          Source
		commit, content string
	}{
		"default": {Source{}, second, "two"},
		"branch":  {Source{Branch: "master"}, second, "two"},
		"tag":     {Source{Tag: "v1"}, first, "one"},
		"commit":  {Source{Commit: first}, first, "one"},
	} {
		t.Run(name, func(t *testing.T) {
			c.source.URL = url
			commit, content, err := read(t, c.source, credentials)
			if commit != c.commit || content != c.content || err != nil {
				t.Errorf("got %s %q %v, want %s %q", commit, content, err, c.commit, c.content)
			}
		})
	}
	if _, _, err := read(t, Source{URL: url, Branch: "absent"}, credentials); err == nil || !strings.Contains(err.Error(), "no such revision: branch absent") {
		t.Errorf("a branch that does not exist: got %v", err)
	}
}

func rejected(t *testing.T, what string, source Source, credentials *Credentials, text string) {
	t.Helper()
	if _, _, err := read(t, source, credentials); err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("%s: want an error with %q, got %v", what, text, err)
	}
}

func TestHTTPS(t *testing.T) {
	RestrictProtocols(256 << 20)
	dir, first, second := history(t)
	url, ca := serveHTTPS(t, dir)
	good := Credentials{Username: "git", Password: "secret", CA: ca}
	revisions(t, url, &good, first, second)

	source := Source{URL: url}
	untrusted, intruder := good, good
	untrusted.CA, intruder.Password = nil, "guess"
	rejected(t, "an unknown authority", source, &untrusted, "certificate")
	rejected(t, "an invalid password", source, &intruder, "auth")
	rejected(t, "no password", source, &Credentials{CA: ca}, "auth")
	rejected(t, "clear text", Source{URL: strings.Replace(url, "https", "http", 1)}, &good, "neither https nor ssh")

	// The server may be any that can be reached.
	for _, code := range []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusTeapot} {
		url, ca := serveStatus(t, code)
		for _, pinned := range []string{"", first} {
			_, _, err := read(t, Source{URL: url, Commit: pinned}, &Credentials{CA: ca})
			if err == nil || strings.Contains(err.Error(), "the body") {
				t.Errorf("status %d: want an error without the body, got %v", code, err)
			}
			if code != http.StatusNotFound && !strings.Contains(err.Error(), strconv.Itoa(code)) {
				t.Errorf("want the status %d, got %v", code, err)
			}
		}
	}

	small := &Reader{Scratch: t.TempDir(), MaxBytes: 100}
	if _, err := small.Read(t.Context(), source, &good); err == nil {
		t.Error("a repository over the limit was read")
	}
}

func TestSSH(t *testing.T) {
	RestrictProtocols(256 << 20)
	dir, first, second := history(t)
	client, identity := key(t)
	url, knownHosts := serveSSH(t, dir, client.PublicKey())
	good := Credentials{Identity: identity, KnownHosts: knownHosts}
	revisions(t, url, &good, first, second)

	source := Source{URL: url}
	_, other := key(t)
	rejected(t, "another client's key", source, &Credentials{Identity: other, KnownHosts: knownHosts}, "unable to authenticate")
	rejected(t, "no known hosts", source, &Credentials{Identity: identity}, "ssh needs a Secret with the keys identity and known_hosts")
	rejected(t, "no key", source, nil, "ssh needs a Secret")
	// Another server answers at the address.
	_, elsewhere := serveSSH(t, dir, client.PublicKey())
	rejected(t, "a host that is not known", source, &Credentials{Identity: identity, KnownHosts: elsewhere}, "knownhosts: key is unknown")
	imposter := append([]byte(strings.Fields(string(knownHosts))[0]+" "), strings.SplitN(string(elsewhere), " ", 2)[1]...)
	rejected(t, "another key of the host", source, &Credentials{Identity: identity, KnownHosts: imposter}, "knownhosts: key mismatch")
}

// go-git holds the references of a server in memory, and all RepositorySyncs poll them.
func TestListsOfReferencesAreBounded(t *testing.T) {
	RestrictProtocols(256 << 20)
	endless := func(w io.Writer) error {
		for i := range 1 << 19 {
			line := fmt.Sprintf("%040x refs/heads/%d\n", i+1, i)
			if i == 0 {
				line = fmt.Sprintf("%040x HEAD\x00ofs-delta\n", i+1)
			}
			if _, err := fmt.Fprintf(w, "%04x%s", len(line)+4, line); err != nil {
				return err
			}
		}
		return nil
	}
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-git-upload-pack-advertisement")
		_, _ = io.WriteString(w, "001e# service=git-upload-pack\n0000")
		_ = endless(w)
	}))
	t.Cleanup(server.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	for _, pinned := range []string{"", strings.Repeat("a", 40)} {
		rejected(t, "https", Source{URL: server.URL + "/policy.git", Commit: pinned}, &Credentials{CA: ca}, "8 MiB of references")
	}

	client, identity := key(t)
	sent := make(chan error, 10)
	url, knownHosts := serveSSHWith(t, "/endless", client.PublicKey(), func(_ context.Context, channel ssh.Channel) error {
		err := endless(channel)
		sent <- err
		return err
	})
	// The client of ssh does not say why a connection has ended, perhaps in the middle of a line.
	rejected(t, "ssh", Source{URL: url}, &Credentials{Identity: identity, KnownHosts: knownHosts}, "")
	if err := <-sent; err == nil {
		t.Error("ssh: all references are received")
	}
}

// go-git keeps the body of an error in memory. The bytes that are sent count, not those that they decompress to.
func TestAServerDoesNotSendMoreThanARepository(t *testing.T) {
	RestrictProtocols(1 << 20)
	t.Cleanup(func() { RestrictProtocols(256 << 20) })
	var compressed bytes.Buffer
	packed := gzip.NewWriter(&compressed)
	if _, err := io.CopyN(packed, zeros{}, 256<<20); err != nil {
		t.Fatal(err)
	}
	if err := packed.Close(); err != nil {
		t.Fatal(err)
	}
	for name, body := range map[string]func(w http.ResponseWriter){
		"endless": func(w http.ResponseWriter) { _, _ = io.Copy(w, zeros{}) },
		"compressed": func(w http.ResponseWriter) {
			w.Header().Set("Content-Encoding", "gzip")
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = w.Write(compressed.Bytes())
		},
	} {
		server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if name == "endless" {
				w.WriteHeader(http.StatusInternalServerError)
			}
			body(w)
		}))
		t.Cleanup(server.Close)
		ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
		bounded(t, 128<<20, func() {
			if _, _, err := read(t, Source{URL: server.URL + "/policy.git"}, &Credentials{CA: ca}); err == nil {
				t.Errorf("%s: it was read", name)
			}
		})
	}
}

// zeros is an endless reader.
type zeros struct{}

func (zeros) Read(data []byte) (int, error) { clear(data); return len(data), nil }
