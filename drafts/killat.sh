# killat.sh STEP ARGS...: kills the command when the step has begun
step=$1; shift; out=$(mktemp)
kubectl-hns "$@" > $out 2>&1 & p=$!
for _ in $(seq 600); do grep -q "^ *[0-9]*/[0-9]* *$step " $out && { sleep 0.05; kill -9 $p; break; }; kill -0 $p 2>/dev/null || break; sleep 0.02; done
wait $p 2>/dev/null; echo "--- killed at $step:"; tail -4 $out
pgrep -f "kubectl-hns-migrate $step" >/dev/null && true
