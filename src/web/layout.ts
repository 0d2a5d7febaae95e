import type { Height } from '#kernel/primitives/height.ts';
import { addresses, assetAddress } from './assets.ts';
import { grouped } from './format.ts';
import { type HtmlValue, html, type Markup } from './html.ts';
import { sharingPlace } from './parts/sharing-tags.ts';
import { plainTitle } from './titles-and-traits.ts';

/** The reason why pages may be out of date, and the consequence for the reader. */
export interface Banner {
  readonly kind: 'starting' | 'syncing' | 'behind' | 'no-node';
  readonly words: string;
}

/** Facts about this server that every page shows. */
export interface Site {
  readonly network: string;
  readonly tipHeight: Height | null;
  /** `null` if the index is up to date. */
  readonly banner: Banner | null;
}

export interface Layout {
  readonly title: string;
  /** One sentence about this page alone, for search engines and shared links. */
  readonly description: string;
  /** `null` if the network is not known yet. */
  readonly site: Site | null;
  /** Scripts of this page, by their names in `assets/script`. */
  readonly scripts?: readonly string[];
  /** The text in the search box. */
  readonly query?: string;
  /** The mode of the search in the box (`in`, `all`, `words`, `fuzzy`). The box keeps the mode. */
  readonly mode?: Readonly<Record<string, string>>;
  /** Whether the page itself uses files that are dropped on it. If true, a dropped file does not start a search. */
  readonly takesFiles?: boolean;
  /** Whether the page has its own search box. If true, the frame has no search box. */
  readonly isHome?: boolean;
  readonly main: HtmlValue;
}

const links = (entries: readonly (readonly [href: string, words: string])[]): HtmlValue =>
  entries.map(([href, words]) => html`<a href="${href}">${words}</a> `);

const mainLinks = links([
  ['/inscribe', 'Inscribe'],
  ['/inscriptions', 'Inscriptions'],
  ['/blocks', 'Blocks'],
  ['/market', 'Market'],
  ['/runes', 'Runes'],
  ['/status', 'Status'],
]);
const moreLinks = links([
  ['/mempool', 'Mempool'],
  ['/satributes', 'Satributes'],
  ['/account', 'Your key'],
  ['/docs/', 'API reference'],
  ['/openapi.json', 'OpenAPI (JSON)'],
]);
const themes = ['system', 'light', 'dark'];

const dropPlace = html`<div class="drop" hidden aria-hidden="true"><p>Drop the file to search for it.<br><small>It is hashed here and never leaves your machine.</small></p></div>`;

/** The frame of all pages. */
export function layout(page: Layout): Markup {
  const { site, takesFiles = false, main } = page;
  return html`<!doctype html>
<html lang="en">
${headOf(page)}
<body>
<a class="skip" href="#main">Skip to content</a>
${headerOf(page)}
${site !== null && bannerPlace(site)}
<main id="main">
${main}
</main>
<footer class="foot">
  <nav aria-label="More">${moreLinks}</nav>
  <fieldset class="theme" hidden><legend>Theme</legend>${themes.map((theme) => html`<label><input type="radio" name="theme" value="${theme}"> ${theme}</label>`)}</fieldset>
</footer>
${!takesFiles && dropPlace}
<p class="toast" role="status" aria-live="polite" hidden></p>
</body>
</html>
`;
}

function headOf({ scripts = [], ...page }: Layout): Markup {
  // the title and the description may contain names and searches of strangers, and a text in a page's head cannot be
  // isolated
  const [title, description] = [plainTitle(page.title), plainTitle(page.description)];
  return html`<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="format-detection" content="telephone=no">
<title>${title}</title>
<meta name="description" content="${description}">
<meta property="og:site_name" content="Satscribe">
<meta property="og:type" content="website">
<meta property="og:title" content="${title}">
<meta property="og:description" content="${description}">
${sharingPlace}
<meta name="theme-color" content="#faf7f0" media="(prefers-color-scheme: light)">
<meta name="theme-color" content="#111317" media="(prefers-color-scheme: dark)">
<link rel="icon" type="image/svg+xml" href="${addresses.icon}">
<link rel="apple-touch-icon" href="${addresses.touchIcon}">
<link rel="manifest" href="/manifest.webmanifest">
<link rel="preload" href="${addresses.headings}" as="font" type="font/woff2" crossorigin>
<link rel="stylesheet" href="${addresses.style}">
<script src="${addresses.theme}"></script>
<script src="${addresses.script}" type="module"></script>
${scripts.map((name) => html`<script src="${assetAddress(`script/${name}`)}" type="module"></script>\n`)}
</head>`;
}

function headerOf({ site, query = '', mode = {}, isHome = false }: Layout): Markup {
  return html`<header class="top${isHome ? '' : ' searching'}">
  <a class="brand" href="/" aria-label="Satscribe, the first page"><img src="${addresses.icon}" alt="" width="26" height="26"><span>Satscribe</span></a>
  ${!isHome && searchForm(query, 'compact', mode)}
  <nav class="wide" aria-label="Main">${mainLinks}</nav>
  <div class="about">${site !== null && siteWords(site)}
    <details class="menu"><summary aria-label="Menu"></summary><nav aria-label="Menu">${mainLinks}${moreLinks}</nav></details>
  </div>
</header>`;
}

function siteWords({ network, tipHeight }: Site): Markup {
  const isMain = network === 'mainnet';
  return html`<span class="site ${isMain ? 'main' : 'test'}"><b>${network}</b> ${tipPlace({ tipHeight })}</span>`;
}

/** The element with the tip's height. Live pages replace it. */
export function tipPlace({ tipHeight }: Pick<Site, 'tipHeight'>): Markup {
  const words = tipHeight === null ? 'nothing indexed yet' : `block ${grouped(tipHeight)}`;
  return html`<span class="tip" data-live="tip">${words}</span>`;
}

/** The element for the banner. Live pages replace it, so it exists also if there is no banner. */
export function bannerPlace({ banner }: Pick<Site, 'banner'>): Markup {
  return html`<div role="status" data-live="banner">${banner && html`<div class="banner"><p>${banner.words}</p></div>`}</div>`;
}

/** The search box of a page. The key `/` moves the focus to it. */
export function searchForm(
  query: string,
  size: 'compact' | 'large',
  mode: Readonly<Record<string, string>> = {},
): Markup {
  const label = mode['in'] === 'metadata' ? 'Search metadata' : 'Search';
  return html`<form class="search ${size}" action="/" method="get" role="search">
  <div class="box">
    <input name="q" type="search" value="${query}" required maxlength="10000" autocomplete="off" autocapitalize="off" spellcheck="false"
      aria-label="Search inscriptions" placeholder="${size === 'large' ? 'Words, an id, a number, a rune, or a file’s sha256' : label}">
    ${Object.entries(mode).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
    <button type="submit">${label}</button>
  </div>
  ${
    size === 'large' &&
    html`<div class="options">
    <span class="choice" role="radiogroup" aria-label="Where to search">
      <label><input type="radio" name="in" value="content" checked> contents</label>
      <label><input type="radio" name="in" value="metadata"> metadata</label>
    </span>
    <label title="Several texts, separated by commas; all of them must occur"><input type="checkbox" name="all" value="1"> comma-separated texts</label>
    <label title="All words of the text, whole, in any order"><input type="checkbox" name="words" value="1"> whole words</label>
    <label title="Also finds words that differ by a few letters"><input type="checkbox" name="fuzzy" value="1"> similar words</label>
  </div>`
  }
</form>`;
}
