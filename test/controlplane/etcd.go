package controlplane

import (
	"context"
	"crypto/tls"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

// Etcd says how to reach an etcd.
type Etcd struct {
	// Endpoints are https URLs, one for each member.
	Endpoints []string
	// CAFile verifies the servers; Client authenticates to them.
	CAFile string
	Client KeyPair
}

// TLS returns the client side of a connection to etcd.
func (e Etcd) TLS() (*tls.Config, error) { return clientTLS(e.CAFile, e.Client) }

// Flags returns the flags with which an API server uses this etcd.
func (e Etcd) Flags() []string {
	return []string{
		"--etcd-servers=" + strings.Join(e.Endpoints, ","),
		"--etcd-cafile=" + e.CAFile,
		"--etcd-certfile=" + e.Client.CertFile,
		"--etcd-keyfile=" + e.Client.KeyFile,
	}
}

// Etcd returns how to reach the control plane's etcd with all permissions.
func (cp *ControlPlane) Etcd() (Etcd, error) {
	return etcdProcesses{cp}.access([]EtcdMember{{Process: etcd}})
}

// EtcdMember is a member of an etcd.
type EtcdMember struct {
	// Process is the name of its process, log and ports.
	Process string
}

// EtcdMembers returns n members of an etcd for our data only.
func EtcdMembers(n int) []EtcdMember {
	members := []EtcdMember{{Process: hnsEtcd}}
	for i := 1; i < n; i++ {
		members = append(members, EtcdMember{Process: hnsEtcd + "-" + strconv.Itoa(i)})
	}
	return members
}

// StartEtcd runs those members of an etcd that do not run, and returns when all of them have a leader.
func StartEtcd(ctx context.Context, cp *ControlPlane, members []EtcdMember) (Etcd, error) {
	errs := make([]error, len(members))
	var starts sync.WaitGroup
	for i, member := range members {
		starts.Go(func() { errs[i] = etcdProcesses{cp}.start(ctx, member, members) })
	}
	starts.Wait()
	for _, err := range errs {
		if err != nil {
			return Etcd{}, err
		}
	}
	return etcdProcesses{cp}.access(members)
}

// etcdProcesses starts members of an etcd.
type etcdProcesses struct{ *ControlPlane }

func (cp etcdProcesses) access(members []EtcdMember) (Etcd, error) {
	client, err := cp.pki.client(cp.pki.etcd, "etcd-client", "etcd-client")
	if err != nil {
		return Etcd{}, err
	}
	e := Etcd{CAFile: cp.pki.etcd.CertFile, Client: client}
	for _, member := range members {
		port, err := cp.ports.get(member.Process)
		if err != nil {
			return Etcd{}, err
		}
		e.Endpoints = append(e.Endpoints, "https://"+loopback(port))
	}
	return e, nil
}

// peer returns the URL at which other members reach a member.
func (cp etcdProcesses) peer(member EtcdMember) (string, error) {
	port, err := cp.ports.get(member.Process + "-peer")
	return "https://" + loopback(port), err
}

// start runs one of all members of an etcd, and returns when it has a leader.
func (cp etcdProcesses) start(ctx context.Context, member EtcdMember, all []EtcdMember) error {
	access, err := cp.access([]EtcdMember{member})
	if err != nil {
		return err
	}
	serving, err := cp.pki.serving(cp.pki.etcd, etcd, "localhost", "127.0.0.1")
	if err != nil {
		return err
	}
	var initial []string
	for _, m := range all {
		peer, err := cp.peer(m)
		if err != nil {
			return err
		}
		initial = append(initial, m.Process+"="+peer)
	}
	peer, err := cp.peer(member)
	if err != nil {
		return err
	}
	args := []string{
		"--name=" + member.Process,
		"--data-dir=" + filepath.Join(cp.config.Dir, member.Process+"-data"),
		"--listen-client-urls=" + access.Endpoints[0],
		"--advertise-client-urls=" + access.Endpoints[0],
		"--listen-peer-urls=" + peer,
		"--initial-advertise-peer-urls=" + peer,
		"--initial-cluster=" + strings.Join(initial, ","),
		"--cert-file=" + serving.CertFile,
		"--key-file=" + serving.KeyFile,
		"--trusted-ca-file=" + access.CAFile,
		"--client-cert-auth",
		"--peer-cert-file=" + serving.CertFile,
		"--peer-key-file=" + serving.KeyFile,
		"--peer-trusted-ca-file=" + access.CAFile,
		"--peer-client-cert-auth",
		"--log-level=warn",
	}
	if cp.config.UnsafeNoFsync {
		args = append(args, "--unsafe-no-fsync")
	}
	config, err := access.TLS()
	if err != nil {
		return err
	}
	return cp.run(ctx, run{name: member.Process, binary: etcd, args: args, ready: access.Endpoints[0] + "/readyz", tls: config})
}
