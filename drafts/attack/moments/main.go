package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	hncclient "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/clientset/versioned"
)

var ctx = context.Background()

func must(err error) {
	if err != nil {
		panic(err)
	}
}

type who struct {
	k kubernetes.Interface
	h hncclient.Interface
}

func main() {
	seconds := flag.Int("s", 120, "")
	seed := flag.Int64("seed", time.Now().UnixNano(), "")
	p := flag.String("p", "mm", "prefix")
	flag.Parse()
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	must(err)
	config.QPS = -1
	as := func(name string) who {
		c := rest.CopyConfig(config)
		if name != "" {
			c.Impersonate.UserName = name
		}
		return who{kubernetes.NewForConfigOrDie(c), hncclient.NewForConfigOrDie(c)}
	}
	root, ann := as(""), as("ann")
	org, team := *p+"-org", *p+"-team"
	for _, n := range []string{org, team} {
		_, err := root.k.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: n}}, metav1.CreateOptions{})
		must(err)
	}
	_, err = root.h.HncV1beta1().Hierarchies(team).Create(ctx, &v1beta1.Hierarchy{ObjectMeta: metav1.ObjectMeta{Name: "hierarchy"}, Spec: v1beta1.HierarchySpec{Parent: org}}, metav1.CreateOptions{})
	must(err)
	bind := func(ns, name, role, user string) *rbacv1.RoleBinding {
		return &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: ns}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
			Subjects: []rbacv1.Subject{{Kind: "User", APIGroup: rbacv1.GroupName, Name: user}}}
	}
	_, err = root.k.RbacV1().RoleBindings(team).Create(ctx, bind(team, "ann", "admin", "ann"), metav1.CreateOptions{})
	must(err)
	const maxNs, maxCM = 6, 12
	_, err = root.h.HncV1beta1().HierarchicalResourceQuotas(org).Create(ctx, &v1beta1.HierarchicalResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "q"},
		Spec: v1beta1.HierarchicalResourceQuotaSpec{Hard: hnc.ResourceList{"count/subnamespaces.hnc.x-k8s.io": resource.MustParse(fmt.Sprint(maxNs)), "secrets": resource.MustParse(fmt.Sprint(maxCM))}}}, metav1.CreateOptions{})
	must(err)
	end := time.Now().Add(time.Duration(*seconds) * time.Second)
	var wg sync.WaitGroup
	var ok, bad atomic.Int64
	names := []string{}
	for i := range 5 {
		names = append(names, fmt.Sprintf("%s-s%d", *p, i))
	}
	places := append([]string{team}, names...)
	for w := range 10 {
		r := rand.New(rand.NewSource(*seed + int64(w)))
		wg.Add(1)
		go func() {
			defer wg.Done()
			for time.Now().Before(end) {
				ns, name := places[r.Intn(len(places))], names[r.Intn(len(names))]
				c, cancel := context.WithTimeout(ctx, 15*time.Second)
				var err error
				switch r.Intn(12) {
				case 0, 1, 2:
					_, err = ann.h.HncV1beta1().Subnamespaces(ns).Create(c, &v1beta1.Subnamespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
				case 3:
					err = ann.h.HncV1beta1().Subnamespaces(ns).Delete(c, name, metav1.DeleteOptions{})
				case 4:
					_, err = ann.h.HncV1beta1().Subnamespaces(ns).Patch(c, name, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
				case 5:
					err = ann.h.HncV1beta1().Hierarchies(ns).Delete(c, "hierarchy", metav1.DeleteOptions{})
				case 6:
					_, err = ann.h.HncV1beta1().Hierarchies(ns).Patch(c, "hierarchy", types.MergePatchType, []byte(fmt.Sprintf(`{"spec":{"parent":%q}}`, []string{"", team, name, org}[r.Intn(4)])), metav1.PatchOptions{})
				case 7:
					_, err = ann.h.HncV1beta1().Hierarchies(ns).Patch(c, "hierarchy", types.MergePatchType, []byte(fmt.Sprintf(`{"spec":{"requiredChildren":[%q],"allowCascadingDeletion":true}}`, name)), metav1.PatchOptions{})
				case 8, 9:
					_, err = ann.k.CoreV1().Secrets(ns).Create(c, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{GenerateName: "x-"}}, metav1.CreateOptions{})
				case 10:
					l, e := ann.k.CoreV1().Secrets(ns).List(c, metav1.ListOptions{})
					if err = e; e == nil && len(l.Items) > 1 {
						err = ann.k.CoreV1().Secrets(ns).Delete(c, l.Items[r.Intn(len(l.Items))].Name, metav1.DeleteOptions{})
					}
				case 11:
					// a local object with the name of the policy
					_, err = ann.k.RbacV1().RoleBindings(ns).Create(c, bind(ns, "grant", "view", "ann"), metav1.CreateOptions{})
				}
				cancel()
				if err == nil {
					ok.Add(1)
				} else {
					bad.Add(1)
				}
			}
		}()
	}
	// the administrator grants and revokes
	wg.Add(1)
	go func() {
		defer wg.Done()
		for time.Now().Before(end) {
			root.k.RbacV1().RoleBindings(org).Create(ctx, bind(org, "grant", "edit", "bob"), metav1.CreateOptions{})
			time.Sleep(time.Duration(rand.Intn(900)) * time.Millisecond)
			root.k.RbacV1().RoleBindings(org).Delete(ctx, "grant", metav1.DeleteOptions{})
			time.Sleep(time.Duration(rand.Intn(900)) * time.Millisecond)
		}
	}()
	// invariants while it runs
	wg.Add(1)
	go func() {
		defer wg.Done()
		for time.Now().Before(end) {
			l, err := root.k.CoreV1().Namespaces().List(ctx, metav1.ListOptions{LabelSelector: org + ".tree.hnc.x-k8s.io/depth"})
			if err == nil {
				n, s := 0, 0
				for _, ns := range l.Items {
					if ns.Name != org {
						n++
					}
					sec, _ := root.k.CoreV1().Secrets(ns.Name).List(ctx, metav1.ListOptions{})
					s += len(sec.Items)
				}
				if n > maxNs {
					fmt.Println("VIOLATION namespaces", n)
				}
				if s > maxCM {
					fmt.Println("VIOLATION secrets", s)
				}
			}
			time.Sleep(100 * time.Millisecond)
		}
	}()
	wg.Wait()
	fmt.Println("ok", ok.Load(), "rejected", bad.Load())
	time.Sleep(15 * time.Second)
	// after: everything of the prefix is below org, has no grant, and its labels equal its chain
	l, _ := root.k.CoreV1().Namespaces().List(ctx, metav1.ListOptions{})
	for _, ns := range l.Items {
		if !strings.HasPrefix(ns.Name, *p+"-") {
			continue
		}
		d := ns.Labels[org+".tree.hnc.x-k8s.io/depth"]
		h, _ := root.h.HncV1beta1().Hierarchies(ns.Name).Get(ctx, "hierarchy", metav1.GetOptions{})
		parent := ""
		var conds []string
		if h != nil {
			parent = h.Spec.Parent
			for _, c := range h.Status.Conditions {
				conds = append(conds, c.Type+"="+string(c.Status)+"/"+c.Reason)
			}
		}
		fmt.Println(ns.Name, "phase", ns.Status.Phase, "depth", d, "parent", parent, "subOf", ns.Annotations["hnc.x-k8s.io/subnamespace-of"], conds)
		if d == "" {
			fmt.Println("VIOLATION left the tree:", ns.Name)
		}
		rbs, _ := root.k.RbacV1().RoleBindings(ns.Name).List(ctx, metav1.ListOptions{})
		for _, rb := range rbs.Items {
			if len(rb.Subjects) > 0 && rb.Subjects[0].Name == "bob" {
				fmt.Println("VIOLATION revoked grant remains in", ns.Name, rb.Labels)
			}
			if rb.Name == "ann" && rb.Labels["hnc.x-k8s.io/inherited-from"] == "" && ns.Name != team {
				fmt.Println("VIOLATION local binding ann in", ns.Name)
			}
		}
	}
}
