package migration

import (
	"context"
	"errors"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

// Of two processes that begin at the same time, one continues. The other one has changed nothing.
func TestTwoMigrationsBegin(t *testing.T) {
	c := fakeClients(t)
	first, err := newState(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := newState(t.Context(), c); err == nil || !strings.Contains(err.Error(), "another process has just begun this migration; run only one") {
		t.Errorf("got %v", err)
	}
	stored, err := c.kube.CoreV1().ConfigMaps(hnc.SystemNamespace).Get(t.Context(), hnc.Migration, metav1.GetOptions{})
	if err != nil || stored.Data[keyBackup] != first.stored.Data[keyBackup] {
		t.Errorf("the state is %v, %v", stored, err)
	}
}

// twoProcesses returns two processes that have read the same state.
func twoProcesses(t *testing.T, c *clients) (older, newer *Migration) {
	t.Helper()
	if _, err := newState(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	older, newer = &Migration{clients: c}, &Migration{clients: c}
	for _, m := range []*Migration{older, newer} {
		var err error
		if m.state, err = loadState(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	return older, newer
}

// A process that has been suspended does nothing when another one has begun, also if that has recorded no step yet.
func TestTheLastProcessContinues(t *testing.T) {
	ctx := t.Context()
	older, newer := twoProcesses(t, fakeClients(t))
	if err := errors.Join(older.state.hold(ctx), newer.state.claim(ctx), newer.state.hold(ctx)); err != nil {
		t.Fatal(err)
	}
	for what, err := range map[string]error{"hold": older.state.hold(ctx), "completed": older.state.completed(ctx, "freeze"), "claim": older.state.claim(ctx), "forget": older.state.forget(ctx)} {
		if !errors.Is(err, errOther) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := errors.Join(newer.state.hold(ctx), newer.state.forget(ctx)); err != nil {
		t.Error(err)
	}
	if err := older.state.hold(ctx); !errors.Is(err, errOther) {
		t.Errorf("the migration is completed: %v", err)
	}
}

func TestASuspendedProcessRemovesNothing(t *testing.T) {
	ctx := t.Context()
	c := fakeClients(t)
	older, newer := twoProcesses(t, c)
	if _, err := c.hierarchy.HncV1beta1().Hierarchies("a").Create(ctx, &v1beta1.Hierarchy{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: hnc.Singleton}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := newer.state.claim(ctx); err != nil {
		t.Fatal(err)
	}
	if err := older.removeImports(ctx); !errors.Is(err, errOther) {
		t.Errorf("got %v", err)
	}
	if _, err := c.hierarchy.HncV1beta1().Hierarchies("a").Get(ctx, hnc.Singleton, metav1.GetOptions{}); err != nil {
		t.Errorf("it has removed hierarchies: %v", err)
	}
	undone := false
	older.Out, older.Confirm = t.Output(), func(string) error { return nil }
	older.state = newer.state
	steps := []step{
		{"freeze", "", func(ctx context.Context) error {
			other, err := loadState(ctx, c)
			return errors.Join(err, other.claim(ctx))
		}},
		{"import", "", func(context.Context) error { undone = true; return nil }},
	}
	if err := older.undo(ctx, steps); !errors.Is(err, errOther) || undone {
		t.Errorf("a rollback goes on: %v", err)
	}
}

// A definition is deleted only if it is the one that was read, by the process that migrates.
func TestASuspendedProcessDeletesNoDefinition(t *testing.T) {
	for name, suspended := range map[string]bool{"continues": false, "suspended": true} {
		definition := object("CustomResourceDefinition", "", anchors+"."+hnc.GroupName, nil)
		definition.SetUID("definition")
		served := object("HNCConfiguration", "", hnc.ConfigurationName, nil)
		served.SetUID("config")
		c := fakeClients(t, systemNamespace(nil), definition, served)
		older, _ := twoProcesses(t, c)
		older.export = &export{}
		if _, err := c.hierarchy.HncV1beta1().HNCConfigurations().Create(t.Context(), &v1beta1.HNCConfiguration{ObjectMeta: metav1.ObjectMeta{Name: hnc.ConfigurationName, UID: "config"}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		// The dynamic client reads the definition directly before it is deleted.
		c.dynamic.(*dynamicfake.FakeDynamicClient).PrependReactor("get", "customresourcedefinitions", func(clienttesting.Action) (bool, runtime.Object, error) {
			if !suspended {
				return false, nil, nil
			}
			another, err := loadState(t.Context(), c)
			if err == nil {
				err = another.claim(t.Context())
			}
			return err != nil, nil, err
		})
		err := older.deleteDefinitions(t.Context())
		if suspended != errors.Is(err, errOther) || !suspended && err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var deleted []*metav1.Preconditions
		for _, action := range c.dynamic.(*dynamicfake.FakeDynamicClient).Actions() {
			if d, ok := action.(clienttesting.DeleteActionImpl); ok {
				deleted = append(deleted, d.DeleteOptions.Preconditions)
			}
		}
		switch {
		case suspended && len(deleted) > 0:
			t.Errorf("%s: it has deleted %d definitions", name, len(deleted))
		case !suspended && (len(deleted) != 1 || deleted[0] == nil || *deleted[0].UID != "definition"):
			t.Errorf("%s: it deletes any definition of the name: %v", name, deleted)
		}
	}
}

// What hns-propagator has in force is not replaced by what HNC had.
func TestNothingIsImportedWhileHierarchiesArePropagated(t *testing.T) {
	older, _ := twoProcesses(t, fakeClients(t, systemNamespace(map[string]string{hnc.AnnotationStore: "uid"})))
	older.export = &export{}
	if err := older.importAll(t.Context()); err == nil || !strings.Contains(err.Error(), "has already propagated hierarchies in this cluster") {
		t.Errorf("got %v", err)
	}
}
