// The forest as a drawing: trees from left to right, to look at and to save.
import { useMemo, useRef, useState } from 'preact/hooks'
import { layout, maxDrawn, Node, plural, rows, Filter } from './model'
import { navigate, save, toNamespace } from './parts'

// Colors of a saved drawing, which has no style sheet. The page's own style sheet takes precedence over them.
const colors = { text: '#1b2330', line: '#c3cad4', node: '#2251b8', bad: '#a8231b', back: '#ffffff' }

export function Drawing({ roots, filter, isExpanded }: { roots: Node[]; filter: Filter; isExpanded: (node: Node) => boolean }) {
  const svg = useRef<SVGSVGElement>(null)
  const [failed, setFailed] = useState('')
  const list = rows(roots, filter, isExpanded)
  const { nodes, width, height } = useMemo(() => layout(list.slice(0, maxDrawn)), [list.length, roots, filter])
  const source = () => new XMLSerializer().serializeToString(svg.current!)
  const saveSVG = () => save('forest.svg', 'image/svg+xml', source())
  const savePNG = async () => {
    try {
      const image = new Image()
      image.src = 'data:image/svg+xml;charset=utf-8,' + encodeURIComponent(source())
      await image.decode()
      // Browsers draw pictures of at most about 16,000 points.
      const scale = Math.min(2, 16000 / Math.max(width, height))
      const canvas = document.createElement('canvas')
      canvas.width = width * scale
      canvas.height = height * scale
      canvas.getContext('2d')!.drawImage(image, 0, 0, canvas.width, canvas.height)
      canvas.toBlob(blob => blob ? save('forest.png', 'image/png', blob) : setFailed('The drawing is too large for a PNG. Save it as SVG.'))
    } catch { setFailed('The browser cannot make a PNG of the drawing. Save it as SVG.') }
  }
  return <section class="box drawing" aria-label="Drawing of the forest">
    <div class="tools"><span class="dim" role="status">{failed || (list.length > maxDrawn ? `The first ${plural(maxDrawn, 'namespace')} of ${list.length}: collapse trees in the table, or filter` : plural(list.length, 'namespace'))}</span>
      <span class="grow" /><button onClick={saveSVG}>Save SVG</button><button onClick={savePNG}>Save PNG</button></div>
    <div class="canvas" tabIndex={0} role="group" aria-label="Drawing, scrollable">
      <svg ref={svg} xmlns="http://www.w3.org/2000/svg" width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="group" aria-label={`${plural(nodes.length, 'namespace')} as trees`}
        font-family="system-ui, sans-serif" font-size="13">
        <rect width={width} height={height} fill={colors.back} class="back" />
        {nodes.map(n => n.parent && <path key={'to ' + n.name} d={`M${n.parent.end} ${n.parent.y}H${n.x - 38}C${n.x - 20} ${n.parent.y} ${n.x - 26} ${n.y} ${n.x - 8} ${n.y}`} fill="none" stroke={colors.line} class="edge" />)}
        {nodes.map(n => <a key={n.name} href={toNamespace(n.name)} class={n.node.member.problems?.length ? 'bad' : ''} onClick={(e: Event) => { e.preventDefault(); navigate(toNamespace(n.name)) }} data-namespace={n.name}>
          <title>{n.title}</title>
          <circle cx={n.x} cy={n.y} r={5} fill={n.node.member.problems?.length ? colors.bad : n.node.member.kind === 'full' ? colors.node : colors.back} stroke={n.node.member.problems?.length ? colors.bad : colors.node} stroke-width="2" />
          <text x={n.x + 11} y={n.y + 4.5} fill={n.node.member.problems?.length ? colors.bad : colors.text} font-weight={n.node.member.problems?.length ? 'bold' : 'normal'}>{n.label}</text>
        </a>)}
      </svg>
    </div>
    <p class="dim">A filled circle is a full namespace, an open one a sub-namespace; red ones have problems.</p>
  </section>
}
