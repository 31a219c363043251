// mem: as an editor (impersonated), write large objects as fast as possible and sample the RSS of hns-apiserver.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
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

func must(err error) {
	if err != nil {
		panic(err)
	}
}

var pid = flag.String("pid", "", "")
var seconds = flag.Int("s", 60, "")
var mode = flag.String("mode", "quota", "quota|subns|status")
var ns = flag.String("ns", "memroot", "")
var quotas = flag.Int("quotas", 50, "")
var names = flag.Int("names", 100, "names per quota")
var workers = flag.Int("w", 16, "")

func rss() string {
	b, _ := os.ReadFile("/proc/" + *pid + "/status")
	for _, l := range strings.Split(string(b), "\n") {
		if strings.HasPrefix(l, "VmRSS") {
			return strings.TrimSpace(l[6:])
		}
	}
	return "?"
}

func main() {
	kc := flag.String("kubeconfig", os.Getenv("KUBECONFIG"), "")
	flag.Parse()
	_ = exec.Command
	config, err := clientcmd.BuildConfigFromFlags("", *kc)
	must(err)
	config.QPS = -1
	admin := kubernetes.NewForConfigOrDie(config)
	ctx := context.Background()
	admin.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: *ns}}, metav1.CreateOptions{})
	admin.RbacV1().RoleBindings(*ns).Create(ctx, &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "eve"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "edit"},
		Subjects: []rbacv1.Subject{{Kind: "User", APIGroup: rbacv1.GroupName, Name: "eve"}}}, metav1.CreateOptions{})
	time.Sleep(2 * time.Second)
	as := rest.CopyConfig(config)
	as.Impersonate.UserName = "eve"
	eve := hncclient.NewForConfigOrDie(as)
	var ok, limited, failed, sent atomic.Int64
	var lastErr atomic.Value
	note := func(err error, n int) {
		switch {
		case err == nil:
			ok.Add(1)
			sent.Add(int64(n))
		case strings.Contains(err.Error(), "large objects"):
			limited.Add(1)
		default:
			failed.Add(1)
			lastErr.Store(fmt.Sprintf("%.300s", err.Error()))
		}
	}
	hard := hnc.ResourceList{}
	for i := range *names {
		label := strings.Repeat("d", 59)
		hard[corev1.ResourceName(fmt.Sprintf("a%03d.%s.%s.%s.%s/%s", i, label, label, label, label, strings.Repeat("n", 55)))] = resource.MustParse("1")
	}
	if *names == 0 {
		hard = hnc.ResourceList{"count/subnamespaces.hnc.x-k8s.io": resource.MustParse("100000")}
	}
	ann := func(n int) map[string]string {
		return map[string]string{"example.com/a": strings.Repeat(string(rune('a'+n%26)), 60<<10)}
	}
	mf := func(n int) []metav1.ManagedFieldsEntry {
		var l []metav1.ManagedFieldsEntry
		for i := range 15 {
			l = append(l, metav1.ManagedFieldsEntry{Manager: fmt.Sprint("m", i), Operation: "Update", APIVersion: "hnc.x-k8s.io/v1beta1", FieldsType: "FieldsV1", Time: &metav1.Time{Time: time.Unix(int64(n+i*1000), 0)},
				FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:annotations":{"f:` + strings.Repeat(string(rune('a'+(n+i)%26)), 8000) + `":{}}}}`)})
		}
		return l
	}
	fmt.Println("before", rss())
	end := time.Now().Add(time.Duration(*seconds) * time.Second)
	var wg sync.WaitGroup
	client := eve.HncV1beta1().HierarchicalResourceQuotas(*ns)
	raw := eve.HncV1beta1().RESTClient()
	create := func(resource string, obj any, n int) error {
		return raw.Post().Namespace(*ns).Resource(resource).Body(obj).MaxRetries(0).Timeout(30 * time.Second).Do(ctx).Error()
	}
	if *mode == "quota" || *mode == "status" {
		for i := range *quotas {
			q := &v1beta1.HierarchicalResourceQuota{TypeMeta: metav1.TypeMeta{APIVersion: "hnc.x-k8s.io/v1beta1", Kind: "HierarchicalResourceQuota"}, ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("q", i), Annotations: ann(i), ManagedFields: mf(i)}, Spec: v1beta1.HierarchicalResourceQuotaSpec{Hard: hard}}
			err := create("hierarchicalresourcequotas", q, i)
			if err != nil {
				fmt.Printf("create %d: %.300v\n", i, err)
				break
			}
		}
	}
	for w := range *workers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for n := 0; time.Now().Before(end); n++ {
				switch *mode {
				case "quota":
					patch := fmt.Sprintf(`[{"op":"replace","path":"/metadata/annotations/example.com~1a","value":%q}]`, fmt.Sprint(w, "-", n, strings.Repeat("x", 60<<10)))
					err := raw.Patch(types.JSONPatchType).Namespace(*ns).Resource("hierarchicalresourcequotas").Name(fmt.Sprint("q", (w+n**workers)%*quotas)).Body([]byte(patch)).MaxRetries(0).Timeout(30 * time.Second).Do(ctx).Error()
					note(err, len(patch))
				case "subns":
					name := fmt.Sprintf("%s-%d-%d", *ns, w, n)
					s := &v1beta1.Subnamespace{TypeMeta: metav1.TypeMeta{APIVersion: "hnc.x-k8s.io/v1beta1", Kind: "Subnamespace"}, ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: ann(n), ManagedFields: mf(n)}}
					note(create("subnamespaces", s, n), 180<<10)
				case "status":
					name := fmt.Sprintf("%s-%d-%d", *ns, w, n)
					s := &v1beta1.Subnamespace{TypeMeta: metav1.TypeMeta{APIVersion: "hnc.x-k8s.io/v1beta1", Kind: "Subnamespace"}, ObjectMeta: metav1.ObjectMeta{Name: name}}
					note(create("subnamespaces", s, n), 0)
				}
			}
		}()
	}
	_ = client
	peak := ""
	done := make(chan bool)
	go func() { wg.Wait(); close(done) }()
	for {
		select {
		case <-time.After(5 * time.Second):
			peak = rss()
			fmt.Println(time.Until(end).Round(time.Second), "rss", peak, "ok", ok.Load(), "limited", limited.Load(), "failed", failed.Load(), "MB", sent.Load()>>20, lastErr.Load())
			continue
		case <-done:
		}
		break
	}
	fmt.Println("after", rss())
}
