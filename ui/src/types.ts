// The data of the server: pkg/ui/types.go.
export interface Problem { title: string; detail?: string; missingPermission?: string; hint?: string }
export interface Session { context: string; cluster: string; user: string }
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
