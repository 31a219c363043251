package wire

import "fmt"

func quotaExchanges(a string) []exchange {
	quotas := group + "/namespaces/" + a + "/hierarchicalresourcequotas"
	quota := func(name, version, spec, status string) string {
		return `{"kind":"HierarchicalResourceQuota","apiVersion":"hnc.x-k8s.io/v1alpha2","metadata":{"name":"` + name + `","namespace":"` + a +
			`"` + version + `,"creationTimestamp":null},"spec":` + spec + `,"status":` + status + `}`
	}
	put := func(spec, status string) string { return quota("q", `,"resourceVersion":"$VERSION"`, spec, status) }
	stored := func(generation int, spec, status string) string {
		return fmt.Sprintf(`{"kind":"HierarchicalResourceQuota","apiVersion":"hnc.x-k8s.io/v1alpha2","metadata":{"name":"q","namespace":%q,"generation":%d},"spec":%s,"status":%s}`,
			a, generation, spec, status)
	}
	// invalid is the one error that HNC has for all of them.
	invalid := func(name, text string) string {
		return status(422, "Invalid", name, "HierarchicalResourceQuota", `HierarchicalResourceQuota.hnc.x-k8s.io "`+name+`" is invalid: .spec.hard: Invalid value: `+text,
			fmt.Sprintf(`{"reason":"FieldValueInvalid","message":%q,"field":".spec.hard"}`, "Invalid value: "+text))
	}
	const unknown = `is not a resource that quotas limit; use a name such as pods, requests.cpu or limits.memory, or count/<resource>.<group> for the number of objects`
	used := `{"hard":{"limits.cpu":"2","pods":"3","secrets":"6"},"used":{"limits.cpu":"500m","pods":"1"}}`
	return []exchange{
		{name: "Q2 a quota by POST to its URL", method: "POST", path: quotas + "/q", code: 201,
			body: quota("q", "", `{"hard":{"pods":3,"limits.cpu":"2000m"}}`, `{}`), want: stored(1, `{"hard":{"limits.cpu":"2","pods":"3"}}`, `{}`)},
		{name: "Q1 an unknown resource", method: "POST", path: quotas, code: 422, body: quota("bad", "", `{"hard":{"nonsense":1}}`, `{}`),
			want: invalid("bad", `spec.hard[nonsense]: Invalid value: "nonsense": `+unknown)},
		{name: "Q1 two problems", method: "POST", path: quotas, code: 422, body: quota("bad", "", `{"hard":{"pods":"-1","secrets":"500m"}}`, `{}`),
			want: invalid("bad", `[spec.hard[pods]: Invalid value: "-1": must be greater than or equal to 0, spec.hard[secrets]: Invalid value: "500m": must be an integer]`)},
		{name: "Q1 not by a change either", method: "PUT", path: quotas + "/q", code: 422, body: put(`{"hard":{"nonsense":1}}`, `{}`),
			want: invalid("q", `spec.hard[nonsense]: Invalid value: "nonsense": `+unknown)},
		{name: "Q1 no quantity", method: "POST", path: quotas, code: 422, body: quota("bad", "", `{"hard":{"pods":"many"}}`, `{}`)},
		{name: "a quota in an excluded namespace", method: "POST", path: group + "/namespaces/kube-system/hierarchicalresourcequotas", code: 403,
			body: `{"kind":"HierarchicalResourceQuota","apiVersion":"hnc.x-k8s.io/v1alpha2","metadata":{"name":"q"},"spec":{"hard":{"pods":"1"}}}`,
			want: status(403, "Forbidden", "q", "hierarchicalresourcequotas", `hierarchicalresourcequotas.hnc.x-k8s.io "q" is forbidden: `+
				`metadata.namespace: namespace "kube-system" is excluded from hierarchies by the administrator; create the quota in a namespace that isn't`)},
		{name: "Q2 another limit", method: "PUT", path: quotas + "/q", code: 200, body: put(`{"hard":{"pods":3,"limits.cpu":2,"secrets":6}}`, `{}`),
			want: stored(2, `{"hard":{"limits.cpu":"2","pods":"3","secrets":"6"}}`, `{}`)},
		{name: "Q2 PUT without a change", method: "PUT", path: quotas + "/q", code: 200, body: put(`{"hard":{"pods":3,"limits.cpu":2,"secrets":6}}`, `{}`),
			want: stored(2, `{"hard":{"limits.cpu":"2","pods":"3","secrets":"6"}}`, `{}`)},
		{name: "Q2 users do not write the status", method: "PUT", path: quotas + "/q", code: 200, body: put(`{"hard":{"pods":3,"limits.cpu":2,"secrets":6}}`, used),
			want: stored(2, `{"hard":{"limits.cpu":"2","pods":"3","secrets":"6"}}`, `{}`)},
		{name: "QUOTA-STATUS summaries", method: "PUT", path: quotas + "/q/status", code: 200, body: put(`{"hard":{"pods":9}}`, used),
			want: stored(2, `{"hard":{"limits.cpu":"2","pods":"3","secrets":"6"}}`, `{"hard":{"limits.cpu":"2","pods":"3","secrets":"6"},`+
				`"used":{"limits.cpu":"500m","pods":"1"},"requestsSummary":"pods: 1/3, secrets: 0/6","limitsSummary":"limits.cpu: 500m/2"}`)},
		{name: "quotas in a list", method: "GET", path: quotas, code: 200,
			want: `{"kind":"HierarchicalResourceQuotaList","apiVersion":"hnc.x-k8s.io/v1alpha2","metadata":{},"items":[{"metadata":{"name":"q","namespace":"` + a +
				`","generation":2},"spec":{"hard":{"limits.cpu":"2","pods":"3","secrets":"6"}},"status":{"hard":{"limits.cpu":"2","pods":"3","secrets":"6"},` +
				`"used":{"limits.cpu":"500m","pods":"1"},"requestsSummary":"pods: 1/3, secrets: 0/6","limitsSummary":"limits.cpu: 500m/2"}}]}`},
		{name: "delete a quota", method: "DELETE", path: quotas + "/q", code: 200,
			want: `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","details":{"name":"q","group":"hnc.x-k8s.io","kind":"hierarchicalresourcequotas"}}`},
	}
}
