// Parts that several pages share.
import { options } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Data } from './api'
import { Condition, Problem } from './types'
import { visible, words } from './model'

export function navigate(path: string) {
  history.pushState(null, '', path)
  dispatchEvent(new PopStateEvent('popstate'))
  scrollTo(0, 0)
}

export function Link({ to, children, ...rest }: any) {
  const follow = (e: MouseEvent) => {
    if (e.button || e.ctrlKey || e.metaKey || e.shiftKey || e.altKey) return
    e.preventDefault()
    navigate(to)
  }
  return <a href={to} onClick={follow} {...rest}>{children}</a>
}

// Every text goes through here on its way to the page: names and messages of the cluster may contain marks that hide or turn others.
const before = (options as any).vnode
;(options as any).vnode = (vnode: any) => {
  if (vnode.type === null && typeof vnode.props === 'string') vnode.props = visible(vnode.props)
  else if (typeof vnode.type === 'string' && vnode.props.title) vnode.props.title = visible(vnode.props.title)
  before?.(vnode)
}

export function useTitle(title: string) { useEffect(() => { document.title = visible(title) + ' · hns' }, [title]) }

// useQuery returns the query of the address, and a function that replaces it.
export function useQuery(): [URLSearchParams, (query: Record<string, string>) => void] {
  const set = (query: Record<string, string>) => {
    const text = new URLSearchParams(query).toString()
    history.replaceState(null, '', location.pathname + (text && '?' + text))
    dispatchEvent(new PopStateEvent('popstate'))
  }
  return [new URLSearchParams(location.search), set]
}

// save offers a file that the page has made.
export function save(name: string, type: string, content: BlobPart) {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([content], { type }))
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 10000)
}

// maxShown is how many items of a list are drawn at first, and offered by a selection: one user may have created very many.
export const maxShown = 200

// useFirst returns the first items of a list, and a button that shows as many more.
export function useFirst<T>(list: T[], first = maxShown): [T[], any] {
  const [shown, setShown] = useState(first)
  const more = Math.min(maxShown, list.length - shown)
  return [list.slice(0, shown), more > 0 && <button data-more="" onClick={() => setShown(shown + more)}>{`Show ${more} more of ${list.length}`}</button>]
}

export function Notes({ list }: { list?: string[] }) {
  return <>{list?.map(note => <p class="stale" key={note}>{note.charAt(0).toUpperCase() + note.slice(1)}</p>)}</>
}

export const toNamespace = (name: string) => '/ns/' + name
export const toObject = (namespace: string, resource: string, name: string) => `/ns/${namespace}/${encodeURIComponent(resource)}/${encodeURIComponent(name)}`

// CopyText copies a text that the page shows.
export function CopyText({ text, title }: { text: string; title: string }) {
  const [copied, setCopied] = useState(false)
  return <button onClick={() => navigator.clipboard.writeText(text).then(() => { setCopied(true); setTimeout(() => setCopied(false), 1500) })}><span aria-live="polite">{copied ? 'Copied' : title}</span></button>
}

// Copy shows the command that prints the same as the page, and copies it.
export function Copy({ command }: { command: string }) {
  const [copied, setCopied] = useState(false)
  const copy = () => navigator.clipboard.writeText(command).then(() => { setCopied(true); setTimeout(() => setCopied(false), 1500) })
  return <button class="copy" onClick={copy} title="Copy the command that shows the same"><code>{command}</code><span aria-live="polite">{copied ? 'Copied' : 'Copy'}</span></button>
}

export function ProblemBox({ problem }: { problem: Problem }) {
  return <section class="box bad" role="alert">
    <h2>{problem.title}</h2>
    {problem.missingPermission && <p>Missing permission: <code>{problem.missingPermission}</code></p>}
    {problem.detail && <p class="message">{problem.detail}</p>}
    {problem.hint && <p>{problem.hint}</p>}
  </section>
}

// Loaded shows data, or why there is none; and above data that could not be read again, since when.
export function Loaded<T>({ from, children }: { from: Data<T>; children: (data: T) => any }) {
  const [slow, setSlow] = useState(false)
  useEffect(() => { const timer = setTimeout(() => setSlow(true), 200); return () => clearTimeout(timer) }, [])
  if (!from.data) return from.error ? <ProblemBox problem={from.error.problem} /> : <p class="dim" role="status">{slow ? 'Reading from the cluster …' : ''}</p>
  return <>
    <Stale from={from} />
    {children(from.data)}
  </>
}

function Stale({ from }: { from: Data<unknown> }) {
  return from.error ? <p class="stale" role="status"><b>{from.error.problem.title}.</b> This is the state of {from.at!.toLocaleTimeString()}. {from.error.problem.hint}</p> : null
}

// Unread says, for a part of a page, why there are no data, that they could not be read again, or what they lack.
export function Unread({ from, what = '' }: { from: Data<{ notes?: string[] }>; what?: string }) {
  const { data, error } = from
  return <>
    {error && (data ? <Stale from={from} /> : <p class="note">{what}{error.problem.missingPermission ? <>Missing permission: <code>{error.problem.missingPermission}</code></> : error.problem.detail ?? error.problem.title}</p>)}
    {data?.notes?.map(note => <p class="note" key={note}>{what}{note}</p>)}
  </>
}

// Diff shows a unified difference.
export function Diff({ text }: { text: string }) {
  return <pre class="diff" tabIndex={0} role="group" aria-label="Difference">{text.split('\n').filter((line, i, all) => line || i < all.length - 1).map((line, i) => <span key={i} class={/^(\+\+\+|---|@@)/.test(line) ? 'meta' : line[0] === '+' ? 'plus' : line[0] === '-' ? 'minus' : ''}>{line + '\n'}</span>)}</pre>
}

export function Conditions({ list }: { list: Condition[] }) {
  return <ul class="conditions">{list.map(c => <li key={c.type + c.reason}><span class="tag bad">{c.status === 'False' && 'Not '}{c.status === 'False' ? words(c.type).toLowerCase() : words(c.type)}</span> <b>{words(c.reason)}</b> <span class="message">{c.message}</span></li>)}</ul>
}
