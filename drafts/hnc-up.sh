set -e
python3 - <<'P'
s=open('/tmp/realhnc/hnc.yaml').read()
s=s.replace("- --enable-hrq","- --enable-hrq\n        - --managed-namespace-label=cost\\.example\\.com/.*\n        - --managed-namespace-annotation=contact\\.example\\.com/.*\n        - --unpropagated-annotation=example.com/checksum\n",1)
open('/tmp/realhnc/hnc-custom.yaml','w').write(s)
P
kubectl apply -f /tmp/realhnc/hnc-custom.yaml | tail -3
kubectl rollout status deployment -n hnc-system hnc-controller-manager --timeout=180s
