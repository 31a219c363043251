// The data of the server: pkg/ui/types.go.
export interface Problem { title: string; detail?: string; missingPermission?: string; hint?: string }
export interface Session { context: string; cluster: string; user: string; write?: boolean }
export interface Condition { type: string; status: string; reason: string; message: string }
export interface Member {
  name: string; parent?: string; kind: string; deleting?: boolean; created?: string; labels?: Record<string, string>; problems?: Condition[]
}
export interface Forest { namespaces: Member[]; partial?: string }
export interface Namespace extends Member {
  path: string[]; abstractAncestors?: string[]; allowsCascadingDeletion: boolean; cascadingDeletionSetFrom?: string; excluded?: string
  children: { name: string; subnamespace: boolean; state?: string }[]
  labelsFrom: { key: string; value: string; from?: string; tree?: boolean }[]
  resources: string[]; notes?: string[]
}
export interface Objects {
  mode?: string; notes?: string[]
  items: { name: string; state: 'Copy' | 'Local' | 'Absent'; source?: string; override?: boolean }[]
}
export interface Answer { namespace: string; object: string; state: 'Copy' | 'Local' | 'Absent'; source?: string; path: string[]; because: string[] }
export interface Grant {
  subject: { kind: string; name: string; namespace?: string }; role: string; binding: string; at?: string; names?: string[]; unknown?: boolean
}
export interface Access { grants: Grant[] | null; notes?: string[] }
export interface Limit { resource: string; hard: string; used: string; value: number; share: number }
export interface Quota {
  namespace: string; name: string; limits: Limit[]; namespaces: { namespace: string; used: Record<string, number> }[]; omitted?: number; scoped?: boolean
  problems?: Condition[]
}
export interface Quotas { quotas: Quota[]; notes?: string[] }
export interface Kind { group: string; version: string; resource: string; mode?: string; numPropagatedObjects?: number; numSourceObjects?: number }
export interface Repository {
  name: string; synced: string; reason: string; message: string; applied?: string; seen?: string; failed?: number; objects: number; errors?: string[]
}
export interface Administration { kinds: Kind[]; problems?: Condition[]; rules?: Record<string, unknown>; repositories: Repository[]; notes?: string[] }
export interface Check { severity: 'ok' | 'unknown' | 'warning' | 'error'; subject: string; text: string; hint?: string }
export interface PlannedObject { action: 'Add' | 'Change' | 'Overwrite' | 'Remove' | 'Keep'; group?: string; resource: string; kind: string; name: string; source?: string; difference?: string }
export interface PlannedAccess { change: 'Gained' | 'Lost'; kind: string; namespace?: string; name: string; roleKind: string; role: string }
export interface NamespacePlan {
  name: string; fate?: string; labels?: { key: string; before?: string; after?: string }[]; objects?: PlannedObject[]; access?: PlannedAccess[]
  quotas?: { name: string; resource: string; hard: number; planned: number }[]
}
export interface Plan {
  summary: string; see?: string; make: string; writable: boolean; digest: string
  status: {
    refusals?: { reason: string; message: string }[]; unknown?: string[]; hidden?: { group?: string; resource: string }[]
    namespaces?: NamespacePlan[]; omittedExceededQuotas?: number
    exceededQuotas?: { namespace: string; name: string; resource: string; used: string; moved: string; limit: string }[]
  }
}
export interface Explanation extends Answer { levels: { namespace: string; state?: 'Copy' | 'Local' | 'Absent'; source?: string; unread?: string; mode?: string }[] }
export interface Content { manifest: string; source?: string; difference?: string; overwritten?: string; notes?: string[] }
export interface Events { items: Event[]; notes?: string[] }
export interface Event { warning?: boolean; reason: string; message: string; kind: string; name: string; count: number; last: string }
