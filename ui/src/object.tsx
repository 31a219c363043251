// Where an object comes from, or why it is not there; and what it contains.
import { useData } from './api'
import { shellWord } from './model'
import { Copy, CopyText, Diff, Link, Loaded, Notes, toNamespace, toObject, useTitle } from './parts'
import { Path } from './namespace'
import { usePath } from './trees'
import { Content, Explanation } from './types'

interface Place { namespace: string; resource: string; name: string }

export function ObjectPage({ version, ...place }: Place & { version: number }) {
  const { namespace, resource, name } = place
  const path = `/api/namespaces/${namespace}/objects/${encodeURIComponent(resource)}/${encodeURIComponent(name)}`
  const answer = useData<Explanation>(path, version)
  const there = answer.data && answer.data.state !== 'Absent'
  useTitle(`${name} in ${namespace}`)
  return <main>
    <Path names={usePath(namespace)} object={name} />
    <div class="head">
      <h1>{name}</h1>
      <p class="summary">{resource} in {namespace}</p>
      <Copy command={`kubectl hns why ${shellWord(`${resource}/${name}`)} -n ${namespace}`} />
    </div>
    <Loaded from={answer}>{(a: Explanation) => <Story a={a} place={place} />}</Loaded>
    {there && <Contents path={path + '/content'} version={version} place={place} />}
  </main>
}

function Story({ a, place }: { a: Explanation; place: Place }) {
  const verdict = { Copy: `It is a copy of the one in ${a.source}.`, Local: 'It was made here; it is not a copy.', Absent: `It is not in ${a.namespace}.` }[a.state]
  return <div class="story">
    <section class="box" data-state={a.state}><h2>{verdict}</h2>
      <ul>{a.because.map(reason => <li key={reason} class="message">{reason}</li>)}</ul></section>
    <section aria-labelledby="way"><h2 id="way">From the root to {a.namespace}</h2>
      <ol class="way">{[...a.levels].reverse().map(l => {
        const here = l.namespace === a.namespace, source = l.namespace === a.source
        return <li key={l.namespace} class={source ? 'source' : l.state === 'Local' ? 'Local' : here ? 'here ' + a.state : l.state}>
          <Link to={l.state && l.state !== 'Absent' && !here ? toObject(l.namespace, place.resource, place.name) : toNamespace(l.namespace)}>{l.namespace}</Link>{' '}
          <span class="dim">{l.unread ? `not known: ${l.unread}` : source ? 'the source' : l.state === 'Copy' ? `a copy${l.source === a.source ? '' : ` of ${l.source}`}` : l.state === 'Local' ? 'made here' : 'not here'}</span>
          {l.mode && l.mode !== 'Propagate' && <span class="tag" title="How objects of the kind are propagated from here">{l.mode}</span>}
        </li>
      })}</ol></section>
  </div>
}

function Contents({ path, version, place }: { path: string; version: number; place: Place }) {
  const content = useData<Content>(path, version)
  return <Loaded from={content}>{(c: Content) => <>
    <Notes list={c.notes} />
    {c.source && !c.difference && !c.notes && <p class="dim">It is equal to its source, apart from what the server sets.</p>}
    {c.difference && <details class="box fold"><summary><h2>Difference from the source in {c.source}</h2></summary><Diff text={c.difference} /></details>}
    {c.overwritten && <details class="box fold" open data-overwritten><summary><h2>What it has overwritten</h2></summary>
      <p class="dim">An ancestor's object replaced one that was made here. Removed lines are those of the former.</p><Diff text={c.overwritten} />
      <Copy command={`kubectl hns why ${shellWord(`${place.resource}/${place.name}`)} -n ${place.namespace} --overwritten`} /></details>}
    <details class="box fold" data-yaml><summary><h2>YAML</h2></summary>
      <div class="tools"><span class="grow" /><CopyText text={c.manifest} title="Copy as YAML" /></div>
      <pre class="yaml" tabIndex={0} role="group" aria-label="YAML">{c.manifest}</pre></details>
  </>}</Loaded>
}
