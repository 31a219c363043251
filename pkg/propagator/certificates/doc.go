// Package certificates issues the serving certificates of hns-apiserver and hns-gateway and their authority, replaces
// them before they expire, and publishes the authority where kube-apiserver looks for it.
//
// No request fails meanwhile: clients trust a new authority before it signs, and an old one until it expires. plan
// decides; the Controller reads and writes the Secrets and the APIServices.
package certificates
