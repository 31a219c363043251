// Requests to the server, and the stream of changes.
import { useEffect, useRef, useState } from 'preact/hooks'
import { Problem } from './types'

const key = 'hns-token'
const header = 'X-HNS-Token'

// takeToken moves the tokens of the page and of the server from the address to the storage of the tab, which ends with it.
export function takeToken() {
  const token = new URLSearchParams(location.hash.slice(1)).get('token')
  if (!token) return
  sessionStorage.setItem(key, token)
  history.replaceState(null, '', location.pathname + location.search)
}

export class ServerError extends Error {
  constructor(public status: number, public problem: Problem) { super(problem.title) }
}

const gone: Problem = { title: 'The command has ended', detail: 'kubectl hns ui does not answer any more.', hint: 'Run it again, and open the URL that it prints.' }

const stranger: Problem = { title: 'This tab has no valid token', detail: 'It was opened without one, or another program serves this address now.', hint: 'Do not reload this tab. If the command has ended, run it again; open the URL that it prints.' }

async function request(path: string, signal?: AbortSignal, body?: unknown): Promise<Response> {
  const [token, proof] = (sessionStorage.getItem(key) ?? '').split('.')
  let response: Response
  try {
    response = await fetch(path, {
      signal, credentials: 'omit', cache: 'no-store', headers: { [header]: token, ...(body ? { 'Content-Type': 'application/json' } : {}) },
      ...(body ? { method: 'POST', body: JSON.stringify(body) } : {}),
    })
  } catch (error) {
    if (signal?.aborted) throw error
    throw new ServerError(0, gone)
  }
  if (!proof || response.headers.get(header) !== proof) throw new ServerError(401, stranger)
  if (response.ok) return response
  let problem: Problem = { title: `The server answers ${response.status}` }
  try { problem = await response.json() } catch { /* the status says it */ }
  throw new ServerError(response.status, problem)
}

// post sends a change.
export async function post(path: string, body: unknown) { await request(path, undefined, body) }

export interface Data<T> { data?: T; at?: Date; error?: ServerError }

const deleted = (problem: Problem): Problem => ({ title: 'It has been deleted', detail: problem.detail, hint: 'It was there when this page was opened.' })

// useData reads a path, and again after each change, until it is paused. After an error it keeps what it has read before. Reading takes at
// most a fifth of the time, however fast the changes follow each other; after errors of the server it waits longer and longer. A hidden page
// does not read again until it is shown.
export function useData<T>(path: string, version: number, paused = false): Data<T> {
  const [state, setState] = useState<Data<T> & { path: string }>({ path })
  const again = useRef<() => void>()
  const seen = useRef(version)
  useEffect(() => {
    if (paused) return
    const control = new AbortController()
    let timer = 0, busy = false, changed = false, failures = 0, next = 0
    const run = async () => {
      busy = true
      changed = false
      let retry = 0
      const began = performance.now()
      try {
        const data = await (await request(path, control.signal)).json()
        if (control.signal.aborted) return
        failures = 0
        setState({ path, data, at: new Date() })
      } catch (error) {
        if (control.signal.aborted) return
        const problem = error instanceof ServerError ? error : new ServerError(0, { title: 'The answer cannot be read', detail: String(error) })
        const { status } = problem
        setState(old => old.path !== path || status === 403 ? { path, error: problem }
          : status === 404 ? { path, error: old.data ? new ServerError(404, deleted(problem.problem)) : old.error ?? problem } : { ...old, error: problem })
        if (status === 0 || status >= 500) retry = Math.min(30, 2 ** ++failures) * 1000
      }
      busy = false
      next = performance.now() + Math.max(retry, 4 * (performance.now() - began))
      if (changed || retry) read()
    }
    const read = again.current = () => {
      changed = true
      if (busy) return
      clearTimeout(timer)
      timer = window.setTimeout(() => document.hidden ? document.addEventListener('visibilitychange', read, { once: true, signal: control.signal }) : run(), Math.max(0, next - performance.now()))
    }
    run()
    return () => { control.abort(); clearTimeout(timer) }
  }, [path, paused])
  useEffect(() => {
    if (seen.current !== version) again.current?.()
    seen.current = version
  }, [version])
  return state.path === path ? state : {}
}

export type Connection = 'connecting' | 'live' | 'lost'

// useChanges returns the state of the stream of changes, and a number that grows with each change. A hidden page has no stream, so that
// the server can end.
export function useChanges(): [Connection, number] {
  const [connection, setConnection] = useState<Connection>('connecting')
  const [version, setVersion] = useState(0)
  useEffect(() => {
    let control: AbortController | undefined, timer = 0, failures = 0, ended = false
    const again = () => {
      if (ended || document.hidden) return
      timer = window.setTimeout(run, Math.min(15, 2 ** failures++) * 1000)
    }
    const run = async () => {
      clearTimeout(timer)
      const own = control = new AbortController()
      let watchdog = 0
      const alive = () => { clearTimeout(watchdog); watchdog = window.setTimeout(() => own.abort(), 25000) }
      try {
        alive()
        const reader = (await request('/api/changes', own.signal)).body!.pipeThrough(new TextDecoderStream()).getReader()
        for (let r = await reader.read(); !r.done; r = await reader.read()) {
          alive()
          failures = 0
          setConnection('live')
          if (r.value.includes('changed')) setVersion(n => n + 1)
        }
      } catch (error) {
        if (error instanceof ServerError && error.status === 401 && !own.signal.aborted) { ended = true; setConnection('lost') }
      }
      clearTimeout(watchdog)
      if (control !== own || ended) return
      // The pages read again, and say why they cannot.
      if (!document.hidden) { setConnection('lost'); setVersion(n => n + 1) }
      again()
    }
    const visible = () => {
      clearTimeout(timer)
      control?.abort()
      control = undefined
      if (!document.hidden) { failures = 0; setVersion(n => n + 1); run() }
    }
    document.addEventListener('visibilitychange', visible)
    if (!document.hidden) run()
    return () => { ended = true; clearTimeout(timer); control?.abort(); document.removeEventListener('visibilitychange', visible) }
  }, [])
  return [connection, version]
}
