// The frame of all pages, and which page an address shows.
import { render } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { takeToken, useChanges, useData, Connection } from './api'
import { AccessPage } from './access'
import { AdminPage } from './admin'
import { ForestPage } from './forest'
import { NamespacePage } from './namespace'
import { ObjectPage } from './object'
import { PlanPage } from './plan'
import { QuotasPage } from './quotas'
import { Link, navigate, ProblemBox } from './parts'
import { Aside, Trees, useForest } from './trees'
import { Session } from './types'

const states: Record<Connection, string> = { connecting: 'Connecting', live: 'Live', lost: 'Not connected' }

const pages = [['/', 'Forest'], ['/quotas', 'Quotas'], ['/plan', 'Plan'], ['/admin', 'Kinds and servers']]

// Only namespaces, hierarchies and quotas are watched. Pages about other objects read again this often, in milliseconds.
const refreshPeriod = 15000

function App() {
  const [path, setPath] = useState(location.pathname)
  const [, setQuery] = useState(location.search)
  const [tick, setTick] = useState(0)
  const [connection, version] = useChanges()
  const session = useData<Session>('/api/session', 0)
  const forest = useForest(version)
  useEffect(() => {
    const moved = () => { setPath(location.pathname); setQuery(location.search) }
    const timer = setInterval(() => document.hidden || setTick(n => n + 1), refreshPeriod)
    const onKey = (e: KeyboardEvent) => {
      if (e.key !== '/' || e.ctrlKey || e.metaKey || e.altKey || (e.target as Element).matches?.('input, textarea, select')) return
      e.preventDefault()
      if (location.pathname !== '/') navigate('/')
      setTimeout(() => document.getElementById('search')?.focus())
    }
    addEventListener('popstate', moved)
    addEventListener('keydown', onKey)
    return () => { clearInterval(timer); removeEventListener('popstate', moved); removeEventListener('keydown', onKey) }
  }, [])
  const first = useRef(path)
  useEffect(() => {
    // Readers of the screen and users of the keyboard go on in the new page.
    const main = document.querySelector('main')
    if (!main || path === first.current) return
    first.current = ''
    main.tabIndex = -1
    main.focus({ preventScroll: true })
  }, [path])
  const s = session.data
  return <>
    <header>
      <Link to="/" class="brand"><img src="/icon.svg" alt="" width="22" height="22" /><b>hns</b></Link>
      <nav class="pages" aria-label="Pages">{pages.map(([to, title]) => <Link key={to} to={to} aria-current={path === to ? 'page' : undefined}>{title}</Link>)}</nav>
      <span class="context">{s && <><b title={'Cluster ' + s.cluster}>{s.context || 'no context'}</b><span class="dim"> {s.user}</span></>}</span>
      <span class="grow" />
      {s && <span class={'wide tag' + (s.write ? ' warn' : '')}>{s.write ? 'may write' : 'read-only'}</span>}
      <span class={'state ' + connection} role="status">{states[connection]}</span>
    </header>
    {session.error?.status === 401 ? <main><ProblemBox problem={session.error.problem} /></main> : <Trees.Provider value={forest}>
      <div class={path === '/' ? '' : 'beside'}>
        <Page key={path} path={path} version={version} tick={version + tick} />
        {path !== '/' && <Aside name={path.startsWith('/ns/') ? decoded(path)[1] : ''} />}
      </div>
    </Trees.Provider>}
  </>
}

const decoded = (path: string) => path.split('/').slice(1).map(part => { try { return decodeURIComponent(part) } catch { return part } })

function Page({ path, version, tick }: { path: string; version: number; tick: number }) {
  const parts = decoded(path)
  if (path === '/') return <ForestPage version={version} tick={tick} />
  if (path === '/quotas') return <QuotasPage version={version} />
  if (path === '/plan') return <PlanPage version={tick} />
  if (path === '/admin') return <AdminPage version={tick} />
  if (parts[0] === 'ns' && parts[1]) {
    if (parts.length === 2) return <NamespacePage name={parts[1]} version={tick} />
    if (parts.length === 3 && parts[2] === 'access') return <AccessPage name={parts[1]} version={tick} />
    if (parts.length === 4) return <ObjectPage namespace={parts[1]} resource={parts[2]} name={parts[3]} version={tick} />
  }
  return <main><h1 class="hidden">No such page</h1><ProblemBox problem={{ title: 'There is no such page', hint: 'The name at the top left leads to the forest.' }} /></main>
}

takeToken()
render(<App />, document.getElementById('app')!)
