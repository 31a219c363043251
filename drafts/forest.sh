#!/usr/bin/env bash
# builds the forest with HNC's API. $HNC is HNC's plugin.
set -euo pipefail
try() { for _ in $(seq 40); do "$@" >/tmp/realhnc/try.out 2>&1 && return 0; sleep 0.5; done; echo "FAILED: $*"; cat /tmp/realhnc/try.out; return 1; }
for k in widgets gizmos; do
s=${k%s}; K=${s^}
kubectl apply -f - <<E
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: $k.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: $k, singular: $s, kind: $K}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
E
done
try kubectl get widgets
for n in acme globex umbrella legacy gone monitoring; do try kubectl create namespace $n; done
sub() { try kubectl apply -f - <<<"{apiVersion: hnc.x-k8s.io/v1alpha2, kind: SubnamespaceAnchor, metadata: {namespace: $2, name: $1}}"; try kubectl get namespace $1; try kubectl wait --for=jsonpath='{.status.status}'=Ok subns/$1 -n $2 --timeout=2s; }
try2() { for _ in $(seq 40); do kubectl apply -f "$1" >/tmp/realhnc/try.out 2>&1 && return 0; sleep 0.5; done; echo "FAILED $1"; cat /tmp/realhnc/try.out; return 1; }
sub() { printf '{apiVersion: hnc.x-k8s.io/v1alpha2, kind: SubnamespaceAnchor, metadata: {namespace: %s, name: %s}}' "$2" "$1" > /tmp/realhnc/o.yaml; try2 /tmp/realhnc/o.yaml; try kubectl get namespace "$1"; }
full() { try kubectl create namespace "$1"; parent "$1" "$2"; }
parent() { printf '{apiVersion: hnc.x-k8s.io/v1alpha2, kind: HierarchyConfiguration, metadata: {namespace: %s, name: hierarchy}, spec: {parent: %s}}' "$1" "$2" > /tmp/realhnc/o.yaml; try2 /tmp/realhnc/o.yaml; }
sub acme-shop acme; sub acme-shop-cart acme-shop; sub acme-shop-cart-dev acme-shop-cart; sub acme-pos acme; sub acme-conv acme
full acme-ops acme; sub acme-ops-ci acme-ops
full globex-web globex; full globex-db globex; sub globex-web-a globex-web; sub globex-web-b globex-web; sub globex-web-a-x globex-web-a
full umbrella-secure umbrella; sub umbrella-branch-1 umbrella; sub umbrella-branch-1-a umbrella-branch-1
full legacy-1 legacy; full stray gone; sub stray-sub stray; full monitoring-x monitoring; parent monitoring globex
for i in $(seq 12); do sub acme-team-$i acme-shop; done
for i in $(seq 12); do sub acme-team-$i-dev acme-team-$i; done
cat > /tmp/realhnc/o.yaml <<'E'
apiVersion: hnc.x-k8s.io/v1alpha2
kind: HNCConfiguration
metadata: {name: config}
spec:
  resources:
  - {resource: secrets, mode: Propagate}
  - {resource: configmaps, mode: Propagate}
  - {resource: limitranges, mode: Propagate}
  - {group: networking.k8s.io, resource: networkpolicies, mode: Propagate}
  - {resource: serviceaccounts, mode: AllowPropagate}
  - {resource: resourcequotas, mode: Ignore}
  - {resource: services, mode: Remove}
  - {group: example.com, resource: widgets, mode: Propagate}
  - {group: example.com, resource: gizmos, mode: Propagate}
  - {resource: podtemplates, mode: Ignore}
E
kubectl patch hncconfiguration config --type=merge --patch-file /tmp/realhnc/o.yaml || try2 /tmp/realhnc/o.yaml
cat > /tmp/realhnc/o.yaml <<'E'
apiVersion: hnc.x-k8s.io/v1alpha2
kind: HierarchyConfiguration
metadata: {name: hierarchy, namespace: acme}
spec:
  labels: [{key: cost.example.com/center, value: "7"}]
  annotations: [{key: contact.example.com/mail, value: a@example.com}]
---
apiVersion: hnc.x-k8s.io/v1alpha2
kind: HierarchicalResourceQuota
metadata: {name: budget, namespace: acme}
spec: {hard: {services: "50", configmaps: "5000", secrets: "5000", pods: 100}}
---
apiVersion: hnc.x-k8s.io/v1alpha2
kind: HierarchicalResourceQuota
metadata: {name: pos, namespace: acme-pos}
spec: {hard: {services: "3"}}
---
apiVersion: hnc.x-k8s.io/v1alpha2
kind: HierarchicalResourceQuota
metadata: {name: db, namespace: globex}
spec: {hard: {requests.cpu: "10", persistentvolumeclaims: "4"}}
E
try2 /tmp/realhnc/o.yaml
for r in acme globex umbrella stray legacy; do
cat > /tmp/realhnc/o.yaml <<E
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reader, namespace: $r}
rules: [{apiGroups: [""], resources: [pods], verbs: [get, list]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: readers, namespace: $r}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: reader}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: Group, name: $r-readers}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: $r, annotations: {example.com/checksum: abc}, labels: {app.kubernetes.io/instance: argo-$r}}
data: {a: b}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: kept, namespace: $r, annotations: {propagate.hnc.x-k8s.io/none: "true"}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: selected, namespace: $r, annotations: {propagate.hnc.x-k8s.io/select: acme-shop.tree.hnc.x-k8s.io/depth}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: in-tree, namespace: $r, annotations: {propagate.hnc.x-k8s.io/treeSelect: "!acme-shop-cart"}}
---
apiVersion: v1
kind: Secret
metadata: {name: pull, namespace: $r, labels: {app.kubernetes.io/managed-by: Helm}, annotations: {meta.helm.sh/release-name: x, meta.helm.sh/release-namespace: $r}}
stringData: {k: v}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: robot, namespace: $r, annotations: {propagate.hnc.x-k8s.io/all: "true"}}
---
apiVersion: v1
kind: LimitRange
metadata: {name: limits, namespace: $r}
spec: {limits: [{type: Container, default: {cpu: 100m}}]}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: deny, namespace: $r}
spec: {podSelector: {}}
---
apiVersion: example.com/v1
kind: Widget
metadata: {name: gear, namespace: $r}
size: 3
---
apiVersion: example.com/v1
kind: Gizmo
metadata: {name: lever, namespace: $r}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: $r}
spec: {ports: [{port: 80}]}
E
try2 /tmp/realhnc/o.yaml
done
kubectl label namespace acme-shop pod-security.kubernetes.io/enforce=restricted
echo settled
