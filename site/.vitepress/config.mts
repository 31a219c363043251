// The site of the pages in docs. hack/site.sh copies them, the front page and this folder into _output/site.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import GithubSlugger from 'github-slugger'
import { defineConfig } from 'vitepress'

const source = join(import.meta.dirname, '../pages')
const base = process.env.SITE_BASE ?? '/'
const version = process.env.SITE_VERSION ?? 'main'
const repository = 'https://github.com/hierarchy-apiserver/hierarchy-apiserver'

// The navigation is docs/README.md: a group for each heading, and an item for each link in its list.
function sidebar() {
  const groups: { text: string; collapsed?: boolean; items: { text: string; link: string }[] }[] = []
  for (const line of readFileSync(join(source, 'README.md'), 'utf8').split('\n')) {
    const heading = line.match(/^## (.+)/)
    if (heading) groups.push({ text: heading[1], items: [] })
    const page = line.match(/^- \[([^\]]+)\]\(([\w./-]+)\.md\)/)
    if (page) groups.at(-1)!.items.push({ text: page[1].replaceAll('`', ''), link: '/' + page[2] })
  }
  return groups.filter((group) => group.items.length).map((group, i) => ({ ...group, collapsed: i > 2 }))
}

// Anchors as the code host makes them, so that one link is right in both places.
const slug = (text: string) => new GithubSlugger().slug(text)

export default defineConfig({
  title: 'HNS',
  description: 'Hierarchical Namespaces for Kubernetes: trees of namespaces with inherited policy',
  base,
  srcDir: source,
  outDir: join(source, '../dist'),
  cleanUrls: true,
  lastUpdated: false,
  rewrites: { 'README.md': 'contents.md' },
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: `${base}icon.svg` }]],
  markdown: {
    anchor: { slugify: slug },
    config(md) {
      // Files outside docs are on the code host; images are copied next to the pages.
      const link = md.renderer.rules.link_open ?? ((tokens, i, options, _env, self) => self.renderToken(tokens, i, options))
      md.renderer.rules.link_open = (tokens, i, options, env, self) => {
        const href = tokens[i].attrGet('href') ?? ''
        if (href.startsWith('../')) tokens[i].attrSet('href', `${repository}/blob/main/${href.slice(3)}`)
        return link(tokens, i, options, env, self)
      }
    },
  },
  themeConfig: {
    logo: '/icon.svg',
    search: { provider: 'local' },
    sidebar: sidebar(),
    outline: { level: [2, 3] },
    nav: [
      { text: 'Docs', link: '/quickstart' },
      { text: 'Migrate from HNC', link: '/migration' },
      {
        text: version,
        items: [
          { text: 'Changelog', link: `${repository}/blob/main/CHANGELOG.md` },
          { text: 'Releases', link: `${repository}/releases` },
          { text: 'Versions and support', link: '/versioning' },
        ],
      },
    ],
    socialLinks: [{ icon: 'github', link: repository }],
    editLink: { pattern: `${repository}/edit/main/docs/:path`, text: 'Edit this page' },
    footer: { message: 'Apache License 2.0' },
  },
})
