package faults

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"
)

// echo returns a connection by a link to a server that sends back what it gets, and the link.
func echo(t *testing.T) (net.Conn, *Link) {
	t.Helper()
	server, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	go func() {
		for {
			conn, err := server.Accept()
			if err != nil {
				return
			}
			go func() {
				_, _ = io.Copy(conn, conn)
				_ = conn.Close()
			}()
		}
	}()
	link, err := NewLink(t.Context(), server.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return dial(t, link), link
}

func dial(t *testing.T, link *Link) net.Conn {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", link.Address())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// roundTrip sends a line and returns how long it took until it came back, or the error of a deadline.
func roundTrip(conn net.Conn, deadline time.Duration) (time.Duration, error) {
	begin := time.Now()
	if err := conn.SetDeadline(begin.Add(deadline)); err != nil {
		return 0, err
	}
	if _, err := conn.Write([]byte("line")); err != nil {
		return 0, err
	}
	_, err := io.ReadFull(conn, make([]byte, 4))
	return time.Since(begin), err
}

func TestLinkIsOpenAtFirstAndSlowWhenSetSo(t *testing.T) {
	conn, link := echo(t)
	if _, err := roundTrip(conn, time.Minute); err != nil {
		t.Fatal(err)
	}
	link.Set(Slow)
	if took, err := roundTrip(conn, time.Minute); err != nil || took < 2*delay {
		t.Errorf("there and back in %s, %v", took, err)
	}
}

func TestASilentLinkKeepsConnectionsAndPassesNothingOn(t *testing.T) {
	conn, link := echo(t)
	link.Set(Silent)
	if _, err := roundTrip(conn, 2*delay); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a silent link: %v", err)
	}
	link.Set(Open)
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(conn, make([]byte, 4)); err != nil {
		t.Errorf("what was sent meanwhile is lost: %v", err)
	}
}

func TestACutLinkEndsConnectionsAndAcceptsNone(t *testing.T) {
	conn, link := echo(t)
	if _, err := roundTrip(conn, time.Minute); err != nil {
		t.Fatal(err)
	}
	link.Set(Cut)
	for _, c := range []net.Conn{conn, dial(t, link)} {
		if _, err := roundTrip(c, time.Minute); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("a cut link: %v", err)
		}
	}
	link.Set(Open)
	if _, err := roundTrip(dial(t, link), time.Minute); err != nil {
		t.Errorf("an open link: %v", err)
	}
}
