import { type HtmlValue, html, type Markup } from '#web/html.ts';
import { layout, type Site } from '#web/layout.ts';
import { strangersName } from './strangers-text.ts';
import { thumbnail } from './thumbnail.ts';
import { watchLink } from './watch-link.ts';

/** The head of all pages of a collection. */
export interface CollectionHead {
  readonly site: Site;
  readonly slug: string;
  /** A name that a stranger chose. */
  readonly name: string;
  readonly kind: 'import' | 'parent' | 'gallery';
  readonly icon: string | null;
  /** A note about missing sales. `null` if nothing is missing. */
  readonly note: string | null;
}

const tabs = {
  items: { path: '', words: 'Items' },
  activity: { path: '/activity', words: 'Activity' },
  days: { path: '/days', words: 'Sales by day' },
  holders: { path: '/holders', words: 'Holders' },
} as const;

export type CollectionTab = keyof typeof tabs;

const kindWords = {
  import: 'Listed by the operator of this server',
  parent: 'The children of',
  gallery: 'The gallery of',
} as const;

interface CollectionParts {
  readonly tab: CollectionTab;
  readonly description: string;
  /** Content between the name and the tabs. */
  readonly intro?: HtmlValue;
  readonly main: HtmlValue;
}

/** The frame of a collection's pages: the name, and links to all pages of the collection. */
export function collectionFrame(
  { site, slug, name, kind, icon, note }: CollectionHead,
  { tab, description, intro, main }: CollectionParts,
): Markup {
  const words = tab === 'items' ? name : `${tabs[tab].words} · ${name}`;
  const link = (of: CollectionTab): Markup =>
    html`<a href="/collection/${slug}${tabs[of].path}"${of === tab ? html` aria-current="page"` : ''}>${tabs[of].words}</a> `;
  return layout({
    title: `${words} · Collection · Satscribe`,
    description,
    site,
    main: html`<section>
<h1 class="wrap named">${icon !== null && thumbnail(icon, 64)}<span>${strangersName(name)}</span></h1>
<p class="faint">${kindWords[kind]}${kind !== 'import' && html` <a class="mono wrap" href="/inscription/${slug}">${slug}</a>`} · <a href="/market">Market</a> · ${watchLink({ kind: 'sales', collection: slug }, 'Watch its sales')}${kind === 'parent' && html` · ${watchLink({ kind: 'children', parent: slug }, 'Watch new items')}`}</p>
${intro}
${note !== null && html`<p class="faint">${note}</p>`}
<nav class="tabs" aria-label="Of the collection">${link('items')}${link('activity')}${link('days')}${link('holders')}</nav>
</section>
${main}`,
  });
}
