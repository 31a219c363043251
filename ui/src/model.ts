// The forest without any drawing: which rows a table shows, in which order.
import { Limit, Member, NamespacePlan, Quota } from './types'

export interface Node { member: Member; children: Node[]; problems: number; descendants: number; parentMissing: boolean }
export interface Row { node: Node; depth: number; expanded: boolean; parent: number; position: number; siblings: number }
export interface Filter { text: string; problems: boolean; mine?: Set<string> }

// build returns the trees. Branches with problems come first, then names. Members of a cycle begin a tree of their own.
export function build(members: Member[]): Node[] {
  const nodes = new Map<string, Node>()
  for (const member of members) nodes.set(member.name, { member, children: [], problems: 0, descendants: 0, parentMissing: false })
  const roots: Node[] = []
  for (const node of nodes.values()) {
    const parent = node.member.parent ? nodes.get(node.member.parent) : undefined
    node.parentMissing = !!node.member.parent && !parent
    if (parent) parent.children.push(node)
    else roots.push(node)
  }
  const reached = new Set<Node>()
  // Children after their parents, without recursion: trees may be deep.
  const visit = (root: Node) => {
    const order = [root]
    reached.add(root)
    for (let i = 0; i < order.length; i++) {
      order[i].children = order[i].children.filter(child => !reached.has(child))
      for (const child of order[i].children) { reached.add(child); order.push(child) }
    }
    for (let i = order.length - 1; i >= 0; i--) {
      const node = order[i]
      node.problems = node.member.problems?.length ?? 0
      for (const child of node.children) { node.problems += child.problems; node.descendants += child.descendants + 1 }
      sort(node.children)
    }
  }
  roots.forEach(visit)
  for (const node of nodes.values()) if (!reached.has(node)) { roots.push(node); visit(node) }
  return sort(roots)
}

function sort(nodes: Node[]): Node[] {
  return nodes.sort((a, b) => Number(b.problems > 0) - Number(a.problems > 0) || (a.member.name < b.member.name ? -1 : 1))
}

// matches reports whether a filter selects a namespace itself. A text with "=" selects by label.
export function matches(member: Member, filter: Filter): boolean {
  if (filter.problems && !member.problems?.length || filter.mine && !filter.mine.has(member.name)) return false
  const text = filter.text.trim().toLowerCase()
  const equals = text.indexOf('=')
  if (equals > 0) {
    const labels = member.labels ?? {}, key = filter.text.trim().slice(0, equals)
    return Object.hasOwn(labels, key) && labels[key].toLowerCase() === text.slice(equals + 1)
  }
  return member.name.includes(text)
}

export function isFiltered(filter: Filter): boolean { return filter.problems || !!filter.mine || filter.text.trim() !== '' }

// rows returns the visible rows. With a filter these are the namespaces that it selects and their ancestors; all are expanded.
export function rows(roots: Node[], filter: Filter, isExpanded: (node: Node) => boolean): Row[] {
  const filtered = isFiltered(filter)
  const shown = new Set<Node>()
  if (filtered) {
    const stack: { node: Node; above: Node[] }[] = []
    for (const root of roots) stack.push({ node: root, above: [] })
    for (let at = stack.pop(); at; at = stack.pop()) {
      if (matches(at.node.member, filter)) { shown.add(at.node); for (const node of at.above) shown.add(node) }
      const above = at.node.children.length ? [...at.above, at.node] : at.above
      for (const child of at.node.children) stack.push({ node: child, above })
    }
  }
  const pick = (nodes: Node[]) => filtered ? nodes.filter(node => shown.has(node)) : nodes
  const result: Row[] = []
  const stack: Row[] = []
  const push = (nodes: Node[], depth: number, parent: number) => {
    for (let i = nodes.length - 1; i >= 0; i--) {
      stack.push({ node: nodes[i], depth, parent, expanded: false, position: i + 1, siblings: nodes.length })
    }
  }
  push(pick(roots), 0, -1)
  for (let row = stack.pop(); row; row = stack.pop()) {
    const children = pick(row.node.children)
    row.expanded = children.length > 0 && (filtered || isExpanded(row.node))
    result.push(row)
    if (row.expanded) push(children, row.depth + 1, result.length - 1)
  }
  return result
}

// around returns the first of length rows to show, and the one after the last: count rows around one of them, from the first row without one.
export function around(length: number, at: number, count: number): [number, number] {
  const first = Math.max(0, Math.min(at - Math.floor(count / 2), length - count))
  return [first, Math.min(length, first + count)]
}

// words writes a name like ActivitiesHalted as words.
export function words(name: string): string {
  const spaced = name.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase()
  return spaced.charAt(0).toUpperCase() + spaced.slice(1)
}

// age is the time since a date, as kubectl prints it.
export function age(created: string | undefined, now = Date.now()): string {
  if (!created) return ''
  const seconds = Math.max(0, Math.floor((now - Date.parse(created)) / 1000))
  if (seconds < 120) return seconds + 's'
  if (seconds < 3 * 3600) return Math.floor(seconds / 60) + 'm'
  if (seconds < 48 * 3600) return Math.floor(seconds / 3600) + 'h'
  if (seconds < 2 * 365 * 86400) return Math.floor(seconds / 86400) + 'd'
  return Math.floor(seconds / (365 * 86400)) + 'y'
}

export function plural(n: number, one: string, many = one + 's'): string { return `${n.toLocaleString('en')} ${n === 1 ? one : many}` }

export const percent = (share: number) => Math.round(share * 100) + '%'

// factor is what the suffix of a quantity such as 3Gi or 500m stands for.
function factor(suffix: string): number {
  const binary = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'].indexOf(suffix), decimal = ['k', 'M', 'G', 'T', 'P', 'E'].indexOf(suffix)
  return binary >= 0 ? 1024 ** (binary + 1) : decimal >= 0 ? 1000 ** (decimal + 1) : suffix === 'm' ? 0.001 : 1
}

// amount writes a number in the unit of a quantity.
export function amount(value: number, like: string): string {
  const suffix = /[a-zA-Z]*$/.exec(like)![0]
  return +(value / factor(suffix)).toFixed(3) + suffix
}

// Use is what a namespace of a quota's subtree uses itself, and with everything below it.
export interface Use { name: string; own: number; sum: number; children: Use[] }

// useOf returns the use of a resource as a tree. Namespaces whose place is not known are children of the quota's namespace.
export function useOf(quota: Quota, resource: string, parents: Map<string, string | undefined>): Use {
  const top: Use = { name: quota.namespace, own: 0, sum: 0, children: [] }
  const known = new Map([[top.name, top]])
  for (const { namespace, used } of quota.namespaces) {
    if (!used[resource]) continue
    let use = known.get(namespace)
    const above: string[] = []
    for (let at: string | undefined = namespace; at && !known.has(at) && !above.includes(at); at = parents.get(at)) above.push(at)
    const last = above.length && parents.get(above[above.length - 1])
    let parent = last && known.get(last) || top
    // Ancestors that lead elsewhere are left out.
    const inside = last && known.has(last) ? above : above.slice(0, 1)
    for (const name of inside.reverse()) {
      use = { name, own: 0, sum: 0, children: [] }
      parent.children.push(use)
      known.set(name, use)
      parent = use
    }
    use!.own = used[resource]
  }
  const sum = (use: Use): number => {
    use.sum = use.own + use.children.reduce((total, child) => total + sum(child), 0)
    use.children.sort((a, b) => b.sum - a.sum || (a.name < b.name ? -1 : 1))
    return use.sum
  }
  sum(top)
  return top
}

// binding returns, for each resource, the limit with the least left of those that apply in a namespace, the fullest first. path leads there from the root.
export function binding(quotas: Quota[], path: string[]): { quota: Quota; limit: Limit }[] {
  const left = (limit: Limit) => limit.value * (1 - limit.share)
  const found = new Map<string, { quota: Quota; limit: Limit }>()
  for (const quota of quotas) if (path.includes(quota.namespace) && !quota.scoped) for (const limit of quota.limits) {
    const known = found.get(limit.resource)
    if (!known || left(limit) < left(known.limit)) found.set(limit.resource, { quota, limit })
  }
  return [...found.values()].sort((a, b) => b.limit.share - a.limit.share)
}

// csv writes rows for spreadsheets, which must not read a cell as a formula.
export function csv(rows: string[][]): string {
  const cell = (text: string) => '"' + (/^[=+\-@\t\r]/.test(text) ? "'" : '') + text.replace(/"/g, '""') + '"'
  return rows.map(row => row.map(cell).join(',') + '\r\n').join('')
}

// visible shows marks that would change the direction of text, or that are not seen at all.
export function visible(text: string): string {
  return text.replace(/(?![\n\t ])[\p{C}\p{Z}\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\u{e0000}-\u{e0fff}]/gu, mark => `⟨U+${mark.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}⟩`)
}

// shellWord returns a text as one word of a shell, as pkg/names does: names that others have chosen are part of commands. A terminal
// acts on some characters even within quotes, and others are not seen: these are escaped.
export function shellWord(text: string): string {
  if (/^[A-Za-z0-9._:/=@%+,][A-Za-z0-9._:/=@%+,-]*$/.test(text)) return text
  if (visible(text) === text && !/[\n\t]/.test(text)) return "'" + text.replace(/'/g, "'\\''") + "'"
  const octal = (c: string) => encodeURIComponent(c).replace(/%(..)|./g, (one, hex) => '\\' + (hex ? parseInt(hex, 16) : one.charCodeAt(0)).toString(8).padStart(3, '0'))
  return "$'" + text.replace(/[^ -~]|[!'\\]/gu, octal) + "'"
}

// accessChanges returns the roles that subjects gain or lose, each with its namespaces.
export function accessChanges(namespaces: NamespacePlan[]): { change: string; text: string; namespaces: string[] }[] {
  const found = new Map<string, { change: string; text: string; namespaces: string[] }>()
  for (const n of namespaces) for (const a of n.access ?? []) {
    const text = `${a.kind} ${a.namespace ? a.namespace + '/' : ''}${a.name} ${a.change === 'Gained' ? 'gains' : 'loses'} ${a.roleKind}/${a.role}`
    if (!found.has(text)) found.set(text, { change: a.change, text, namespaces: [] })
    found.get(text)!.namespaces.push(n.name)
  }
  return [...found.values()]
}

// maxDrawn bounds the namespaces of a drawing.
export const maxDrawn = 500

export interface Drawn { node: Node; name: string; label: string; title: string; x: number; y: number; end: number; parent?: Drawn }

// layout places rows from left to right: leaves below each other, parents in the middle of their children. Widths are estimated in points.
export function layout(list: Row[]): { nodes: Drawn[]; width: number; height: number } {
  const lineHeight = 24, letter = 7.6, gap = 64, margin = 16
  const widths: number[] = []
  const labels = list.map(({ node, expanded }) => node.member.name + (!expanded && node.descendants ? `  +${node.descendants}` : ''))
  list.forEach((row, i) => { widths[row.depth] = Math.max(widths[row.depth] ?? 0, labels[i].length * letter + gap) })
  const lefts: number[] = []
  widths.reduce((left, width, depth) => { lefts[depth] = left; return left + width }, margin)
  const nodes: Drawn[] = list.map((row, i) => ({
    node: row.node, name: row.node.member.name, label: labels[i], x: lefts[row.depth], y: 0, end: lefts[row.depth] + 22 + labels[i].length * letter,
    title: [row.node.member.name, ...(row.node.member.problems ?? []).map(c => `${words(c.reason)}: ${c.message}`)].join('\n'),
  }))
  const children: number[][] = list.map(() => [])
  list.forEach((row, i) => { if (row.parent >= 0) { children[row.parent].push(i); nodes[i].parent = nodes[row.parent] } })
  let leaves = 0
  // Rows are in the order of their first visit: leaves first from the top, then parents from the bottom.
  list.forEach((_, i) => { if (!children[i].length) nodes[i].y = margin + (leaves++ + 0.5) * lineHeight })
  for (let i = list.length - 1; i >= 0; i--) {
    const below = children[i]
    if (below.length) nodes[i].y = (nodes[below[0]].y + nodes[below[below.length - 1]].y) / 2
  }
  return { nodes, width: Math.ceil((lefts[lefts.length - 1] ?? margin) + (widths[widths.length - 1] ?? 0)), height: Math.ceil(2 * margin + leaves * lineHeight) }
}
