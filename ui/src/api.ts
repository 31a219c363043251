// Requests to the server, and the stream of changes.
import { useEffect, useRef, useState } from 'preact/hooks'
import { Problem } from './types'

const key = 'hns-token'

// takeToken moves the token from the address to the storage of the tab, which ends with it.
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

async function request(path: string, signal?: AbortSignal, body?: unknown): Promise<Response> {
  let response: Response
  try {
    response = await fetch(path, {
      signal, credentials: 'omit', cache: 'no-store', headers: { 'X-HNS-Token': sessionStorage.getItem(key) ?? '', ...(body ? { 'Content-Type': 'application/json' } : {}) },
      ...(body ? { method: 'POST', body: JSON.stringify(body) } : {}),
    })
  } catch (error) {
    if (signal?.aborted) throw error
    throw new ServerError(0, gone)
  }
  if (response.ok) return response
  let problem: Problem = { title: `The server answers ${response.status}` }
  try { problem = await response.json() } catch { /* the status says it */ }
  throw new ServerError(response.status, problem)
}

// post sends a change.
export async function post(path: string, body: unknown) { await request(path, undefined, body) }

export interface Data<T> { data?: T; at?: Date; error?: ServerError }

// useData reads a path, and again after each change, until it is paused. After an error it keeps what it has read before.
export function useData<T>(path: string, version: number, paused = false): Data<T> {
  const [state, setState] = useState<Data<T> & { path: string }>({ path })
  const attempt = useRef(0)
  const [retry, setRetry] = useState(0)
  useEffect(() => {
    if (paused) return
    const control = new AbortController()
    let timer = 0
    request(path, control.signal).then(r => r.json()).then(
      data => { attempt.current = 0; setState({ path, data, at: new Date() }) },
      error => {
        if (control.signal.aborted) return
        const problem = error instanceof ServerError ? error : new ServerError(0, { title: 'The answer cannot be read', detail: String(error) })
        setState(old => old.path === path && problem.status !== 404 && problem.status !== 403 ? { ...old, error: problem } : { path, error: problem })
        if (problem.status === 0 || problem.status >= 500) timer = window.setTimeout(() => setRetry(n => n + 1), Math.min(30, 2 ** ++attempt.current) * 1000)
      })
    return () => { control.abort(); clearTimeout(timer) }
  }, [path, version, retry, paused])
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
        if (error instanceof ServerError && error.status === 401) ended = true
      }
      clearTimeout(watchdog)
      if (control !== own || ended) return
      if (!document.hidden) setConnection('lost')
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
