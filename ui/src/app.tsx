// The frame of all pages, and which page an address shows.
import { h, render, Fragment } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { takeToken, useChanges, useData, Connection } from './api'
import { ForestPage } from './forest'
import { NamespacePage } from './namespace'
import { ObjectPage } from './object'
import { Link, navigate, ProblemBox } from './parts'
import { Session } from './types'

const states: Record<Connection, string> = { connecting: 'Connecting', live: 'Live', lost: 'Not connected' }

function App() {
  const [path, setPath] = useState(location.pathname)
  const [connection, version] = useChanges()
  const session = useData<Session>('/api/session', 0)
  useEffect(() => {
    const moved = () => setPath(location.pathname)
    const onKey = (e: KeyboardEvent) => {
      if (e.key !== '/' || e.ctrlKey || e.metaKey || e.altKey || (e.target as Element).matches('input, textarea, select')) return
      e.preventDefault()
      if (location.pathname !== '/') navigate('/')
      setTimeout(() => document.getElementById('search')?.focus())
    }
    addEventListener('popstate', moved)
    addEventListener('keydown', onKey)
    return () => { removeEventListener('popstate', moved); removeEventListener('keydown', onKey) }
  }, [])
  const s = session.data
  return <>
    <header>
      <Link to="/" class="brand"><img src="/icon.svg" alt="" width="22" height="22" /><b>hns</b></Link>
      <span class="context">{s && <><b title={'Cluster ' + s.cluster}>{s.context || 'no context'}</b><span class="dim"> {s.user}</span></>}</span>
      <span class="grow" />
      <span class="dim wide">read-only</span>
      <span class={'state ' + connection} role="status">{states[connection]}</span>
    </header>
    {session.error?.status === 401 ? <main><ProblemBox problem={session.error.problem} /></main> : <Page key={path} path={path} version={version} />}
  </>
}

function Page({ path, version }: { path: string; version: number }) {
  const parts = path.split('/').slice(1).map(part => { try { return decodeURIComponent(part) } catch { return part } })
  if (path === '/') return <ForestPage version={version} />
  if (parts[0] === 'ns' && parts[1] && parts.length === 2) return <NamespacePage name={parts[1]} version={version} />
  if (parts[0] === 'ns' && parts[3] && parts.length === 4) return <ObjectPage namespace={parts[1]} resource={parts[2]} name={parts[3]} version={version} />
  return <main><ProblemBox problem={{ title: 'There is no such page', hint: 'The name at the top left leads to the forest.' }} /></main>
}

takeToken()
render(<App />, document.getElementById('app')!)
