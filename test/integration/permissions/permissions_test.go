package permissions

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/wait"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
)

// requests returns what a ServiceAccount of ours has requested, as "verb resource.group" ("read" for both list and
// watch), and fails the test for each refusal.
func requests(t *testing.T, account string) sets.Set[string] {
	t.Helper()
	file, err := os.Open(auditLog)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	found := sets.New[string]()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var event auditv1.Event
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
			t.Fatal(err)
		}
		if event.User.Username != "system:serviceaccount:hns-system:"+account {
			continue
		}
		// The propagator waits until the webhook of quotas denies a dry run.
		probe := strings.Contains(event.ResponseStatus.Message, "in-force.hierarchicalresourcequotas.hnc.x-k8s.io")
		// Only artifacts/components/view lets it create CustomResourceDefinitions.
		definition := event.Verb == "create" && event.ObjectRef != nil && event.ObjectRef.Resource == "customresourcedefinitions"
		if event.ResponseStatus.Code == http.StatusForbidden && !probe && !definition {
			t.Errorf("%s may not %s %s: %s", account, event.Verb, event.RequestURI, event.ResponseStatus.Message)
		}
		if event.ImpersonatedUser != nil {
			found.Insert(request("impersonate", "serviceaccounts."))
			continue
		}
		if o := event.ObjectRef; o != nil {
			resource := o.Resource
			if o.Subresource != "" {
				resource += "/" + o.Subresource
			}
			found.Insert(request(event.Verb, resource+"."+o.APIGroup))
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return found
}

// request takes a list and a watch for the same: a client that can have lists by watches needs lists when a server
// can't do that.
func request(verb, resource string) string {
	if verb == "list" || verb == "watch" {
		verb = "read"
	}
	return verb + " " + resource
}

// allowed returns what rules allow in the same form.
func allowed(rules []rbacv1.PolicyRule) sets.Set[string] {
	found := sets.New[string]()
	for _, rule := range rules {
		for _, verb := range rule.Verbs {
			for _, group := range rule.APIGroups {
				for _, resource := range rule.Resources {
					found.Insert(request(verb, resource+"."+group))
				}
			}
		}
	}
	return found
}

func clusterRole(t *testing.T, name string) []rbacv1.PolicyRule {
	t.Helper()
	role, err := kube.RbacV1().ClusterRoles().Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return role.Rules
}

// eventually polls until try returns nil.
func eventually(t *testing.T, what string, try func(ctx context.Context) error) {
	t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(t.Context(), interval, deadline, true, func(ctx context.Context) (bool, error) {
		err := try(ctx)
		if ctx.Err() == nil {
			last = err
		}
		return err == nil, nil
	})
	if err != nil {
		t.Fatalf("%s: %v", what, last)
	}
}

func TestServersNeedAllPermissionsThatTheyHave(t *testing.T) {
	story(t)
	apiserver := requests(t, "hns-apiserver")
	for request := range allowed(clusterRole(t, "hns-apiserver")).Difference(apiserver) {
		// Read when a ResourceQuota of ours goes, which may be after this.
		if request != "get resourcequotas." {
			t.Errorf("ClusterRole hns-apiserver allows what is not needed: %s", request)
		}
	}
	for request := range apiserver {
		verb, resource, _ := strings.Cut(request, " ")
		review := strings.HasSuffix(resource, "reviews.authentication.k8s.io") || strings.HasSuffix(resource, "reviews.authorization.k8s.io")
		if strings.Contains(resource, "/") || verb != "read" && !review &&
			request != "get namespaces." && request != "get configmaps." && request != "get resourcequotas." {
			t.Errorf("hns-apiserver requests something new: %s", request)
		}
	}
	propagator := requests(t, "hns-propagator")
	for request := range allowed(clusterRole(t, "hns-propagator")).Difference(propagator) {
		verb, resource, _ := strings.Cut(request, " ")
		switch {
		case verb == "bind" || verb == "escalate":
			// Asked for when a Role or RoleBinding is written.
		case resource == "validatingwebhookconfigurations.admissionregistration.k8s.io":
			// Needed with --hrq-enforcement=Reserve.
		case request == "patch namespaces/status.":
			// Needed when a finalizer below keeps a namespace that is being deleted.
		case strings.HasPrefix(request, "deletecollection "):
			// Needed for copies whose names do not fit into a request.
		case request == "get resourcequotas.":
			// Needed when somebody else has created a ResourceQuota of ours.
		case strings.HasSuffix(resource, ".hnc.x-k8s.io"), strings.HasSuffix(resource, ".events.k8s.io"), request == "patch events.", request == "get roles.rbac.authorization.k8s.io", request == "get rolebindings.rbac.authorization.k8s.io":
			// Some are needed to rebuild a lost store, or are asked for by the registry.
		default:
			t.Errorf("ClusterRole hns-propagator allows what is not needed: %s", request)
		}
	}
}

// No server can get at what runs in pods and on nodes, or at anybody's identity.
func TestPermissionsThatNoServerHas(t *testing.T) {
	denied := map[string][]string{
		"get":         {"nodes/proxy", "nodes/log", "nodes/stats", "pods/exec", "pods/attach", "pods/log", "pods/portforward", "pods/proxy", "services/proxy"},
		"create":      {"nodes/proxy", "pods", "pods/exec", "pods/eviction", "serviceaccounts/token", "clusterrolebindings.rbac.authorization.k8s.io"},
		"update":      {"pods/ephemeralcontainers", "namespaces/finalize", "nodes", "clusterroles.rbac.authorization.k8s.io", "validatingadmissionpolicies.admissionregistration.k8s.io"},
		"impersonate": {"users", "groups", "serviceaccounts"},
	}
	readOnly := map[string][]string{
		"get":    {"secrets", "configmaps"},
		"create": {"secrets", "namespaces", "rolebindings.rbac.authorization.k8s.io"},
		"update": {"secrets", "namespaces", "hierarchies.hnc.x-k8s.io"},
		"delete": {"secrets", "namespaces", "rolebindings.rbac.authorization.k8s.io"},
		"patch":  {"secrets", "namespaces"},
	}
	for account, rows := range map[string][]map[string][]string{"hns-apiserver": {denied, readOnly}, "hns-propagator": {denied}, "hns-sync": {denied, readOnly}} {
		for _, row := range rows {
			for verb, resources := range row {
				for _, resource := range resources {
					if may(t, account, verb, resource) {
						t.Errorf("%s may %s %s", account, verb, resource)
					}
				}
			}
		}
	}
	if !may(t, "hns-apiserver", "list", "secrets") || !may(t, "hns-apiserver", "watch", "anythings.example.com") {
		t.Error("hns-apiserver can't serve reads of any kind")
	}
}

func may(t *testing.T, account, verb, resource string) bool {
	t.Helper()
	allowed, err := review(t.Context(), account, verb, resource)
	if err != nil {
		t.Fatal(err)
	}
	return allowed
}

// review says whether a ServiceAccount of ours has a permission.
func review(ctx context.Context, account, verb, resource string) (bool, error) {
	resource, group, _ := strings.Cut(resource, ".")
	resource, subresource, _ := strings.Cut(resource, "/")
	return reviewIn(ctx, "default", account, verb, resource, group, subresource)
}

func reviewIn(ctx context.Context, namespace, account, verb, resource, group, subresource string) (bool, error) {
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User:   "system:serviceaccount:hns-system:" + account,
		Groups: []string{"system:serviceaccounts", "system:serviceaccounts:hns-system", "system:authenticated"},
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: namespace, Verb: verb, Group: group, Resource: resource, Subresource: subresource,
		},
	}}
	review, err := kube.AuthorizationV1().SubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
	if err != nil {
		return false, err
	}
	return review.Status.Allowed, nil
}

// The component that names the kinds is generated from discovery: it names those that are namespaced, of stable
// versions, and not Secrets.
func TestBuiltInKindsAreThoseOfDiscovery(t *testing.T) {
	rendered, err := cp.Render(t.Context(), "testdata/built-in-kinds")
	if err != nil {
		t.Fatal(err)
	}
	named := sets.New[string]()
	for _, u := range rendered {
		if u.GetKind() != "ClusterRole" || u.GetName() != "hns-apiserver:any-kind" {
			continue
		}
		var role rbacv1.ClusterRole
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &role); err != nil {
			t.Fatal(err)
		}
		named = allowed(role.Rules)
	}
	lists, err := kube.Discovery().ServerPreferredNamespacedResources()
	if err != nil {
		t.Fatal(err)
	}
	found := sets.New[string]()
	for _, list := range lists {
		group, _, versioned := strings.Cut(list.GroupVersion, "/")
		if !versioned {
			group = ""
		}
		if strings.HasSuffix(group, "hnc.x-k8s.io") {
			continue
		}
		for _, resource := range list.APIResources {
			if verbs := sets.New(resource.Verbs...); verbs.HasAll("list", "watch") && (group != "" || resource.Name != "secrets") {
				found.Insert(request("list", resource.Name+"."+group))
			}
		}
	}
	if missing, others := found.Difference(named), named.Difference(found); len(missing)+len(others) > 0 {
		t.Errorf("missing: %v; not in discovery: %v", sets.List(missing), sets.List(others))
	}
}
