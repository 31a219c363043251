package mapping

import (
	"reflect"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha2"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

// Leaves of the table.
var (
	nameNode    = &node{text: (*translation).name}
	namesNode   = &node{items: nameNode}
	userNode    = &node{text: (*translation).user}
	usersNode   = &node{items: userNode}
	treeKeyNode = &node{text: (*translation).treeKey}
	// messageNode is only for texts that no client writes.
	messageNode = &node{text: (*translation).message}
)

// reference is the rule for all fields of a Go type, wherever the type is used. Fields are named as in JSON.
type reference struct {
	of     any
	fields map[string]*node
}

// references lists everything that names namespaces or groups of the API. TestEveryNamespaceOfTheOpenAPIHasARule
// compares it with the OpenAPI. What needs more than a field has a rule in compile.go: metadata, references to objects
// whose kind decides, selectors of namespaces, and managed fields.
var references = []reference{
	{corev1.ObjectReference{}, map[string]*node{"namespace": nameNode, "apiVersion": apiVersionNode}},
	{corev1.SecretReference{}, map[string]*node{"namespace": nameNode}},
	{corev1.TypedObjectReference{}, map[string]*node{"namespace": nameNode, "apiGroup": groupNode}},
	{corev1.TypedLocalObjectReference{}, map[string]*node{"apiGroup": groupNode}},
	{corev1.AzureFilePersistentVolumeSource{}, map[string]*node{"secretNamespace": nameNode}},
	{corev1.GlusterfsPersistentVolumeSource{}, map[string]*node{"endpointsNamespace": nameNode}},
	{corev1.ConfigMapNodeConfigSource{}, map[string]*node{"namespace": nameNode}},
	{corev1.PodAffinityTerm{}, map[string]*node{"namespaces": namesNode, "namespaceSelector": selectorNode}},
	{corev1.ResourceQuotaSpec{}, map[string]*node{"hard": countsNode}},
	{corev1.ResourceQuotaStatus{}, map[string]*node{"hard": countsNode, "used": countsNode}},
	{networkingv1.NetworkPolicyPeer{}, map[string]*node{"namespaceSelector": selectorNode}},
	{networkingv1.IngressClassParametersReference{}, map[string]*node{"namespace": nameNode, "apiGroup": groupNode}},
	{autoscalingv2.CrossVersionObjectReference{}, map[string]*node{"apiVersion": apiVersionNode}},
	{resourcev1.ResourceClaimConsumerReference{}, map[string]*node{"apiGroup": groupNode}},
	{schedulingv1beta1.TypedLocalObjectReference{}, map[string]*node{"apiGroup": groupNode}},
	{rbacv1.PolicyRule{}, map[string]*node{"apiGroups": groupsNode}},
	{authorizationv1.ResourceRule{}, map[string]*node{"apiGroups": groupsNode}},
	{rbacv1.Subject{}, map[string]*node{"namespace": nameNode, "name": userNode}},
	{authenticationv1.UserInfo{}, map[string]*node{"username": userNode, "groups": usersNode}},
	{authorizationv1.ResourceAttributes{}, map[string]*node{"namespace": nameNode, "group": groupNode}},
	{authorizationv1.SelfSubjectRulesReviewSpec{}, map[string]*node{"namespace": nameNode}},
	{authorizationv1.SubjectAccessReviewSpec{}, map[string]*node{"user": userNode, "groups": usersNode}},
	{authorizationv1.SubjectAccessReviewStatus{}, map[string]*node{"reason": messageNode}},
	{metav1.ObjectMeta{}, map[string]*node{"namespace": nameNode}},

	{v1beta1.HierarchySpec{}, map[string]*node{"parent": nameNode, "requiredChildren": namesNode}},
	{v1beta1.HierarchyStatus{}, map[string]*node{"children": namesNode}},
	{v1alpha3.HierarchyPlanSpec{}, map[string]*node{"parent": nameNode}},
	{v1alpha3.NamespacePlan{}, map[string]*node{"name": nameNode}},
	{v1alpha3.PlannedObject{}, map[string]*node{"source": nameNode, "group": groupNode}},
	{v1alpha3.HiddenKind{}, map[string]*node{"group": groupNode}},
	{v1beta1.ResourceSpec{}, map[string]*node{"group": groupNode}},
	{v1alpha3.PlannedAccess{}, map[string]*node{"namespace": nameNode, "name": userNode}},
	{v1alpha3.PlannedLabel{}, map[string]*node{"key": treeKeyNode}},
	{v1alpha3.PlannedRefusal{}, map[string]*node{"message": messageNode}},
	{v1alpha3.ExceededQuota{}, map[string]*node{"namespace": nameNode, "resource": countNode}},
	{v1alpha3.PlannedQuota{}, map[string]*node{"resource": countNode}},
	{v1alpha3.HierarchyTreeNode{}, map[string]*node{"name": nameNode, "parent": nameNode}},
	{v1alpha3.MyNamespaceStatus{}, map[string]*node{"parent": nameNode, "root": nameNode}},
	{v1beta1.HierarchicalResourceQuotaSpec{}, map[string]*node{"hard": countsNode}},
	{v1beta1.HierarchicalResourceQuotaStatus{}, map[string]*node{"hard": countsNode, "used": countsNode}},
	{v1beta1.NamespaceUse{}, map[string]*node{"namespace": nameNode, "used": countsNode}},
	{v1alpha3.OverwrittenObjectSpec{}, map[string]*node{"source": nameNode, "group": groupNode}},
	{v1alpha3.CopyReleaseSpec{}, map[string]*node{"source": nameNode, "group": groupNode}},
	{v1alpha3.ServiceAccountReference{}, map[string]*node{"namespace": nameNode}},
	{v1alpha3.ObjectFailure{}, map[string]*node{"namespace": nameNode, "group": groupNode}},
	{v1alpha2.HierarchyConfigurationSpec{}, map[string]*node{"parent": nameNode}},
	{v1alpha2.HierarchicalResourceQuotaSpec{}, map[string]*node{"hard": countsNode}},
	{v1alpha2.HierarchicalResourceQuotaStatus{}, map[string]*node{"hard": countsNode, "used": countsNode}},
	{v1alpha2.HierarchyConfigurationStatus{}, map[string]*node{"children": namesNode}},
}

// referencesOf returns the rules of a type: those of other versions of an API apply by the name of the type.
func referencesOf(t reflect.Type) map[string]*node {
	for _, r := range references {
		if of := reflect.TypeOf(r.of); of == t || of.Name() == t.Name() && group(of) == group(t) && group(of) != "" {
			return r.fields
		}
	}
	return nil
}

// group returns the group of a type in k8s.io/api, "" for other packages.
func group(t reflect.Type) string {
	p, ok := strings.CutPrefix(t.PkgPath(), "k8s.io/api/")
	if !ok {
		return ""
	}
	p, _, _ = strings.Cut(p, "/")
	return p
}
