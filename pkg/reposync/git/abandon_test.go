package git

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"
)

// TestSilentServersDoNotHoldARead connects to a server of ssh that accepts connections, and says nothing.
func TestSilentServersDoNotHoldARead(t *testing.T) {
	RestrictProtocols(256 << 20)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	accepted := make(chan net.Conn, 1)
	go func() {
		if connection, err := listener.Accept(); err == nil {
			accepted <- connection
		}
	}()
	client, identity := key(t)
	_, knownHosts := serveSSH(t, t.TempDir(), client.PublicKey())
	reader := &Reader{Scratch: t.TempDir(), MaxBytes: 1 << 20}
	source, credentials := Source{URL: "ssh://git@" + listener.Addr().String() + "/repository"}, &Credentials{Identity: identity, KnownHosts: knownHosts}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := reader.Head(ctx, source, credentials); err == nil || !strings.Contains(err.Error(), "did not answer in time") {
		t.Errorf("got %v", err)
	}
	if _, err := reader.Read(t.Context(), source, credentials); err == nil || !strings.Contains(err.Error(), "an earlier request") {
		t.Errorf("while the first request is under way: got %v", err)
	}
	_ = listener.Close()
	_ = (<-accepted).Close()
	<-reader.last.ended
	if _, err := reader.Head(t.Context(), source, credentials); err == nil || strings.Contains(err.Error(), "an earlier request") {
		t.Errorf("after its end: got %v", err)
	}
}

func TestPacksThatClaimManyObjects(t *testing.T) {
	header := "PACK\x00\x00\x00\x02\xff\xff\xff\xff"
	if _, err := checkPack(strings.NewReader(header), 1<<20, nil); err == nil || !strings.Contains(err.Error(), "4294967295 objects, more than 1048576") {
		t.Errorf("got %v", err)
	}
}
