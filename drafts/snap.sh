#!/usr/bin/env bash
# snap.sh NAME: writes identities into /tmp/realhnc/snap/NAME
set -uo pipefail
mkdir -p /tmp/realhnc/snap; o=/tmp/realhnc/snap/$1
{
kubectl get namespaces -o json | jq -r '.items[] | "ns \(.metadata.name) \(.metadata.uid) \(.metadata.labels | with_entries(select(.key|test("tree.hnc|example.com")))|tojson) \(.metadata.annotations["hnc.x-k8s.io/subnamespace-of"]) \(.metadata.annotations["contact.example.com/mail"])"' | grep -v -E '^ns (kube-|hn[sc]-system|default)'
for k in configmaps secrets roles rolebindings limitranges networkpolicies serviceaccounts services widgets gizmos resourcequotas; do
 kubectl get $k -A -o json 2>/dev/null | jq -r --arg k $k '.items[] | select(.metadata.namespace|test("^(kube-|hn[sc]-system|default)")|not) | "\($k) \(.metadata.namespace)/\(.metadata.name) \(.metadata.uid) \(.metadata.labels["hnc.x-k8s.io/inherited-from"]) \(.data//.spec//.size//.rules//.subjects|tojson)"'
done; } | sort > $o; wc -l < $o
