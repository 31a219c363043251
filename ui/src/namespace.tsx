// One namespace: its place, its problems, the policy in it.
import { useData } from './api'
import { age, binding, plural } from './model'
import { Conditions, Copy, Link, Loaded, Notes, toNamespace, toObject, Unread, useFirst, useTitle } from './parts'
import { Bar, fullness } from './quotas'
import { usePath } from './trees'
import { Events as List, Namespace, Objects, Quotas } from './types'

export function NamespacePage({ name, version }: { name: string; version: number }) {
  const ns = useData<Namespace>('/api/namespaces/' + name, version)
  useTitle(name)
  return <main>
    {!ns.data && <NamespaceHead name={name} page="" />}
    <Loaded from={ns}>{(data: Namespace) => <Details ns={data} version={version} />}</Loaded>
  </main>
}

const tabs = [['', 'Overview'], ['access', 'Access']]

// NamespaceHead begins all pages about a namespace.
export function NamespaceHead({ name, page, path, abstract, children }: any) {
  const known = usePath(name)
  return <>
    <Path names={path ?? known} abstract={abstract} />
    <div class="head"><h1>{name}</h1>{children}</div>
    <nav class="tabs" aria-label={'Pages of ' + name}>{tabs.map(([to, title]) =>
      <Link key={to} to={toNamespace(name) + (to && '/' + to)} aria-current={to === page ? 'page' : undefined}>{title}</Link>)}
      <Link to={'/plan?namespace=' + name}>Plan a change</Link>
      <Link to={toObject(name, 'hierarchies.hnc.x-k8s.io', 'hierarchy')}>Hierarchy as YAML</Link></nav>
  </>
}

export function Path({ names, abstract = [], object }: { names: string[]; abstract?: string[]; object?: string }) {
  return <nav aria-label="Path to the root" class="path"><ol>
    <li><Link to="/">Forest</Link></li>
    {[...abstract].reverse().map(a => <li key={'a ' + a} class="dim" title="An abstract ancestor: no namespace of the cluster">{a}</li>)}
    {names.map((n, i) => <li key={n}>{!object && i === names.length - 1 ? <b aria-current="page">{n}</b> : <Link to={toNamespace(n)}>{n}</Link>}</li>)}
    {object && <li><b aria-current="page">{object}</b></li>}
  </ol></nav>
}

function Details({ ns, version }: { ns: Namespace; version: number }) {
  const [kinds, more] = useFirst(ns.resources, 50)
  const facts = [
    ns.kind === 'full' ? 'full namespace' : ns.kind,
    ns.path.length > 1 ? `level ${ns.path.length}` : 'root',
    ns.created && `${age(ns.created)} old`,
    ns.allowsCascadingDeletion ? `sub-namespaces are deleted with it${ns.cascadingDeletionSetFrom && ns.cascadingDeletionSetFrom !== ns.name ? `, as set in ${ns.cascadingDeletionSetFrom}` : ''}` : '',
  ].filter(Boolean)
  return <>
    <NamespaceHead name={ns.name} page="" path={ns.path} abstract={ns.abstractAncestors}>
      <p class="summary">{ns.deleting && <><b class="bad">being deleted</b> · </>}{facts.join(' · ')}</p>
      <Copy command={'kubectl hns describe ' + ns.name} />
    </NamespaceHead>
    {ns.excluded && <p class="stale">The namespace is {ns.excluded}. Nothing is copied to it or from it.</p>}
    <Notes list={ns.notes} />
    {!!ns.problems?.length && <section class="box bad"><h2>{plural(ns.problems.length, 'problem')}</h2><Conditions list={ns.problems} /></section>}
    <div class="columns">
      <section aria-labelledby="policy">
        <h2 id="policy">Policy</h2>
        {kinds.map(r => <Resource key={r} namespace={ns.name} resource={r} version={version} />)}
        {more}
      </section>
      <div>
        <Children ns={ns} />
        <Limits ns={ns} version={version} />
        <Labels ns={ns} />
        <Events namespace={ns.name} version={version} />
      </div>
    </div>
  </>
}

function Resource({ namespace, resource, version }: { namespace: string; resource: string; version: number }) {
  const objects = useData<Objects>(`/api/namespaces/${namespace}/objects/${encodeURIComponent(resource)}`, version)
  const [name, ...group] = resource.split('.')
  const items = objects.data?.items ?? []
  const [shown, more] = useFirst(items)
  const here = items.filter(o => o.state !== 'Absent').length
  return <section class="kind" aria-label={resource}>
    <h3><span>{name}</span>{group.length > 0 && <small class="dim">{group.join('.')}</small>}<span class="grow" />
      {objects.data && <small class="dim">{here ? plural(here, 'object') : 'none'}</small>}
      {objects.data?.mode && <span class="tag">{objects.data.mode}</span>}</h3>
    <Unread from={objects} />
    {items.length > 0 && <table><thead class="hidden"><tr><th>Name</th><th>Where it comes from</th></tr></thead><tbody>{shown.map(o => <tr key={o.name} class={o.state}>
      <td><Link to={toObject(namespace, resource, o.name)}>{o.name}</Link></td>
      <td>{o.state === 'Copy' ? <>copied from <Link to={toNamespace(o.source!)}>{o.source}</Link></>
        : o.state === 'Local' ? <>made here {o.override && <span class="tag">override</span>}</>
        : <><span class="tag">not here</span> is in <Link to={toNamespace(o.source!)}>{o.source}</Link> · <Link to={toObject(namespace, resource, o.name)}>why not here?</Link></>}</td>
    </tr>)}</tbody></table>}
    {more}
  </section>
}

function Children({ ns }: { ns: Namespace }) {
  const [shown, more] = useFirst(ns.children)
  return <section class="box" aria-labelledby="children">
    <h2 id="children">Children <small class="dim">{ns.children.length || ''}</small></h2>
    {ns.children.length ? <ul class="plain">{shown.map(c => <li key={c.name}>
      <Link to={toNamespace(c.name)}>{c.name}</Link> <span class="dim">{c.subnamespace ? 'sub-namespace' : ''}</span>
      {c.state && c.state !== 'Ok' && <span class="tag bad">{c.state}</span>}</li>)}</ul> : <p class="dim">None.</p>}
    {more}
  </section>
}

// Limits shows the limits that apply in the namespace, of its quotas and its ancestors': for each resource the one that is reached first.
function Limits({ ns, version }: { ns: Namespace; version: number }) {
  const quotas = useData<Quotas>('/api/quotas', version)
  const list = quotas.data ? binding(quotas.data.quotas, ns.path) : []
  if (!list.length && !quotas.error && !quotas.data?.notes) return null
  return <section class="box" aria-labelledby="limits" data-limits>
    <h2 id="limits">Quotas: what is left</h2>
    <Unread from={quotas} />
    <ul class="plain limits">{list.map(({ quota, limit }) => <li key={limit.resource}>
      <Link to={'/quotas?' + new URLSearchParams({ resource: limit.resource })}>{limit.resource}</Link> <Bar limit={limit} />
      <span class="dim"><b class={fullness(limit.share)}>{limit.used} of {limit.hard}</b> below {quota.namespace}</span></li>)}</ul>
  </section>
}

function Labels({ ns }: { ns: Namespace }) {
  const own = ns.labelsFrom.filter(l => !l.tree), tree = ns.labelsFrom.filter(l => l.tree)
  const row = (l: Namespace['labelsFrom'][0]) => <li key={l.key}><code>{l.key}={l.value}</code>{l.from && <span class="dim"> set by the hierarchy {l.from === ns.name ? 'here' : <>in <Link to={toNamespace(l.from)}>{l.from}</Link></>}</span>}</li>
  return <section class="box" aria-labelledby="labels">
    <h2 id="labels">Labels</h2>
    {own.length ? <ul class="plain">{own.map(row)}</ul> : <p class="dim">None of its own.</p>}
    {tree.length > 0 && <details><summary>{tree.length} set by its place in the tree</summary><ul class="plain">{tree.map(row)}</ul></details>}
  </section>
}

function Events({ namespace, version }: { namespace: string; version: number }) {
  const events = useData<List>(`/api/namespaces/${namespace}/events`, version)
  const list = events.data?.items ?? []
  const [shown, more] = useFirst(list, 8)
  return <section class="box" aria-labelledby="events">
    <h2 id="events">Events <small class="dim">{list.length || ''}</small></h2>
    <Unread from={events} />
    {shown.length > 0 && <ul class="plain events">{shown.map((e, i) => <li key={i}>
      <span class={'tag ' + (e.warning ? 'bad' : '')}>{e.reason}</span> <b>{e.kind}/{e.name}</b> <span class="dim">{age(e.last)}{e.count > 1 && ` ×${e.count}`}</span><br /><span class="message">{e.message}</span></li>)}</ul>}
    {more}
    {events.data && !list.length && <p class="dim">None.</p>}
  </section>
}
