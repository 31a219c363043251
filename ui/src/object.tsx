// Where an object comes from, or why it is not there.
import { h } from 'preact'
import { useData } from './api'
import { Copy, Link, Loaded, toNamespace, useTitle } from './parts'
import { Path } from './namespace'
import { Answer } from './types'

export function ObjectPage({ namespace, resource, name, version }: { namespace: string; resource: string; name: string; version: number }) {
  const answer = useData<Answer>(`/api/namespaces/${namespace}/objects/${resource}/${encodeURIComponent(name)}`, version)
  useTitle(`${name} in ${namespace}`)
  return <main>
    <Path names={[namespace, name]} />
    <div class="head">
      <h1>{name}</h1>
      <p class="summary">{resource} in {namespace}</p>
      <Copy command={`kubectl hns explain ${resource} ${name} -n ${namespace}`} />
    </div>
    <Loaded from={answer}>{(a: Answer) => <Story a={a} />}</Loaded>
  </main>
}

function Story({ a }: { a: Answer }) {
  const verdict = { Copy: `It is a copy of the one in ${a.source}.`, Local: 'It was made here; it is not a copy.', Absent: `It is not in ${a.namespace}.` }[a.state]
  return <div class="story">
    <section class="box"><h2>{verdict}</h2>
      <ul>{a.because.map(reason => <li key={reason} class="message">{reason}</li>)}</ul></section>
    <section aria-labelledby="way"><h2 id="way">{a.state === 'Copy' ? 'The way of the copy' : 'The path from the root'}</h2>
      <ol class="way">{[...a.path].reverse().map(n => <li key={n} class={n === a.source ? 'source' : n === a.namespace ? 'here ' + a.state : ''}>
        <Link to={toNamespace(n)}>{n}</Link> <span class="dim">{n === a.source ? 'the source' : n === a.namespace ? ({ Copy: 'the copy', Local: 'made here', Absent: 'not here' } as any)[a.state] : ''}</span></li>)}</ol></section>
  </div>
}
