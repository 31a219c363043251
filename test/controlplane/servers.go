package controlplane

// Names of our servers' binaries and of their first replicas' processes.
const (
	hncAPIServer  = "hnc-apiserver"
	hncPropagator = "hnc-propagator"
)
