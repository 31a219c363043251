// What a change would do; and, if the command allows writes, the change.
import { useContext, useEffect, useRef, useState } from 'preact/hooks'
import { post, ServerError, useData } from './api'
import { accessChanges, plural } from './model'
import { Copy, Diff, Link, Loaded, Notes, ProblemBox, toNamespace, useFirst, useQuery, useTitle } from './parts'
import { Trees } from './trees'
import { NamespacePlan, Plan, Session } from './types'

type Fields = Record<string, string>

// changes are the types of changes, with the fields that each needs.
const changes: Record<string, { title: string; fields: string[]; write?: boolean }> = {
  move: { title: 'Move it below', fields: ['parent'] },
  root: { title: 'Make it a root', fields: [] },
  delete: { title: 'Delete it', fields: [] },
  mode: { title: 'Set the mode of a kind', fields: ['resource', 'mode'] },
  child: { title: 'Create a child named', fields: ['child'], write: true },
  allow: { title: 'Allow cascading deletion', fields: [], write: true },
  forbid: { title: 'Forbid cascading deletion', fields: [], write: true },
}
const labels: Fields = { parent: 'New parent', resource: 'Resource', mode: 'Mode', child: 'Name of the child' }
const modes = ['Propagate', 'AllowPropagate', 'Remove', 'Ignore']
// A browser offers no more names than these well.
const maxOffered = 2000

export function PlanPage({ version }: { version: number }) {
  const [query, setQuery] = useQuery()
  const session = useData<Session>('/api/session', 0)
  const forest = useContext(Trees)
  const asked: Fields = Object.fromEntries(query)
  const known = Object.hasOwn(changes, asked.change)
  const [kind, setKind] = useState(known ? asked.change : 'move')
  useEffect(() => { if (known) setKind(asked.change) }, [asked.change])
  useTitle(asked.namespace ? `Plan for ${asked.namespace}` : 'Plan')
  const complete = asked.namespace && known && changes[asked.change].fields.every(f => asked[f])
  const submit = (e: Event) => {
    e.preventDefault()
    const form = new FormData(e.target as HTMLFormElement)
    setQuery(Object.fromEntries(['namespace', 'change', ...changes[kind].fields].map(f => [f, String(form.get(f)).trim()])))
  }
  const names = (forest.data?.namespaces ?? []).slice(0, maxOffered)
  const input = (f: string, list?: string) => <input key={f} name={f} aria-label={labels[f] ?? 'Namespace'} placeholder={labels[f] ?? 'Namespace'} list={list} defaultValue={asked[f] ?? ''} required autocomplete="off" spellcheck={false} />
  return <main>
    <div class="head"><h1>Plan</h1><p class="summary">What a change would do. Looking at it changes nothing.</p></div>
    <form class="tools ask box" onSubmit={submit} key={query.toString()} data-page="plan">
      <label>Namespace {input('namespace', 'namespaces')}</label>
      <select name="change" aria-label="Change" value={kind} onChange={(e: any) => setKind(e.target.value)}>
        {Object.entries(changes).filter(([, c]) => !c.write || session.data?.write).map(([name, c]) => <option key={name} value={name}>{c.title}</option>)}</select>
      {changes[kind].fields.map(f => f === 'mode' ? <select key={f} name={f} aria-label="Mode">{modes.map(m => <option key={m} value={m} selected={m === asked.mode}>{m}</option>)}</select>
        : input(f, f === 'parent' ? 'namespaces' : undefined))}
      <datalist id="namespaces">{names.map(m => <option key={m.name} value={m.name} />)}</datalist>
      <button class="primary">Preview</button>
    </form>
    {complete && <Preview key={query.toString()} fields={asked} version={version} session={session.data} />}
  </main>
}

function Preview({ fields, version, session }: { fields: Fields; version: number; session?: Session }) {
  const [done, setDone] = useState(false)
  const [again, setAgain] = useState(0)
  const { namespace, ...rest } = fields
  const plan = useData<Plan>(`/api/namespaces/${encodeURIComponent(namespace)}/plan?` + new URLSearchParams(rest), version + again, done)
  if (done) return <p class="box good" role="status">Done. {fields.change === 'delete' ? 'The namespace is being deleted.' : 'Copies follow within seconds.'} <Link to={fields.change === 'delete' ? '/' : toNamespace(fields.child ?? namespace)}>{fields.change === 'delete' ? 'Forest' : fields.child ?? namespace}</Link></p>
  return <Loaded from={plan}>{(p: Plan) => <Effect plan={p} fields={fields} write={!!session?.write} done={() => setDone(true)} changed={() => setAgain(n => n + 1)} />}</Loaded>
}

interface Asked { plan: Plan; fields: Fields; write: boolean; done: () => void; changed: () => void }

function Effect(asked: Asked) {
  const { plan, fields } = asked
  const s = plan.status
  const namespaces = s.namespaces ?? []
  const [shown, more] = useFirst(namespaces, 50)
  const access = accessChanges(namespaces)
  const [shownAccess, moreAccess] = useFirst(access)
  const hidden = s.hidden?.map(k => k.group ? `${k.resource}.${k.group}` : k.resource)
  return <div data-plan={fields.change}>
    {s.refusals?.map(r => <section class="box bad" role="alert" key={r.message}><h2>It would be refused: {r.reason}</h2><p class="message">{r.message}</p></section>)}
    <section class="box"><div class="head"><div role="status"><h2>{plan.summary}</h2></div><span class="grow" />{plan.see && <Copy command={plan.see} />}</div>
      {s.exceededQuotas && <>
        <h3 class="bad">Hierarchical quotas that it would exceed</h3>
        <table class="list"><thead><tr><th>Quota</th><th>Resource</th><th class="num">Used</th><th class="num">Moved</th><th class="num">Limit</th></tr></thead>
          <tbody>{s.exceededQuotas.map(q => <tr key={q.namespace + q.name + q.resource}><td>{q.namespace}/{q.name}</td><td>{q.resource}</td>
            <td class="num" data-label="Used">{q.used}</td><td class="num" data-label="Moved">{q.moved}</td><td class="num" data-label="Limit">{q.limit}</td></tr>)}</tbody></table></>}
      {!!s.omittedExceededQuotas && <p class="note">{plural(s.omittedExceededQuotas, 'limit')} more would be exceeded, of quotas that you may not get, or that are too many.</p>}
      {access.length > 0 && <>
        <h3>Permissions</h3>
        <ul class="plain access">{shownAccess.map(a => <li key={a.text}><span class={'mark ' + a.change}>{a.change === 'Gained' ? '+' : '−'}</span>{a.text} <span class="dim">in {a.namespaces.length > 3 ? plural(a.namespaces.length, 'namespace') : a.namespaces.join(', ')}</span></li>)}</ul>{moreAccess}</>}
    </section>
    <Notes list={[...(hidden ? [`Left out, because you may not list them in ${fields.namespace}: ${hidden.join(', ')}`] : []), ...(s.unknown ?? []).map(u => 'Not known: ' + u)]} />
    {shown.map(n => <Namespace key={n.name} plan={n} open={namespaces.length <= 5} />)}
    {more}
    <Make {...asked} />
  </div>
}

const marks = { Add: '+', Change: '~', Overwrite: '!', Remove: '−', Keep: '=' }
const verbs = { Add: 'added', Change: 'changed', Overwrite: 'overwritten', Remove: 'removed', Keep: 'kept' }

function Namespace({ plan, open }: { plan: NamespacePlan; open: boolean }) {
  const objects = plan.objects ?? []
  const [shown, more] = useFirst(objects)
  const counts = Object.entries(verbs).map(([action, verb]) => [objects.filter(o => o.action === action).length, verb] as const).filter(([n]) => n)
  return <details class="box fold" open={open} data-namespace={plan.name}>
    <summary><h2>{plan.name}</h2> {plan.fate && <span class="tag bad">{plan.fate.toLowerCase()}</span>} <span class="dim">{counts.map(([n, verb]) => `${n} ${verb}`).join(', ')}</span></summary>
    <ul class="plain">
      {plan.labels?.map(l => <li key={l.key}><span class="mark">~</span>label <code>{l.key}</code>: {l.before || 'none'} → {l.after || 'none'}</li>)}
      {plan.quotas?.map(q => <li key={q.name + q.resource} class="bad"><span class="mark">!</span>ResourceQuota {q.name} allows {q.hard} of {q.resource}, and there would be {q.planned}</li>)}
      {shown.map(o => <li key={o.group + o.kind + o.name}><span class={'mark ' + o.action}>{marks[o.action]}</span><span class="hidden">{verbs[o.action]}: </span>{o.kind}/{o.name}
        {o.source && <span class="dim"> from {o.source}</span>}{o.difference && <details><summary>difference</summary><Diff text={o.difference} /></details>}</li>)}
    </ul>
    {more}
  </details>
}

// Make makes the change, after the plan that was shown has been confirmed.
function Make({ plan, fields, write, done, changed }: Asked) {
  const dialog = useRef<HTMLDialogElement>(null)
  const [shown, setShown] = useState(plan)
  const [typed, setTyped] = useState('')
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<ServerError>()
  const deletion = fields.change === 'delete'
  const { namespace, ...rest } = fields
  const apply = async (e: Event) => {
    e.preventDefault()
    setBusy(true)
    setError(undefined)
    try { await post(`/api/namespaces/${encodeURIComponent(namespace)}/changes`, { ...rest, confirm: typed, plan: shown.digest }); done() }
    catch (problem) {
      setError(problem as ServerError)
      setBusy(false)
      if ((problem as ServerError).status === 409) changed()
    }
  }
  if (plan.status.refusals?.length) return null
  return <section class="box" aria-labelledby="make">
    <div class="head"><h2 id="make">Make the change</h2><span class="grow" /><Copy command={plan.make} /></div>
    {!write ? <p class="dim">The page is read-only. Run the command, or start the page with <code>kubectl hns ui --write</code>.</p>
      : !plan.writable ? <p class="dim">The page does not make this change. Run the command.</p>
      : <button class={deletion ? 'danger' : 'primary'} onClick={() => { setShown(plan); dialog.current!.showModal() }}>Apply …</button>}
    {write && plan.writable && <dialog ref={dialog} aria-labelledby="confirm" onClose={() => { setTyped(''); setError(undefined) }}>
      <form onSubmit={apply}>
        <h2 id="confirm">{shown.summary.replace(' would ', ' will ')}</h2>
        <p><code>{shown.make}</code></p>
        {deletion && <p><label>What is in it is lost. Type its name to delete it: <input value={typed} onInput={(e: any) => setTyped(e.target.value)} aria-label="Name of the namespace" autocomplete="off" spellcheck={false} /></label></p>}
        {error && <ProblemBox problem={error.problem} />}
        <div class="tools"><span class="grow" /><button type="button" onClick={() => dialog.current!.close()}>Cancel</button>
          <button class={deletion ? 'danger' : 'primary'} disabled={busy || deletion && typed !== namespace}>{busy ? 'Applying …' : 'Apply'}</button></div>
      </form>
    </dialog>}
  </section>
}
