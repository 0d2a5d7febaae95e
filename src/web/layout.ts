import type { Height } from '#kernel/primitives/height.ts';
import { assets } from './assets.ts';
import { grouped } from './format.ts';
import { type HtmlValue, html, type Markup } from './html.ts';

/** Facts about the instance on every page. Null where it is unknown (error pages). */
export interface Site {
  readonly network: string;
  readonly tipHeight: Height | null;
}

export interface Layout {
  readonly title: string;
  readonly site: Site | null;
  /** Shown in the search box. */
  readonly query?: string;
  /** The mode of that search (`in`, `all`, `words`, `fuzzy`), which the box keeps. */
  readonly mode?: Readonly<Record<string, string>>;
  /** The page has its own search box. */
  readonly isHome?: boolean;
  readonly main: HtmlValue;
}

/** The frame of all pages. */
export function layout({ title, site, query = '', mode = {}, isHome = false, main }: Layout): Markup {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="format-detection" content="telephone=no">
<title>${title}</title>
<link rel="icon" type="image/svg+xml" href="${assets.icon}">
<link rel="stylesheet" href="${assets.style}">
<script src="${assets.script}" type="module"></script>
</head>
<body>
<a class="skip" href="#main">Skip to content</a>
<header class="top">
  <a class="brand" href="/"><img src="${assets.icon}" alt="" width="26" height="26">Satscribe</a>
  ${!isHome && searchForm(query, 'compact', mode)}
  <nav aria-label="Main">
    <a href="/inscriptions">Inscriptions</a>
    <a href="/blocks">Blocks</a>
    <a href="/market">Market</a>
    <a href="/status">Status</a>
    ${site !== null && siteWords(site)}
  </nav>
</header>
<main id="main">
${main}
</main>
<footer class="foot">
  <nav aria-label="More"><a href="/runes">Runes</a> <a href="/satributes">Satributes</a> <a href="/docs/">API reference</a> <a href="/openapi.json">OpenAPI</a></nav>
</footer>
<div class="drop" hidden aria-hidden="true"><p>Drop the file to search for it.<br><small>It is hashed here and never leaves your machine.</small></p></div>
<p class="toast" role="status" aria-live="polite" hidden></p>
</body>
</html>
`;
}

function siteWords({ network, tipHeight }: Site): Markup {
  const words = tipHeight === null ? 'nothing indexed yet' : `block ${grouped(tipHeight)}`;
  return html`<span class="site"><b>${network}</b> ${words}</span>`;
}

/** The one search box; `/` focuses it. */
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
    <label class="file">Is a file already inscribed? <input type="file" class="pick" aria-label="Choose a file to search for"><span>Choose it</span> or drop it anywhere.</label>
  </div>`
  }
</form>`;
}
