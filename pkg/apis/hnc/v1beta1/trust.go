package v1beta1

// TrustDecision returns the value of hnc.AnnotationTrust by which an administrator trusts hnc.TrustHierarchies or
// hnc.TrustNamespaces. It names the checkpoint of the hierarchies, or the UID of the configuration if they have none:
// it is not valid for another state of them.
func (c *HNCConfiguration) TrustDecision(trust string) string {
	if c.Status.Checkpoint != nil {
		return trust + "/" + c.Status.Checkpoint.ID
	}
	return trust + "/" + string(c.UID)
}
