// The forest as all pages know it, and the trees at the left of a page.
import { createContext } from 'preact'
import { useContext, useMemo, useState } from 'preact/hooks'
import { Data, useData } from './api'
import { build, Node, plural, rows, around } from './model'
import { Link, toNamespace } from './parts'
import { Forest } from './types'

// Smaller forests are expanded at first, larger ones show the trees and the path to the namespace.
const expandAll = 30
// At most this many namespaces are listed: those around the one of the page.
const maxListed = 200

export interface Known extends Data<Forest> { roots: Node[]; parents: Map<string, string | undefined> }

export const Trees = createContext<Known>({ roots: [], parents: new Map() })

// useForest reads the forest.
export function useForest(version: number): Known {
  const forest = useData<Forest>('/api/forest', version)
  const members = forest.data?.namespaces
  const trees = useMemo(() => ({ roots: build(members ?? []), parents: new Map((members ?? []).map(m => [m.name, m.parent])) }), [members])
  return { ...forest, ...trees }
}

// usePath returns the names from the root to a namespace.
export function usePath(name: string): string[] {
  const { parents } = useContext(Trees)
  const path = [name]
  for (let above = parents.get(name); above && parents.has(above) && !path.includes(above); above = parents.get(above)) path.unshift(above)
  return path
}

// Aside lists the trees, with the branch of the namespace of the page open.
export function Aside({ name }: { name: string }) {
  const { data, roots } = useContext(Trees)
  const path = usePath(name)
  const [toggled, setToggled] = useState(new Map<string, boolean>())
  if (!data?.namespaces.length) return null
  const isExpanded = ({ member }: Node) => toggled.get(member.name) ?? (data.namespaces.length <= expandAll || path.includes(member.name))
  const list = rows(roots, { text: '', problems: false }, isExpanded)
  const [first, last] = around(list.length, list.findIndex(row => row.node.member.name === name), maxListed)
  const toggle = (name: string, open: boolean) => setToggled(new Map(toggled).set(name, open))
  const more = (n: number) => n > 0 && <li class="dim"><Link to="/">{plural(n, 'more')}</Link></li>
  return <nav class="trees" aria-label="Trees"><ul>
    {more(first)}
    {list.slice(first, last).map(({ node, depth, expanded }) => {
      const { member, children, problems } = node
      return <li key={member.name} style={{ '--depth': Math.min(depth, 6) }}>
        {children.length ? <button class="twist" aria-expanded={expanded} aria-label={`Children of ${member.name}`} onClick={() => toggle(member.name, !expanded)}>{expanded ? '▾' : '▸'}</button> : <span class="twist" />}
        <Link to={toNamespace(member.name)} title={member.name} aria-current={member.name === name ? 'page' : undefined} class={member.problems?.length ? 'bad' : ''}>{member.name}</Link>
        {problems > 0 && (member.problems?.length || !expanded) && <span class="bad" title={plural(problems, 'problem')}>●<span class="hidden"> {plural(problems, 'problem')}</span></span>}
      </li>
    })}
    {more(list.length - last)}
  </ul></nav>
}
