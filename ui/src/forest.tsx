// The forest: all trees as one table, problems first.
import { useContext, useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { Data, useData } from './api'
import { age, Filter, isFiltered, Node, plural, Row, rows, words } from './model'
import { Copy, Link, Loaded, maxShown, navigate, ProblemBox, toNamespace, Unread, useQuery, useTitle } from './parts'
import { Drawing } from './drawing'
import { Bar, fullness } from './quotas'
import { Trees } from './trees'
import { Forest, Limit, Quota, Quotas } from './types'

const rowHeight = 30
// Larger forests show their roots and the branches with problems at first.
const expandAll = 200

// The summary names this many namespaces with problems.
const maxNamed = 4
// Rows are indented up to this level; deeper ones say their level.
const maxIndent = 6

// What the user has expanded and filtered lasts as long as the tab.
const toggled = new Map<string, boolean>()
let lastFilter: Filter = { text: '', problems: false }
let lastResource = ''
let lastActive = ''

export function ForestPage({ version, tick }: { version: number; tick: number }) {
  const forest = useContext(Trees)
  useTitle('Forest')
  const quotas = useData<Quotas>('/api/quotas', version)
  return <main class="forest">{!forest.data && <div class="head"><h1>Forest</h1></div>}<Loaded from={forest}>{(data: Forest) => <Whole forest={data} roots={forest.roots} quotas={quotas} tick={tick} />}</Loaded></main>
}

// fullestLimits returns the fullest limit of each namespace with quotas, of one resource or of all.
function fullestLimits(quotas: Quota[], resource: string): Map<string, Limit> {
  const fullest = new Map<string, Limit>()
  for (const quota of quotas) for (const limit of quota.limits) {
    if ((!resource || limit.resource === resource) && !(fullest.get(quota.namespace)?.share! >= limit.share)) fullest.set(quota.namespace, limit)
  }
  return fullest
}

function Whole({ forest, roots, quotas, tick }: { forest: Forest; roots: Node[]; quotas: Data<Quotas>; tick: number }) {
  const all = quotas.data?.quotas
  const [resource, setResourceState] = useState(lastResource)
  const setResource = (r: string) => { lastResource = r; setResourceState(r) }
  const resources = useMemo(() => [...new Set(all?.flatMap(q => q.limits.map(l => l.resource)))].sort(), [all])
  const limits = useMemo(() => all?.length ? fullestLimits(all, resource) : undefined, [all, resource])
  const [query, setQuery] = useQuery()
  const drawing = query.get('view') === 'drawing'
  const [filter, setFilterState] = useState(lastFilter)
  const [onlyMine, setOnlyMine] = useState(!!lastFilter.mine)
  const mine = useData<string[]>('/api/mine', tick, !onlyMine)
  useEffect(() => setFilter({ ...filter, mine: onlyMine && mine.data ? new Set(mine.data) : undefined }), [onlyMine, mine.data])
  const setFilter = (f: Filter) => { lastFilter = f; setFilterState(f) }
  const [, redraw] = useState(0)
  const small = forest.namespaces.length <= expandAll
  const isExpanded = (node: Node) => toggled.get(node.member.name) ?? (small || node.problems > (node.member.problems?.length ?? 0))
  const list = rows(roots, filter, isExpanded)
  const troubled = forest.namespaces.filter(m => m.problems?.length)
  const toggle = (node: Node, open: boolean) => { toggled.set(node.member.name, open); redraw(n => n + 1) }
  const setAll = (open: boolean) => { for (const m of forest.namespaces) toggled.set(m.name, open); redraw(n => n + 1) }
  return <div>
    <div class="head">
      <h1>Forest</h1>
      <p class="summary">{plural(forest.namespaces.length, 'namespace')} in {plural(roots.length, 'tree')}{
        troubled.length ? <> · <b class="bad">{plural(troubled.length, 'namespace')} with problems</b>: {troubled.slice(0, maxNamed).map(m => <><Link to={toNamespace(m.name)} key={m.name}>{m.name}</Link> </>)}{troubled.length > maxNamed && '…'}</> : !forest.partial && <> · <span class="good">no problems</span></>}</p>
      <Copy command="kubectl hns tree -A" />
    </div>
    {forest.partial && <p class="stale">{forest.partial}</p>}
    <Unread from={quotas} what="Quotas: " />
    <div class="tools">
      <input id="search" type="search" placeholder="Name, or label=value  ( / )" aria-label="Filter by name, or by label=value" value={filter.text}
        onInput={(e: any) => setFilter({ ...filter, text: e.target.value })} spellcheck={false} autocomplete="off" />
      <label class="check"><input type="checkbox" checked={filter.problems} onChange={(e: any) => setFilter({ ...filter, problems: e.target.checked })} /> With problems</label>
      <label class="check" title="Namespaces that you may get by a role in them"><input type="checkbox" checked={onlyMine} onChange={(e: any) => setOnlyMine(e.target.checked)} /> Mine</label>
      <span class="grow" />
      <span class="views" role="group" aria-label="View">{[['', 'Table'], ['drawing', 'Drawing']].map(([view, title]) =>
        <button key={view} aria-pressed={drawing === (view === 'drawing')} onClick={() => setQuery(view ? { view } : {})}>{title}</button>)}</span>
      {!drawing && resources.length > 0 && <label>Quota of <select value={resource} onChange={(e: any) => setResource(e.target.value)}>
        <option value="">the fullest</option>{resources.filter((r, i) => i < maxShown || r === resource).map(r => <option key={r} value={r}>{r}</option>)}</select></label>}
      <button onClick={() => setAll(true)} disabled={isFiltered(filter)}>Expand all</button>
      <button onClick={() => setAll(false)} disabled={isFiltered(filter)}>Collapse all</button>
    </div>
    {onlyMine && mine.error && <ProblemBox problem={mine.error.problem} />}
    {drawing && list.length ? <Drawing roots={roots} filter={filter} isExpanded={isExpanded} />
      : list.length ? <Grid list={list} toggle={toggle} filter={filter} limits={limits} />
      : <p class="dim box" role="status">{isFiltered(filter) ? 'No namespace matches the filter.' : 'There are no namespaces that you may see.'}</p>}
  </div>
}

// Grid draws the rows in view only.
function Grid({ list, toggle, filter, limits }: { list: Row[]; toggle: (node: Node, open: boolean) => void; filter: Filter; limits?: Map<string, Limit> }) {
  const fixed = isFiltered(filter)
  const body = useRef<HTMLDivElement>(null)
  const [view, setView] = useState({ top: 0, height: 800 })
  const [active, setActiveState] = useState(lastActive)
  const setActive = (name: string) => { lastActive = name; setActiveState(name) }
  const at = Math.max(0, list.findIndex(row => row.node.member.name === active))
  // The row that the user has left, or the first row after another filter.
  useEffect(() => show(at), [])
  useEffect(() => { if (fixed) body.current!.scrollTop = 0 }, [filter.text, filter.problems, !!filter.mine])
  const measure = () => { const b = body.current; if (b) setView({ top: b.scrollTop, height: b.clientHeight }) }
  useEffect(() => {
    measure()
    addEventListener('resize', measure)
    return () => removeEventListener('resize', measure)
  }, [list.length])
  const go = (i: number) => {
    i = Math.max(0, Math.min(list.length - 1, i))
    setActive(list[i].node.member.name)
    show(i)
  }
  const show = (i: number) => {
    const b = body.current!
    if (i * rowHeight < b.scrollTop) b.scrollTop = i * rowHeight
    if ((i + 1) * rowHeight > b.scrollTop + b.clientHeight) b.scrollTop = (i + 1) * rowHeight - b.clientHeight
  }
  const onKey = (e: KeyboardEvent) => {
    const row = list[at], page = Math.max(1, Math.floor(view.height / rowHeight) - 1)
    if (e.ctrlKey || e.metaKey || e.altKey) return
    switch (e.key) {
      case 'ArrowDown': go(at + 1); break
      case 'ArrowUp': go(at - 1); break
      case 'PageDown': go(at + page); break
      case 'PageUp': go(at - page); break
      case 'Home': go(0); break
      case 'End': go(list.length - 1); break
      case 'ArrowRight':
        if (row.expanded) go(at + 1)
        else if (row.node.children.length && !fixed) toggle(row.node, true)
        break
      case 'ArrowLeft':
        if (row.expanded && !fixed) toggle(row.node, false)
        else if (row.parent >= 0) go(row.parent)
        break
      case 'Enter': navigate(toNamespace(row.node.member.name)); break
      default: return
    }
    e.preventDefault()
  }
  const first = Math.max(0, Math.floor(view.top / rowHeight) - 10)
  const last = Math.min(list.length, Math.ceil((view.top + view.height) / rowHeight) + 10)
  const drawn = list.slice(first, last)
  return <div class={'grid' + (limits ? ' limited' : '')} role="treegrid" aria-label="Namespaces" aria-rowcount={list.length + 1} aria-readonly="true" tabIndex={0} onKeyDown={onKey}
    aria-activedescendant={at >= first && at < last ? 'row-' + list[at].node.member.name : undefined}>
    <div class="row header" role="row" aria-rowindex={1}>
      <span role="columnheader">Namespace</span><span role="columnheader">Problems</span>{limits && <span role="columnheader" class="wide">Quota</span>}<span role="columnheader" class="wide">Kind</span>
      <span role="columnheader" class="num wide" title="Namespaces below">Below</span><span role="columnheader" class="num">Age</span>
    </div>
    <div class="rows" role="rowgroup" ref={body} onScroll={measure} tabIndex={-1}>
      <div role="presentation" style={{ height: list.length * rowHeight + 'px', position: 'relative' }}>
        {drawn.map((row, i) => <Line key={row.node.member.name} row={row} index={first + i} active={first + i === at} fixed={fixed}
          choose={() => setActive(row.node.member.name)} toggle={toggle} limits={limits} />)}
      </div>
    </div>
  </div>
}

function Line({ row, index, active, fixed, choose, toggle, limits }: any) {
  const { node, depth, expanded }: Row = row
  const { member, children } = node
  const own = member.problems?.length ?? 0
  const below = node.problems - own
  const limit: Limit | undefined = limits?.get(member.name)
  return <div id={'row-' + member.name} role="row" class={'row' + (active ? ' active' : '') + (own ? ' troubled' : '')} aria-level={depth + 1} aria-rowindex={index + 2}
    aria-posinset={row.position} aria-setsize={row.siblings} aria-expanded={children.length ? expanded : undefined} style={{ top: index * rowHeight + 'px', '--depth': Math.min(depth, maxIndent) }} onMouseDown={choose}
    draggable onDragStart={(e: DragEvent) => e.dataTransfer!.setData('text/x-namespace', member.name)} onDragOver={(e: DragEvent) => { if (e.dataTransfer!.types.includes('text/x-namespace')) e.preventDefault() }}
    onDrop={(e: DragEvent) => { e.preventDefault(); const moved = e.dataTransfer!.getData('text/x-namespace'); if (moved && moved !== member.name) navigate('/plan?' + new URLSearchParams({ namespace: moved, change: 'move', parent: member.name })) }}>
    <span role="gridcell" class="name">
      {children.length
        ? <button class="twist" tabIndex={-1} aria-hidden="true" disabled={fixed} onClick={() => toggle(node, !expanded)}>{expanded ? '▾' : '▸'}</button>
        : <span class="twist" />}
      {depth > maxIndent && <span class="dim level" title="Level in the tree">{depth + 1}</span>}
      <Link to={toNamespace(member.name)} tabIndex={-1} title={member.name}>{member.name}</Link>
      {member.deleting && <span class="tag">deleting</span>}
    </span>
    <span role="gridcell" class="what">
      {own ? <span class="problem" title={member.problems!.map(c => `${words(c.type)}: ${c.message}`).join('\n')}><b>{words(member.problems![0].reason)}</b> <span class="wide">{member.problems![0].message}</span>{own > 1 && ` +${own - 1}`}</span>
        : below && !expanded ? <span class="problem below">{below} below</span> : null}
    </span>
    {limits && <span role="gridcell" class="quota wide">{limit && <Link to="/quotas" tabIndex={-1} title={`${limit.resource}: ${limit.used} of ${limit.hard}`}><Bar limit={limit} /> <span class={fullness(limit.share)}>{limit.used}/{limit.hard}</span> <span class="dim">{limit.resource}</span></Link>}</span>}
    <span role="gridcell" class="dim wide">{member.kind === 'full' ? '' : member.kind}</span>
    <span role="gridcell" class="num dim wide">{node.descendants || ''}</span>
    <span role="gridcell" class="num dim">{age(member.created)}</span>
  </div>
}
