import { textCharsMax } from '#kernel/requests/request-values.ts';
import { grouped, plural, timeWords } from '#web/format.ts';
import { type HtmlValue, html, type Markup } from '#web/html.ts';
import { layout, type Site } from '#web/layout.ts';
import { heightLink } from '#web/parts/identifiers.ts';
import { keyForm } from '#web/parts/key-form.ts';
import { isolated } from '#web/parts/strangers-text.ts';
import { type ShownCondition, stateWords, watchWords } from '#web/parts/watch-words.ts';

/** A thing that a watch found. */
export interface FindingLine {
  readonly href: string;
  /** The thing itself, such as an inscription id. */
  readonly name: string;
  /** Words that follow the name, such as a price. */
  readonly detail: string | null;
  readonly state: keyof typeof stateWords;
  /** `null` if no block has the thing. */
  readonly height: number | null;
  /** Unix seconds of the last change. */
  readonly changedAt: number;
}

/** A watch of the key, with its newest findings. */
export interface WatchLine {
  readonly id: string;
  readonly kind: string;
  readonly condition: ShownCondition;
  /** The host that gets webhooks. `null` if the watch has no webhook. */
  readonly webhookHost: string | null;
  /** The reason why the watch has ended. `null` if it is active. */
  readonly endReason: string | null;
  /** Unix seconds. */
  readonly createdAt: number;
  /** Number of things that the watch has found and still keeps. */
  readonly found: number;
  /** The newest changes first. */
  readonly findings: readonly FindingLine[];
  /** Path of the feed. `null` if this process makes no feeds of watches. */
  readonly feed: string | null;
}

export interface WatchesView {
  readonly site: Site;
  readonly account: string;
  readonly watches: readonly WatchLine[];
  /** Maximum number of active watches of a key. */
  readonly watchesMax: number;
}

const title = 'Your watches · Satscribe';
const description = 'The saved searches and other watches of your key, and what they found.';

/** The page of all watches of the key that the browser keeps. */
export function watchesPage({ site, account, watches, watchesMax }: WatchesView): Markup {
  return layout({
    title,
    description,
    site,
    main: html`<section class="watches">
<h1>Your watches</h1>
<p>${plural(watches.length, 'watch', 'watches')} of <b>${account}</b>, with this browser’s key. <span class="faint">A key can have ${watchesMax}. Programs read findings and get webhooks: <a href="/docs/#/watches">API reference</a>.</span></p>
${
  watches.length === 0
    ? html`<p class="empty">Nothing is watched yet. Search for something, or open a collection, a rune or an address, and follow its link “Watch”.</p>`
    : watches.map(watchSection)
}
</section>`,
  });
}

function watchSection(watch: WatchLine): Markup {
  const { id, kind, condition, webhookHost, endReason, createdAt, found, findings, feed } = watch;
  return html`<section class="watch" aria-labelledby="watch-${id}">
<h2 class="wrap" id="watch-${id}">${watchWords(kind, condition)}</h2>
<p class="faint">Since ${timeWords(createdAt)} · ${found === 0 ? 'nothing found yet' : `${grouped(found)} found`}${webhookHost !== null && html` · webhook to <span class="wrap">${webhookHost}</span>`}${endReason !== null && html` · <b>ended: ${endReason}</b>`} · id <code class="wrap">${id}</code></p>
${findings.length > 0 && findingsList(findings)}
<div class="tools">${feed !== null && html`<a href="${feed}">Feed (Atom)</a> `}<form action="/watches/delete" method="post"><input type="hidden" name="id" value="${id}"><button class="button" type="submit">Delete<span class="unseen"> this watch</span></button></form></div>
</section>
`;
}

const findingsList = (findings: readonly FindingLine[]): Markup =>
  html`<ol class="findings">${findings.map(
    ({ href, name, detail, state, height, changedAt }) =>
      html`<li><a class="mono wrap" href="${href}">${isolated(name)}</a> ${detail !== null && html`<span class="wrap">${detail}</span> `}<span class="chip">${stateWords[state]}${height !== null && html` ${heightLink(height)}`}</span> <span class="faint">${timeWords(changedAt)}</span></li>
`,
  )}</ol>`;

/** The reason why a browser cannot use watches. `off`: this server has no watches. */
export type NoWatchesReason = 'none' | 'invalid' | 'scope' | 'off';

const reasonWords: Readonly<Record<Exclude<NoWatchesReason, 'off'>, string>> = {
  none: 'Watches belong to a key. Enter yours.',
  invalid: 'The key in this browser is not valid here: it was mistyped or revoked. Enter another key.',
  scope: 'The key in this browser has no scope “search”, which watches need. Enter another key.',
};

/**
 * The page that is shown if the browser has no key with the scope of searches.
 *
 * @param to the path that the reader wanted
 */
export function noWatchesPage(site: Site, reason: NoWatchesReason, to: string): Markup {
  return layout({
    title,
    description,
    site,
    main: html`<section>
<h1>Your watches</h1>
${
  reason === 'off'
    ? html`<p>This server keeps no watches. Searches have feeds, and all changes are in <a href="/docs/#/events">the events</a>.</p>`
    : keyForm({ words: reasonWords[reason], to, button: 'Continue', isWrong: reason !== 'none' })
}
</section>`,
  });
}

export interface NewWatchView {
  readonly site: Site;
  readonly kind: string;
  readonly condition: ShownCondition;
  /** Random digits that tell a repeated form from a new one. */
  readonly form: string;
  /** Fields that the form sends unchanged. */
  readonly fields: Readonly<Record<string, string>>;
  /** Sentences about things that this service cannot find, or finds only in blocks. */
  readonly notes: readonly string[];
  /** The webhook of a form that was refused, and the reason of the refusal. `null` for a new form. */
  readonly refused: { readonly webhookUrl: string; readonly reason: string } | null;
}

/** Whether only blocks tell what a watch finds (docs/watches.md, "Other watches"). */
const isToldByBlocks = (kind: string, { event, cursed }: ShownCondition): boolean =>
  kind === 'runes' ? event === 'minted-out' : kind === 'search' && cursed !== undefined;

const noteList = (notes: readonly string[]): HtmlValue =>
  notes.map(
    (note) => html`<p class="hint">${note}</p>
`,
  );

/** The form that saves a watch. */
export function newWatchPage(view: NewWatchView): Markup {
  const { site, kind, condition, form, fields, notes, refused } = view;
  const pending = isToldByBlocks(kind, condition) ? '' : 'it is in the mempool, when ';
  return layout({
    title: 'Watch this · Satscribe',
    description: 'Saves a search, or another watch, and tells you what it finds from now on.',
    site,
    main: html`<section class="watches">
<h1>Watch this</h1>
<p class="wrap">${watchWords(kind, condition)}</p>
<p>From now on, <a href="/watches">your watches</a> list each match within seconds: when ${pending}a block has it, and when it is ${pending !== '' && 'replaced or '}reorganised away.</p>
${noteList(notes)}${refused !== null && html`<p class="notice" role="alert">Nothing was saved: ${refused.reason.replace(/\.$/u, '')}.</p>`}
<form class="order" action="/watches/new" method="post">
<input type="hidden" name="form" value="${form}">
${Object.entries(fields).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
<p class="field"><label for="webhook">Webhook (optional)</label><input id="webhook" name="webhookUrl" type="url" maxlength="${textCharsMax}" autocomplete="off" spellcheck="false" placeholder="https://…" value="${refused?.webhookUrl ?? ''}" aria-describedby="webhook-hint"><small class="hint" id="webhook-hint">A URL of yours that gets each change, signed with a secret that the next page shows once.</small></p>
<p><button class="button primary" type="submit">Watch</button></p>
</form>
</section>`,
  });
}

export interface SavedWatchView {
  readonly site: Site;
  readonly id: string;
  readonly kind: string;
  readonly condition: ShownCondition;
  readonly secret: string;
  /** Sentences about things that this service cannot find, or finds only in blocks. */
  readonly notes: readonly string[];
}

/** The page with the webhook secret of a new watch. No other page shows the secret. */
export function savedWatchPage({ site, id, kind, condition, secret, notes }: SavedWatchView): Markup {
  return layout({
    title: 'Watching · Satscribe',
    description: 'The watch is saved.',
    site,
    main: html`<section class="watches">
<h1>Watching</h1>
<p class="wrap">${watchWords(kind, condition)}</p>
${noteList(notes)}<p>Its id, which its messages have: <code class="wrap">${id}</code></p>
<p>The secret that signs its webhooks, in hex. Keep it now: it is shown only here.</p>
<p><code class="wrap">${secret}</code></p>
<p><a class="button" href="/watches">Your watches</a></p>
</section>`,
  });
}
