/** A page of the crawl. Its response was HTML. */
export interface CrawledPage {
  readonly path: string;
  /** The page's path without ids, numbers and names. All pages of one kind have the same text here. */
  readonly kind: string;
}

export interface Crawl {
  readonly pages: readonly CrawledPage[];
  /** Links that lead to an error, and links that lead to something other than a page but do not say so. */
  readonly faults: readonly string[];
}

/**
 * Number of pages of one kind that are read. The first page shows the form of the kind. The others may have parts that
 * the first page lacks.
 */
const perKind = 3;

/** Words of a link that may lead to something other than a page. */
const saysSo =
  /\b(?:JSON|CSV|Atom|feed|API|OpenAPI|PNG|SVG|raw|original|download|content|file|preview|metrics|open)\b/iu;

interface Link {
  readonly href: string;
  readonly words: string;
}

/** Links of a page, including the links of its frame, which every page has. */
function linksOf(html: string): Link[] {
  const links = [...html.matchAll(/<a\b([^>]*)>([\s\S]*?)<\/a>/gu)].flatMap(
    ([, attributes = '', inner = '']) => {
      const href = attributeOf(attributes, 'href');
      if (href === null) return [];
      const label = attributeOf(attributes, 'aria-label') ?? '';
      const title = attributeOf(attributes, 'title') ?? '';
      const isDownload = /\bdownload\b/u.test(attributes);
      return [
        {
          href,
          words: `${inner.replaceAll(/<[^>]*>/gu, ' ')} ${label} ${title}${isDownload ? ' download' : ''}`,
        },
      ];
    },
  );
  return links;
}

function attributeOf(attributes: string, name: string): string | null {
  const value = new RegExp(`\\b${name}="([^"]*)"`, 'u').exec(attributes)?.[1];
  return value === undefined ? null : decoded(value);
}

const decoded = (text: string): string =>
  text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');

/** Parameters that change the form of a page; other parameters choose its contents. */
const shaping = ['text', 'hash', 'in', 'tab', 'kind', 'page', 'cursor', 'sat'];

/** The kind of a page. Each part of its path that is not a plain word becomes a star. */
export function kindOf(path: string): string {
  const { pathname, searchParams } = new URL(path, 'http://127.0.0.1');
  const parts = pathname
    .split('/')
    .map((part, index) => (index <= 1 || /^[a-z-]{3,20}$/u.test(part) ? part : '*'));
  const names = shaping.filter((name) => searchParams.has(name));
  return `${parts.join('/')}${names.length === 0 ? '' : `?${names.join('&')}`}`;
}

/** A link to follow. */
interface Step {
  readonly path: string;
  readonly words: string;
  readonly on: string;
}

interface Reading {
  readonly fault: string | null;
  /** The HTML of the page. `null` if it is not a page of this server. */
  readonly html: string | null;
}

async function read(base: string, { path, words, on }: Step): Promise<Reading> {
  const answer = await fetch(`${base}${path}`, { headers: { accept: 'text/html,*/*;q=0.8' } });
  const type = answer.headers.get('content-type') ?? '';
  const isPage = type.startsWith('text/html');
  const isUnsaid = !isPage && words !== '' && !saysSo.test(words);
  const wrong = answer.status >= 400 ? String(answer.status) : `${type}, linked as "${words.trim()}"`;
  const fault = answer.status >= 400 || isUnsaid ? `${path} on ${on}: ${wrong}` : null;
  // contents of others and the reference are not pages of this server
  if (!isPage || /^\/(?:content|preview|docs|r)\b/u.test(path)) {
    await answer.body?.cancel();
    return { fault, html: null };
  }
  return { fault, html: await answer.text() };
}

/** Links of a page to this server, as paths. */
function stepsOn(base: string, path: string, html: string): Step[] {
  return linksOf(html).flatMap(({ href, words }) => {
    const { origin, pathname, search } = new URL(href, `${base}${path}`);
    const isOurs = origin === base && !pathname.startsWith('/assets/');
    return isOurs ? [{ path: `${pathname}${search}`, words, on: path }] : [];
  });
}

/**
 * Follows all links from some pages on, like a browser. Reads a few pages of each kind, and judges the response of each
 * link.
 */
export async function crawl(base: string, from: readonly string[]): Promise<Crawl> {
  const queue: Step[] = from.map((path) => ({ path, words: '', on: 'the start' }));
  const seen = new Set<string>(from);
  const counts = new Map<string, number>();
  const pages: CrawledPage[] = [];
  const faults: string[] = [];
  for (let step = queue.shift(); step !== undefined; step = queue.shift()) {
    const kind = kindOf(step.path);
    const count = counts.get(kind) ?? 0;
    if (count >= perKind) continue;
    counts.set(kind, count + 1);
    const { fault, html } = await read(base, step);
    if (fault !== null) faults.push(fault);
    if (html === null) continue;
    pages.push({ path: step.path, kind });
    const steps = stepsOn(base, step.path, html).filter(({ path }) => !seen.has(path));
    for (const next of steps) seen.add(next.path);
    queue.push(...steps);
  }
  return { pages, faults };
}
