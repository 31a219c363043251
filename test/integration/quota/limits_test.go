package quota

import (
	"testing"
)

const (
	held   = "Enforced=Eventual Exceeded=WithinLimit"
	exceed = "Enforced=Eventual Exceeded=OverLimit"
)

func TestLimitsOfAllAncestorsApplyToASubtree(t *testing.T) {
	tree(t, "limits-", "root", "mid<root", "leaf<mid", "other<root")
	limit(t, "limits-root", "r", "secrets=6 configmaps=20")
	limit(t, "limits-mid", "m", "secrets=3 services=2")
	limit(t, "limits-mid", "n", "secrets=4 services=1")
	wantHard(t, "limits-root", "configmaps=20 secrets=6")
	wantHard(t, "limits-other", "configmaps=20 secrets=6")
	wantHard(t, "limits-mid", "configmaps=20 secrets=3 services=1")
	wantHard(t, "limits-leaf", "configmaps=20 secrets=3 services=1")

	createSecrets(t, "limits-leaf", "a", "b")
	createSecrets(t, "limits-other", "a")
	wantStatus(t, "limits-mid", "m", "secrets=2 services=0", held)
	// Every namespace has the ConfigMap kube-root-ca.crt.
	wantStatus(t, "limits-root", "r", "configmaps=4 secrets=3", held)
	wantNamespaces(t, "limits-root", "r", "limits-leaf: configmaps=1 secrets=2", "limits-mid: configmaps=1", "limits-other: configmaps=1 secrets=1", "limits-root: configmaps=1")

	limit(t, "limits-mid", "m", "secrets=1")
	wantHard(t, "limits-leaf", "configmaps=20 secrets=1 services=1")
	wantStatus(t, "limits-mid", "m", "secrets=2", exceed)
	unlimit(t, "limits-mid", "m")
	wantHard(t, "limits-leaf", "configmaps=20 secrets=4 services=1")
	unlimit(t, "limits-mid", "n")
	wantHard(t, "limits-leaf", "configmaps=20 secrets=6")
	unlimit(t, "limits-root", "r")
	for _, namespace := range []string{"limits-root", "limits-mid", "limits-leaf", "limits-other"} {
		wantHard(t, namespace, "")
	}
}

func TestLimitsAndUseMoveWithANamespace(t *testing.T) {
	tree(t, "moves-", "a", "b", "mid<a", "leaf<mid")
	limit(t, "moves-a", "q", "secrets=5")
	limit(t, "moves-b", "q", "secrets=7")
	wantHard(t, "moves-leaf", "secrets=5")
	createSecrets(t, "moves-leaf", "x", "y")
	createSecrets(t, "moves-a", "z")
	wantStatus(t, "moves-a", "q", "secrets=3", held)
	wantStatus(t, "moves-b", "q", "secrets=0", held)

	setParent(t, "moves-mid", "moves-b")
	wantHard(t, "moves-leaf", "secrets=7")
	wantHard(t, "moves-mid", "secrets=7")
	wantStatus(t, "moves-a", "q", "secrets=1", held)
	wantStatus(t, "moves-b", "q", "secrets=2", held)
	wantNamespaces(t, "moves-b", "q", "moves-leaf: secrets=2")

	setParent(t, "moves-mid", "")
	wantHard(t, "moves-leaf", "")
	wantStatus(t, "moves-b", "q", "secrets=0", held)
}
