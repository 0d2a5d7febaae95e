import { grouped, plural } from '#web/format.ts';
import { type HtmlValue, html, type Markup } from '#web/html.ts';
import { layout, type Site } from '#web/layout.ts';
import { timeChart } from '#web/parts/chart.ts';
import { keyForm } from '#web/parts/key-form.ts';

/** Number of requests with a key on one day. */
export interface UsageDay {
  /** UTC day, as in `2026-11-21`. */
  readonly day: string;
  readonly requests: number;
  /** Number of requests that were refused because of the rate limit. */
  readonly refused: number;
}

/** Number of requests with a key to a group of paths. */
export interface UsageGroup {
  readonly name: string;
  readonly requests: number;
  readonly refused: number;
}

export interface AccountView {
  readonly site: Site;
  readonly account: string;
  /** The first characters of the key. */
  readonly prefix: string;
  readonly scopes: readonly string[];
  /** The rate limit in words. `null` if there is no limit. */
  readonly rate: string | null;
  /** Day of creation, as in `2026-11-21`. */
  readonly created: string;
  readonly lastUsed: string | null;
  /** Prices and limits that only this account has, in words. */
  readonly terms: readonly string[];
  /** All days of the period, oldest first. */
  readonly days: readonly UsageDay[];
  /** Groups of paths, the group with most requests first. */
  readonly groups: readonly UsageGroup[];
}

const title = 'Your key · Satscribe';
const description = 'The scopes and limits of your key, and its usage by day.';

const row = (words: string, value: HtmlValue): Markup =>
  html`<div><dt>${words}</dt><dd>${value}</dd></div>\n`;

/** The page about the key that a browser keeps in its cookie. */
export function accountPage(view: AccountView): Markup {
  const { site, account, prefix, scopes, rate, created, lastUsed, terms, days } = view;
  const total = days.reduce((sum, { requests }) => sum + requests, 0);
  return layout({
    title,
    description,
    site,
    main: html`<section>
<h1>Your key</h1>
<p>This browser keeps a key of the account <b>${account}</b> until you close it.</p>
<dl class="table">
${row('Key', html`<span class="mono">${prefix}…</span>`)}
${row('Scopes', scopes.join(', '))}
${row('Limit', rate ?? 'none')}
${
  terms.length > 0 &&
  row(
    'Own terms',
    terms.map((words) => html`<div>${words}</div>`),
  )
}
${row('Created on', created)}
${row('Last used on', lastUsed ?? html`<span class="faint">not used yet</span>`)}
</dl>
<form action="/key/forget" method="post"><input type="hidden" name="to" value="/account"><p><button class="button" type="submit">Forget the key in this browser</button></p></form>
<p><a href="/watches">Watches of this key</a></p>
<p class="faint">The key itself stays valid. Ask the operator to revoke it if it was stolen.</p>
<h2>Usage</h2>
<p>${plural(total, 'request')} in ${plural(days.length, 'day')}.${refusedWords(days)} <span class="faint">Counts are a few seconds old. Days are in UTC.</span></p>
${timeChart(
  days.map(({ day, requests }) => ({ label: day, count: requests, href: null })),
  {
    id: 'usage',
    title: 'Requests by day',
    column: 'Requests',
    amountWords: (count) => plural(count, 'request'),
  },
)}
${groupsTable(view)}
</section>`,
  });
}

function refusedWords(days: readonly UsageDay[]): string {
  const refused = days.reduce((sum, day) => sum + day.refused, 0);
  return refused === 0 ? '' : ` ${plural(refused, 'more', 'more')} were refused because of the limit.`;
}

function groupsTable({ groups }: AccountView): Markup {
  if (groups.length === 0) return html`<p class="empty">No request has used this key yet.</p>`;
  return html`<div class="scroll"><table class="rows stacked">
<thead><tr><th scope="col">Paths</th><th scope="col" class="num">Requests</th><th scope="col" class="num">Refused</th></tr></thead>
<tbody>
${groups.map(
  ({ name, requests, refused }) =>
    html`<tr><th scope="row">${name}</th><td class="num" data-label="Requests">${grouped(requests)}</td><td class="num" data-label="Refused">${grouped(refused)}</td></tr>\n`,
)}
</tbody>
</table></div>`;
}

/** The reason why there is no key to show. `off`: this server has no keys. */
export type NoKeyReason = 'none' | 'invalid' | 'off';

const reasonWords: Readonly<Record<Exclude<NoKeyReason, 'off'>, string>> = {
  none: 'Enter your key to see its scopes, limits and usage.',
  invalid: 'The key in this browser is not valid here: it was mistyped or revoked. Enter another key.',
};

/** The account page that is shown if there is no key. */
export function noKeyPage(site: Site, reason: NoKeyReason): Markup {
  return layout({
    title,
    description,
    site,
    main: html`<section>
<h1>Your key</h1>
${
  reason === 'off'
    ? html`<p>This server needs no keys: everything here is open.</p>`
    : keyForm({ words: reasonWords[reason], to: '/account', button: 'Show', isWrong: reason === 'invalid' })
}
</section>`,
  });
}
