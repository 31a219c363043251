package reposync

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/kindscope"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/load"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/object"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/report"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/reposync/git"
)

// revision is a commit as it was read.
type revision struct {
	commit  string
	objects []*object.Object
	errors  report.Errors
	// listed are the kinds of the repository's own file.
	listed kindscope.Lookup
	// values is how many values the objects and listed have, and share what the revision takes of the memory of all.
	values int64
	share  share
	// refused is why the revision is not applied; a later one than the one in force has no objects then.
	refused *refusal
	// again is when the revision in force may be compiled again.
	again time.Time
	// awaited is true after its kinds have been waited for.
	awaited bool
}

// compile compiles the revision for the cluster that the spec names. Warnings about what cannot be applied are errors
// here: one tree label would stand for an abstract directory and a namespace, or an excluded namespace would have
// ancestors.
func (r *revision) compile(ctx context.Context, spec *v1alpha3.RepositorySyncSpec, served kindscope.Lookup, previous *revision) (*repository.Result, error) {
	if len(r.errors) > 0 {
		return &repository.Result{Errors: r.errors}, nil
	}
	options := repository.Options{
		Cluster: spec.Cluster, Scopes: kindscope.Chain{r.listed, served}, Excluded: hnc.ExcludedNamespaces, AllowSharedNames: spec.AllowSharedNames,
	}
	if previous != nil && previous.commit != r.commit {
		options.PreviousKinds = repository.DefinedKinds(previous.objects)
	}
	result, err := repository.Compile(ctx, r.objects, options)
	if err != nil {
		return nil, err
	}
	for _, warning := range result.Warnings {
		if !warning.Code.Applicable() {
			result.Errors = append(result.Errors, warning)
		}
	}
	return result, nil
}

// isApplicable reports whether a result may be applied. Objects of unknown kinds are left out of it.
func isApplicable(result *repository.Result) bool {
	for _, err := range result.Errors {
		if err.Code.Blocking() || !err.Code.Applicable() {
			return false
		}
	}
	return true
}

// source reads the revisions of a RepositorySync.
type source struct {
	reader  *git.Reader
	secrets kubernetes.Interface
	spec    *v1alpha3.RepositorySyncSpec
	// head is what the branch or tag pointed to when it was read, and tried when that was tried last.
	head, tried string
	// If tried could not be read because of failed, or was refused, it is not read again until a time, which is wait after
	// that.
	failed error
	until  time.Time
	wait   time.Duration
	// memory is what the revisions of all sources share, and applied the share of the one that is in force, or was under an
	// earlier spec.
	memory  *space
	applied *share
	// reading is under way, or nil.
	reading *reading
}

// reading reads a head, with the revision or the error as its result.
type reading struct {
	head     string
	began    time.Time
	done     chan struct{}
	revision *revision
	err      error
}

// readLimit is how long the revision in force waits to be corrected while another one is read, which may wait for its turns
// for any time.
const readLimit = 10 * time.Minute

// headLimit is how long it may take to find out what a source names now: a server may not answer.
const headLimit = 10 * time.Minute

// read returns the revision that the source names, or nil if that has been read already. If it takes longer than readLimit,
// reading continues, and a later call returns its result.
func (s *source) read(ctx context.Context) (*revision, error) {
	if s.reading == nil {
		head, credentials, err := s.lookUp(ctx)
		switch {
		case err != nil || head == s.head:
			return nil, err
		case head != s.tried:
			s.tried, s.failed, s.until, s.wait = head, nil, time.Time{}, 0
		case time.Now().Before(s.until):
			return nil, s.failed
		}
		r, applied := &reading{head: head, began: time.Now(), done: make(chan struct{})}, s.applied
		s.reading = r
		go func() {
			defer close(r.done)
			r.revision, r.err = s.readHead(ctx, head, credentials, applied)
		}()
	}
	r := s.reading
	limit := time.NewTimer(time.Until(r.began.Add(readLimit)))
	defer limit.Stop()
	select {
	case <-r.done:
	case <-limit.C:
		select {
		case <-r.done:
		default:
			return nil, git.ErrBudget // Others were in turn all the time.
		}
	}
	s.reading = nil
	if r.err != nil {
		s.backOff(r.err)
		return nil, r.err
	}
	s.head = r.head
	return r.revision, nil
}

// readHead reads what the source names. It changes nothing of the source, and may be called while another revision is applied.
func (s *source) readHead(ctx context.Context, head string, credentials *git.Credentials, applied *share) (*revision, error) {
	read := &revision{commit: head, share: share{of: s.memory, account: s.spec.ServiceAccount}}
	snapshot, err := s.reader.Read(ctx, s.revision(), credentials)
	if err == nil {
		read.commit = snapshot.Commit
		err = s.load(ctx, snapshot, read, applied)
	}
	if limit := (*report.Error)(nil); errors.As(err, &limit) {
		read.objects, read.listed, read.errors, err = nil, nil, append(read.errors, limit), nil
	}
	return read, err
}

// end waits for the end of what is read, whose context has ended, and releases its memory.
func (s *source) end() {
	if r := s.reading; r != nil {
		<-r.done
		r.revision.share.release()
	}
}

// backOff has what was tried last read again later, and later each time: the author of a commit decides how much reading
// it costs. What other repositories leave no space for does not wait.
func (s *source) backOff(err error) {
	if errors.Is(err, git.ErrBudget) {
		return
	}
	s.failed, s.wait = err, min(max(2*s.wait, minRetry), maxRetry)
	s.until = time.Now().Add(s.wait)
}

// refuse has what was read last read again later, because it may not be applied at present.
func (s *source) refuse() {
	s.head = ""
	s.backOff(nil)
}

// moved reports whether the source names another revision than those that were read or tried last. If that cannot be
// found out, it does not. While another one is read, it does when that has been read.
func (s *source) moved(ctx context.Context) bool {
	if s.reading != nil {
		select {
		case <-s.reading.done:
			return s.reading.err == nil
		default:
			return false
		}
	}
	head, _, err := s.lookUp(ctx)
	return err == nil && head != s.head && head != s.tried
}

// lookUp returns what the source names now, and the credentials to read it.
func (s *source) lookUp(ctx context.Context) (head string, credentials *git.Credentials, err error) {
	ctx, cancel := context.WithTimeout(ctx, headLimit)
	defer cancel()
	if credentials, err = s.credentials(ctx); err == nil {
		head, err = s.reader.Head(ctx, s.revision(), credentials)
	}
	return head, credentials, err
}

// revision returns what the spec names.
func (s *source) revision() git.Source {
	return git.Source{URL: s.spec.Source.URL, Branch: s.spec.Source.Branch, Tag: s.spec.Source.Tag, Commit: s.spec.Source.Commit}
}

// untilDone reads files until a context ends: the author of a commit decides how long that would take.
type untilDone struct {
	ctx   context.Context
	files fs.FS
}

// Open implements fs.FS.
func (u untilDone) Open(name string) (fs.File, error) {
	if err := u.ctx.Err(); err != nil {
		return nil, err
	}
	return u.files.Open(name)
}

// ReadDir implements fs.ReadDirFS.
func (u untilDone) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := u.ctx.Err(); err != nil {
		return nil, err
	}
	return fs.ReadDir(u.files, name)
}

// Stat implements fs.StatFS.
func (u untilDone) Stat(name string) (fs.FileInfo, error) {
	if err := u.ctx.Err(); err != nil {
		return nil, err
	}
	return fs.Stat(u.files, name)
}

// load parses a snapshot, and removes it. It replaces the revision of a share. Others may be in turn for any time.
func (s *source) load(ctx context.Context, snapshot *git.Snapshot, read *revision, applied *share) error {
	defer func() { _ = snapshot.Close() }()
	return inTurn(ctx, s.spec.ServiceAccount, func(ctx context.Context) error {
		files, err := snapshot.Sub(s.spec.Source.Directory)
		if err != nil {
			return err
		}
		read.objects, read.errors = load.Load(untilDone{ctx, files}, load.DefaultLimits)
		listed, problem := kindscope.FromFile(untilDone{ctx, files})
		if ctx.Err() != nil {
			read.errors = nil
			return context.Cause(ctx) // What could not be read has not left the repository.
		}
		if problem != nil {
			read.errors = append(read.errors, problem)
		}
		read.listed, read.values = listed, load.Values(read.objects)+int64(len(listed))
		if problem := read.share.take(read.values*valueBytes, applied); problem != nil {
			return problem
		}
		return nil
	})
}

// Keys of the Secret with credentials.
const (
	keyUsername   = "username"
	keyPassword   = "password"
	keyCA         = "ca.crt"
	keyIdentity   = "identity"
	keyKnownHosts = "known_hosts"
)

func (s *source) credentials(ctx context.Context) (*git.Credentials, error) {
	name := s.spec.Source.SecretName
	if name == "" {
		return nil, nil
	}
	namespace := s.spec.ServiceAccount.Namespace
	secret, err := s.secrets.CoreV1().Secrets(namespace).Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsForbidden(err):
		return nil, fmt.Errorf("spec.source.secretName: hns-sync may not read Secrets in namespace %q; grant it get on them there", namespace)
	case err != nil:
		return nil, fmt.Errorf("spec.source.secretName: %w", err)
	}
	return &git.Credentials{
		Username: string(secret.Data[keyUsername]), Password: string(secret.Data[keyPassword]), CA: secret.Data[keyCA],
		Identity: secret.Data[keyIdentity], KnownHosts: secret.Data[keyKnownHosts],
	}, nil
}
