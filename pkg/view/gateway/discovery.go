package gateway

import (
	"encoding/json"
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// resources are those of the API. A TenantView itself is one of hnc.x-k8s.io.
var resources = metav1.APIResourceList{
	TypeMeta:     metav1.TypeMeta{APIVersion: "v1", Kind: "APIResourceList"},
	GroupVersion: hnc.ViewGroupVersion.String(),
	APIResources: []metav1.APIResource{{
		Name: hnc.PermissionView.Name(), Namespaced: true, Kind: "TenantView", Verbs: hnc.PermissionView.Verbs,
	}},
}

// discover serves what kube-apiserver and clients ask an API server for, in its older form. There is no OpenAPI.
func discover(w http.ResponseWriter, r *http.Request) {
	version := metav1.GroupVersionForDiscovery{GroupVersion: hnc.ViewGroupVersion.String(), Version: hnc.ViewGroupVersion.Version}
	group := metav1.APIGroup{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "APIGroup"},
		Name:     hnc.ViewGroupVersion.Group, Versions: []metav1.GroupVersionForDiscovery{version}, PreferredVersion: version,
	}
	var document any
	switch strings.TrimSuffix(r.URL.Path, "/") {
	case "/apis":
		group.TypeMeta = metav1.TypeMeta{}
		document = metav1.APIGroupList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "APIGroupList"}, Groups: []metav1.APIGroup{group}}
	case "/apis/" + group.Name:
		document = group
	case "/apis/" + hnc.ViewGroupVersion.String():
		document = resources
	default:
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(document) // fails only if the client has disconnected
}
