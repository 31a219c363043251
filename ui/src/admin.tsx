// The cluster's configuration, the servers and the repositories.
import { useState } from 'preact/hooks'
import { useData } from './api'
import { plural } from './model'
import { Conditions, Copy, Loaded, Notes, useTitle } from './parts'
import { Administration, Check } from './types'

const modes: Record<string, string> = {
  Propagate: 'copied to all descendants', AllowPropagate: 'copied where an annotation asks for it', Remove: 'not copied; copies are removed', Ignore: 'not copied; copies stay as they are',
}

export function AdminPage({ version }: { version: number }) {
  const data = useData<Administration>('/api/administration', version)
  const [look, setLook] = useState(0)
  const checks = useData<Check[]>('/api/checks', look)
  useTitle('Kinds and servers')
  return <main>
    <div class="head"><h1>Kinds and servers</h1></div>
    <Loaded from={data}>{(a: Administration) => <Configuration a={a} />}</Loaded>
    <section class="box" aria-labelledby="checks">
      <div class="head"><h2 id="checks">Installation</h2><span class="grow" /><button onClick={() => setLook(n => n + 1)}>Check again</button><Copy command="kubectl hns doctor" /></div>
      <Loaded from={checks}>{(list: Check[]) => <Checks list={list} />}</Loaded>
    </section>
  </main>
}

function Configuration({ a }: { a: Administration }) {
  return <>
    <Notes list={a.notes} />
    {!!a.problems?.length && <section class="box bad"><h2>{plural(a.problems.length, 'problem')}</h2><Conditions list={a.problems} /></section>}
    <section class="box" aria-labelledby="kinds">
      <div class="head"><h2 id="kinds">Kinds</h2><span class="grow" /><Copy command="kubectl hns config describe" /></div>
      <table class="list"><thead><tr><th>Kind</th><th>Mode</th><th class="num">Sources</th><th class="num">Copies</th></tr></thead>
        <tbody>{a.kinds.map(k => <tr key={k.group + k.resource}>
          <td>{k.resource} <span class="dim">{k.group ? `${k.group}/${k.version}` : k.version}</span></td>
          <td>{k.mode} <span class="dim">{modes[k.mode ?? ''] ?? ''}</span></td>
          <td class="num" data-label="Sources">{k.numSourceObjects ?? ''}</td><td class="num" data-label="Copies">{k.numPropagatedObjects ?? ''}</td></tr>)}</tbody></table>
      {!a.kinds.length && <p class="dim">hns-propagator has not reported any yet.</p>}
      {a.rules && Object.keys(a.rules).length > 0 && <details><summary>Rules in force</summary><dl class="rules">{Object.entries(a.rules).map(([key, value]) =>
        <><dt key={key}>{key}</dt><dd>{Array.isArray(value) ? value.join(', ') : typeof value === 'object' ? JSON.stringify(value) : String(value)}</dd></>)}</dl></details>}
    </section>
    {a.repositories.length > 0 && <section class="box" aria-labelledby="repositories">
      <div class="head"><h2 id="repositories">Repositories</h2><span class="grow" /><Copy command="kubectl hns repo status" /></div>
      {a.repositories.map(r => <div key={r.name} class="repository">
        <b>{r.name}</b> <span class={'tag ' + (r.synced === 'True' ? '' : 'bad')}>{r.synced === 'True' ? 'synced' : r.reason}</span>{' '}
        <span class="dim">{plural(r.objects, 'object')}{r.applied && <> · applied <code title={r.applied}>{r.applied.slice(0, 12)}</code></>}{r.seen && r.seen !== r.applied && <> · read <code title={r.seen}>{r.seen.slice(0, 12)}</code></>}</span>
        {r.synced !== 'True' && <p class="message">{r.message}</p>}
        {r.errors && <ul>{r.errors.map(e => <li key={e} class="message">{e}</li>)}</ul>}
      </div>)}
    </section>}
  </>
}

const order = ['error', 'warning', 'unknown', 'ok']

function Checks({ list }: { list: Check[] }) {
  const sorted = [...list].sort((a, b) => order.indexOf(a.severity) - order.indexOf(b.severity))
  const bad = sorted.filter(c => c.severity === 'error' || c.severity === 'warning'), unknown = sorted.filter(c => c.severity === 'unknown'), good = sorted.filter(c => c.severity === 'ok')
  const rows = (checks: Check[]) => <ul class="plain checks">{checks.map((c, i) => <li key={i} class={c.severity}><span class={'tag ' + (c.severity === 'ok' ? '' : c.severity === 'unknown' ? 'warn' : 'bad')}>{c.severity}</span>
    <span><b>{c.subject}</b> {c.text}{c.hint && <p class="hint">{c.hint}</p>}</span></li>)}</ul>
  return <>
    {bad.length ? rows(bad) : <p class={good.length ? 'good' : 'dim'}>{good.length} of {plural(list.length, 'check')} without findings.</p>}
    {unknown.length > 0 && <details><summary>{plural(unknown.length, 'check')} for which you lack permissions</summary>{rows(unknown)}</details>}
    {good.length > 0 && <details><summary>{plural(good.length, 'check')} without findings</summary>{rows(good)}</details>}
  </>
}
