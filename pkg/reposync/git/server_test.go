package git

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"
)

// uploadPack runs Git's own server for a repository.
func uploadPack(ctx context.Context, dir string, in io.Reader, out, errOut io.Writer, args ...string) error {
	// Pinned commits need not be the head of a branch.
	args = append([]string{"-c", "uploadpack.allowReachableSHA1InWant=true", "-c", "safe.directory=*", "upload-pack"}, append(args, dir)...)
	command := exec.CommandContext(ctx, "git", args...)
	command.Stdin, command.Stdout, command.Stderr = in, out, errOut
	return command.Run()
}

// serveHTTPS serves a repository at /policy.git to the user git with the password secret. It returns the URL and the
// server's certificate.
func serveHTTPS(t *testing.T, dir string) (url string, ca []byte) {
	t.Helper()
	return serve(t, dir, false)
}

// serveSlowly serves a repository, but never the end of a pack.
func serveSlowly(t *testing.T, dir string) (url string, ca []byte) {
	t.Helper()
	return serve(t, dir, true)
}

// serveStatus answers every request with a status and a body.
func serveStatus(t *testing.T, code int) (url string, ca []byte) {
	t.Helper()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "the body", code) }))
	t.Cleanup(server.Close)
	return server.URL + "/policy.git", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
}

func serve(t *testing.T, dir string, slowly bool) (url string, ca []byte) {
	t.Helper()
	const path = "/policy.git"
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+path+"/info/refs", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/x-git-upload-pack-advertisement")
		_, _ = io.WriteString(w, "001e# service=git-upload-pack\n0000")
		_ = uploadPack(r.Context(), dir, nil, w, io.Discard, "--stateless-rpc", "--advertise-refs")
	})
	mux.HandleFunc("POST "+path+"/git-upload-pack", func(w http.ResponseWriter, r *http.Request) {
		body := io.Reader(r.Body)
		if r.Header.Get("Content-Encoding") == "gzip" {
			unpacked, err := gzip.NewReader(body)
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			body = unpacked
		}
		w.Header().Set("Content-Type", "application/x-git-upload-pack-result")
		if slowly {
			// A server notices that a client has left once it has read the request.
			_, _ = io.Copy(io.Discard, r.Body)
			w.WriteHeader(http.StatusOK)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
			return
		}
		_ = uploadPack(r.Context(), dir, body, w, io.Discard, "--stateless-rpc")
	})
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "git" || password != "secret" {
			w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	server.Config.ErrorLog = nil
	return server.URL + path, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
}

// key returns a new key pair, the private key in the format of OpenSSH.
func key(t *testing.T) (ssh.Signer, []byte) {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(private)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		t.Fatal(err)
	}
	return signer, pem.EncodeToMemory(block)
}

// serveSSH serves a repository to the holder of a key. It returns the URL and the server's line of known_hosts.
func serveSSH(t *testing.T, dir string, client ssh.PublicKey) (url string, knownHosts []byte) {
	t.Helper()
	return serveSSHWith(t, dir, client, func(ctx context.Context, channel ssh.Channel) error {
		return uploadPack(ctx, dir, channel, channel, channel.Stderr())
	})
}

// serveSSHWith is serveSSH with another program instead of upload-pack.
func serveSSHWith(t *testing.T, dir string, client ssh.PublicKey, run func(context.Context, ssh.Channel) error) (url string, knownHosts []byte) {
	t.Helper()
	config := &ssh.ServerConfig{PublicKeyCallback: func(c ssh.ConnMetadata, k ssh.PublicKey) (*ssh.Permissions, error) {
		if c.User() != "git" || !bytes.Equal(k.Marshal(), client.Marshal()) {
			return nil, fmt.Errorf("unknown key of %s", c.User())
		}
		return nil, nil
	}}
	host, _ := key(t)
	config.AddHostKey(host)
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			go serveConnection(t.Context(), connection, config, dir, run)
		}
	}()
	address := listener.Addr().String()
	return "ssh://git@" + address + dir, []byte(knownhosts.Line([]string{address}, host.PublicKey()) + "\n")
}

func serveConnection(ctx context.Context, connection net.Conn, config *ssh.ServerConfig, dir string, run func(context.Context, ssh.Channel) error) {
	defer func() { _ = connection.Close() }()
	_, channels, requests, err := ssh.NewServerConn(connection, config)
	if err != nil {
		return
	}
	go ssh.DiscardRequests(requests)
	for incoming := range channels {
		if incoming.ChannelType() != "session" {
			_ = incoming.Reject(ssh.UnknownChannelType, "sessions only")
			continue
		}
		channel, requests, err := incoming.Accept()
		if err != nil {
			return
		}
		go serveSession(ctx, channel, requests, dir, run)
	}
}

// serveSession runs a program for requests for upload-pack of the repository. Any other request fails.
func serveSession(ctx context.Context, channel ssh.Channel, requests <-chan *ssh.Request, dir string, run func(context.Context, ssh.Channel) error) {
	defer func() { _ = channel.Close() }()
	for request := range requests {
		if request.Type != "exec" {
			_ = request.Reply(false, nil)
			continue
		}
		var payload struct{ Command string }
		err := ssh.Unmarshal(request.Payload, &payload)
		program, path, _ := strings.Cut(payload.Command, " ")
		if err != nil || program != "git-upload-pack" || strings.Trim(path, "'") != dir {
			_ = request.Reply(false, nil)
			return
		}
		_ = request.Reply(true, nil)
		status := struct{ Status uint32 }{}
		if run(ctx, channel) != nil {
			status.Status = 1
		}
		_, _ = channel.SendRequest("exit-status", false, ssh.Marshal(&status))
		return
	}
}
