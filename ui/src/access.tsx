// Who may do what in a namespace, and the bindings that grant it.
import { useState } from 'preact/hooks'
import { useData } from './api'
import { csv, plural, shellWord } from './model'
import { Copy, Link, Loaded, Notes, save, toNamespace, toObject, useFirst, useQuery, useTitle } from './parts'
import { NamespaceHead } from './namespace'
import { Access, Grant } from './types'

const verbs = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection', 'bind', 'escalate', 'impersonate']
const resources = ['pods', 'pods/log', 'pods/exec', 'deployments', 'services', 'configmaps', 'secrets', 'roles', 'rolebindings', 'serviceaccounts',
  'networkpolicies', 'resourcequotas', 'hierarchies', 'subnamespaces', 'hierarchicalresourcequotas']

export function AccessPage({ name, version }: { name: string; version: number }) {
  const [query, setQuery] = useQuery()
  const verb = query.get('verb') ?? '', resource = query.get('resource') ?? ''
  const asked = verb !== '' && resource !== ''
  const access = useData<Access>(`/api/namespaces/${name}/access` + (asked ? '?' + new URLSearchParams({ verb, resource }) : ''), version)
  useTitle(`Access to ${name}`)
  const ask = (e: Event) => {
    e.preventDefault()
    const form = new FormData(e.target as HTMLFormElement)
    setQuery({ verb: String(form.get('verb')).trim(), resource: String(form.get('resource')).trim() })
  }
  return <main>
    <NamespaceHead name={name} page="access" />
    <form class="tools ask" onSubmit={ask} key={verb + ' ' + resource} data-page="access">
      <label>Who can <input name="verb" list="verbs" defaultValue={verb} placeholder="delete" required size={10} autocomplete="off" spellcheck={false} aria-label="Verb" /></label>
      <input name="resource" list="resources" defaultValue={resource} placeholder="pods" required size={18} autocomplete="off" spellcheck={false} aria-label="Resource" />
      <span>in {name}?</span>
      <datalist id="verbs">{verbs.map(v => <option key={v} value={v} />)}</datalist>
      <datalist id="resources">{resources.map(r => <option key={r} value={r} />)}</datalist>
      <button class="primary">Show</button>
      {asked && <button type="button" onClick={() => setQuery({})}>Show all grants</button>}
      <span class="grow" />
      <Copy command={`kubectl hns who ${name}` + (asked ? ` ${shellWord(verb)} ${shellWord(resource)}` : '')} />
    </form>
    <Loaded from={access}>{(data: Access) => <Grants name={name} access={data} permission={asked ? `${verb} ${resource}` : ''} />}</Loaded>
  </main>
}

const subject = (g: Grant) => g.subject.namespace ? `${g.subject.namespace}/${g.subject.name}` : g.subject.name

function Grants({ name, access, permission }: { name: string; access: Access; permission: string }) {
  const [text, setText] = useState('')
  const all = access.grants ?? []
  const shown = all.filter(g => (subject(g) + ' ' + g.role).toLowerCase().includes(text.trim().toLowerCase()))
  const sure = shown.filter(g => !g.unknown)
  const here = sure.filter(g => g.at), cluster = sure.filter(g => !g.at), unknown = shown.filter(g => g.unknown)
  const subjects = new Set(all.filter(g => !g.unknown).map(g => g.subject.kind + ' ' + subject(g))).size
  const download = () => save(`access-${name}.csv`, 'text/csv', csv([['kind', 'subject', 'role', 'binding', 'set in', 'only', 'known'],
    ...shown.map(g => [g.subject.kind, subject(g), g.role, g.binding, g.at ?? '(cluster)', (g.names ?? []).join(' '), g.unknown ? 'no' : 'yes'])]))
  return <div>
    <div class="tools">
      <b role="status">{permission ? `${plural(subjects, 'subject')} can ${permission} in ${name}` : `${plural(subjects, 'subject')} with roles in ${name}`}</b>
      <span class="grow" />
      <input type="search" placeholder="Subject or role" aria-label="Filter by subject or role" value={text} onInput={(e: any) => setText(e.target.value)} />
      <button onClick={download} disabled={!shown.length}>CSV</button>
    </div>
    <Notes list={access.notes} />
    <Table title="By bindings in the namespace and its ancestors" name={name} grants={here} open empty={permission ? `No binding in ${name} or above grants it.` : 'There are none.'} />
    <Table title="In the whole cluster" name={name} grants={cluster} open={here.length === 0 && permission !== ''} />
    <Table title="By ClusterRoles whose rules you may not read: they may grant it" name={name} grants={unknown} open />
    <p class="dim">As RBAC grants it. Members of the group system:masters may do everything.</p>
  </div>
}

function Table({ title, name, grants, open, empty }: { title: string; name: string; grants: Grant[]; open: boolean; empty?: string }) {
  const [shown, more] = useFirst(grants)
  if (!grants.length && !empty) return null
  return <details class="box fold" open={open}>
    <summary><h2>{title} <small class="dim">{grants.length}</small></h2></summary>
    {grants.length ? <table class="list"><thead><tr><th>Subject</th><th>Role</th><th>Binding</th><th>Set in</th></tr></thead>
      <tbody>{shown.map((g, i) => <tr key={i}>
        <td><span class="dim">{g.subject.kind}</span> <b>{subject(g)}</b></td>
        <td data-label="Role">{g.role}{g.names && <span class="dim"> only {g.names.join(', ')}</span>}</td>
        <td data-label="Binding">{g.binding.startsWith('RoleBinding/') ? <Link to={toObject(name, 'rolebindings.rbac.authorization.k8s.io', g.binding.slice(12))}>{g.binding}</Link> : g.binding}</td>
        <td data-label="Set in">{!g.at ? 'the cluster' : g.at === name ? 'here' : <Link to={toNamespace(g.at)}>{g.at}</Link>}</td>
      </tr>)}</tbody></table> : <p class="dim">{empty}</p>}
    {more}
  </details>
}
