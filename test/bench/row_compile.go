package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing/fstest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository"
	repositoryload "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/load"
	repositoryobject "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/object"
)

// measureCompile reads and compiles a repository in memory: its namespaces are in twenty abstract directories, from
// each of which they inherit.
func measureCompile(ctx context.Context, b *bench) error {
	n := b.pick(1000, 40)
	files := fstest.MapFS{}
	file := func(name, format string, args ...any) {
		files[name] = &fstest.MapFile{Data: fmt.Appendf(nil, format, args...)}
	}
	file("system/repo.yaml", "apiVersion: configmanagement.gke.io/v1\nkind: Repo\nmetadata: {name: repo}\nspec: {version: 1.0.0}\n")
	for i := range n {
		file(fmt.Sprintf("namespaces/all/dept-%d/ns-%d/namespace.yaml", i%20, i), "apiVersion: v1\nkind: Namespace\nmetadata: {name: ns-%d}\n", i)
	}
	for i := range inherited {
		dir := "namespaces/all"
		for d := range 20 {
			if i%2 == 1 {
				dir = fmt.Sprintf("namespaces/all/dept-%d", d)
			}
			file(fmt.Sprintf("%s/map-%d.yaml", dir, i), "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: map-%d}\ndata: {key: %q}\n", i, content)
		}
	}
	measured := map[string]*series{}
	err := b.each(func(int) error {
		var objects []*repositoryobject.Object
		var result *repository.Result
		before := heap()
		err := measureSteps(ctx, measured, []step{
			{"load", "ms", func() (int, error) {
				var problems error
				loaded, errs := repositoryload.Load(files, repositoryload.DefaultLimits)
				if len(errs) > 0 {
					problems = errs
				}
				objects = loaded
				return 1, problems
			}},
			{"compile", "ms", func() (int, error) {
				var err error
				if result, err = repository.Compile(ctx, objects, repository.Options{}); err != nil {
					return 1, err
				}
				if len(result.Errors) > 0 || len(result.Objects) != n*(1+inherited) {
					return 1, fmt.Errorf("%d objects, %w", len(result.Objects), result.Errors)
				}
				return 1, nil
			}},
		})
		add(measured, "memory", float64(heap()-before)/1e6)
		runtime.KeepAlive(objects)
		runtime.KeepAlive(result)
		return err
	})
	if err != nil {
		return err
	}
	note := fmt.Sprintf("%d namespaces, each inherits %d ConfigMaps, %d files", n, inherited, len(files))
	var errs []error
	for _, m := range []struct{ name, unit, about string }{
		{"load", "ms", "reading and parsing the files; processor time"},
		{"compile", "ms", "checking, inheriting and selecting; processor time"},
		{"memory", "MB", "heap of the objects"},
	} {
		errs = append(errs, b.report("compile-"+m.name, m.unit, n*(1+inherited), *measured[m.name], none, m.about, "; ", note))
	}
	return errors.Join(errs...)
}
