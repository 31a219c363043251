// The hierarchical quotas: how full each limit is, and where in the tree it is used.
import { useContext, useState } from 'preact/hooks'
import { useData } from './api'
import { amount, percent, plural, Use, useOf } from './model'
import { Conditions, Copy, Link, Loaded, maxShown, Notes, toNamespace, toObject, useFirst, useQuery, useTitle } from './parts'
import { Trees } from './trees'
import { Limit, Quota, Quotas } from './types'

export function QuotasPage({ version }: { version: number }) {
  const quotas = useData<Quotas>('/api/quotas', version)
  const { parents } = useContext(Trees)
  useTitle('Quotas')
  return <main>
    {!quotas.data && <div class="head"><h1>Quotas</h1></div>}
    <Loaded from={quotas}>{(data: Quotas) => <All data={data} parents={parents} />}</Loaded>
  </main>
}

export const fullness = (share: number) => share >= 1 ? 'full' : share >= 0.8 ? 'high' : ''

// Bar shows a limit; with parts, of which each is a number of the resource, as a stack.
export function Bar({ limit, parts }: { limit: Limit; parts?: { name: string; value: number }[] }) {
  const width = (value: number) => limit.value > 0 ? Math.min(100, value / limit.value * 100) + '%' : '0%'
  return <span class={'bar ' + fullness(limit.share)} role="meter" aria-label={limit.resource} aria-valuemin={0} aria-valuemax={100}
    aria-valuenow={Math.round(Math.min(1, limit.share) * 100)} aria-valuetext={`${limit.used} of ${limit.hard}`}>
    {(parts ?? [{ name: '', value: limit.share * limit.value }]).map((part, i) =>
      <i key={part.name} class={i % 2 ? 'odd' : ''} style={{ width: width(part.value) }} title={part.name && `${part.name}: ${amount(part.value, limit.hard)}`} />)}
  </span>
}

function All({ data, parents }: { data: Quotas; parents: Map<string, string | undefined> }) {
  const [query, setQuery] = useQuery()
  const resource = query.get('resource') ?? ''
  const resources = [...new Set(data.quotas.flatMap(q => q.limits.map(l => l.resource)))].sort()
  const fullest = (q: Quota) => Math.max(0, ...q.limits.filter(l => !resource || l.resource === resource).map(l => l.share))
  const list = data.quotas.filter(q => !resource || q.limits.some(l => l.resource === resource))
    .sort((a, b) => Number(!!b.problems) - Number(!!a.problems) || fullest(b) - fullest(a))
  const full = data.quotas.filter(q => q.limits.some(l => l.share >= 1)).length
  const [shown, more] = useFirst(list)
  return <>
    <div class="head">
      <h1>Quotas</h1>
      <p class="summary">{plural(data.quotas.length, 'quota')}, the fullest first{full > 0 && <> · <b class="bad">{full} full</b></>}</p>
      <Copy command="kubectl hns quota -A --tree" />
    </div>
    <Notes list={data.notes} />
    {resources.length > 1 && <div class="tools"><label>Resource <select value={resource} onChange={(e: any) => setQuery(e.target.value ? { resource: e.target.value } : {})}>
      <option value="">all</option>{resources.filter((r, i) => i < maxShown || r === resource).map(r => <option key={r} value={r}>{r}</option>)}</select></label></div>}
    {list.length ? shown.map(q => <Card key={q.namespace + '/' + q.name} quota={q} parents={parents} only={resource} />)
      : <p class="box dim">There are no hierarchical quotas{data.quotas.length ? ' of this resource' : ' that you may see'}.</p>}
    {more}
  </>
}

function Card({ quota, parents, only }: { quota: Quota; parents: Map<string, string | undefined>; only: string }) {
  const [chosen, setChosen] = useState('')
  const limits = quota.limits.filter(l => !only || l.resource === only)
  const [shown, more] = useFirst(limits)
  return <section class="box" aria-label={`Quota ${quota.name} of ${quota.namespace}`} data-quota={quota.namespace + '/' + quota.name}>
    <h2><Link to={toNamespace(quota.namespace)}>{quota.namespace}</Link> <span class="dim">/</span> <Link to={toObject(quota.namespace, 'hierarchicalresourcequotas.hnc.x-k8s.io', quota.name)}>{quota.name}</Link> {quota.scoped && <span class="tag">scoped</span>}</h2>
    {quota.problems && <Conditions list={quota.problems} />}
    {shown.map((limit, i) => {
      const use = useOf(quota, limit.resource, parents)
      const open = chosen === limit.resource
      return <div class="limit" key={limit.resource}>
        <button class="twist" aria-expanded={open} aria-label={`Use of ${limit.resource} by namespace`} disabled={!use.children.length && !use.own} onClick={() => setChosen(open ? '' : limit.resource)}>{open ? '▾' : '▸'}</button>
        <span class="what">{limit.resource}{i === 0 && quota.limits.length > 1 && !only && limit.share > 0 && <span class="tag">binds first</span>}</span>
        <Bar limit={limit} parts={quota.omitted ? undefined : [...(use.own ? [{ name: quota.namespace, value: use.own }] : []), ...use.children.slice(0, maxShown).map(c => ({ name: c.name, value: c.sum }))]} />
        <span class={'num ' + fullness(limit.share)}>{limit.used} of {limit.hard} <span class="dim">{percent(limit.share)}</span></span>
        {open && <ul class="use"><Branch use={use} limit={limit} /></ul>}
      </div>
    })}
    {more}
    {limits.length === 0 && <p class="dim">It limits nothing.</p>}
    {!!quota.omitted && <p class="note">{plural(quota.omitted, 'namespace')} more use it than are listed.</p>}
  </section>
}

function Branch({ use, limit }: { use: Use; limit: Limit }) {
  const share = { ...limit, used: amount(use.sum, limit.hard), share: limit.value > 0 ? use.sum / limit.value : 1 }
  const [shown, more] = useFirst(use.children)
  return <li>
    <div class="branch"><Link to={toNamespace(use.name)}>{use.name}</Link>
      <span class="num">{amount(use.sum, limit.hard)}{use.children.length > 0 && <span class="dim"> ({amount(use.own, limit.hard)} itself)</span>}</span>
      <Bar limit={share} /></div>
    {use.children.length > 0 && <ul>{shown.map(c => <Branch key={c.name} use={c} limit={limit} />)}</ul>}{more}
  </li>
}
