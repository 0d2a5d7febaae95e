import type {
  ConsoleCell,
  ConsoleInput,
  ConsolePart,
  ConsoleSheet,
} from '#kernel/contracts/console-sheet.ts';
import { addresses } from '#web/assets.ts';
import { grouped } from '#web/format.ts';
import { type HtmlValue, html, type Markup } from '#web/html.ts';
import { choicesNav } from '#web/parts/choices.ts';
import { fact } from '#web/parts/facts.ts';
import { isolated } from '#web/parts/strangers-text.ts';

/** The person who reads a page of the console. */
export interface ConsoleReader {
  readonly account: string;
  /** The first characters of the key. */
  readonly prefix: string;
  readonly formToken: string;
}

/** Paths of the console's pages, in the order of its menu. */
const menu = [
  ['/console', 'Overview'],
  ['/console/orders', 'Orders'],
  ['/console/payouts', 'Payouts'],
  ['/console/withdrawals', 'Withdrawals'],
  ['/console/shops', 'Shops'],
  ['/console/collections', 'Collections'],
  ['/console/webhooks', 'Webhooks'],
  ['/console/coins', 'Coins'],
  ['/console/audit', 'Audit'],
  ['/console/sessions', 'Sessions'],
] as const;

export interface RefusedFormView {
  readonly network: string;
  /** Why nothing was done, and what to do. */
  readonly reason: string;
}

/** The answer to a form that no page of the console sent. It has no menu, because its sender may be a stranger. */
export const refusedFormPage = ({ network, reason }: RefusedFormView): Markup =>
  frame(
    'Nothing was done',
    network,
    null,
    html`<section class="confirming">
<h1>Nothing was done</h1>
<p class="notice" role="alert">${reason}</p>
<p><a class="button" href="/console">Open the console</a></p>
</section>`,
  );

/** The frame of the console: its own menu, no search box and no contents of inscriptions. */
function frame(title: string, network: string, reader: ConsoleReader | null, main: HtmlValue): Markup {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="format-detection" content="telephone=no">
<title>${title} · Satscribe console</title>
<link rel="icon" type="image/svg+xml" href="${addresses.icon}">
<link rel="stylesheet" href="${addresses.style}">
<script src="${addresses.theme}"></script>
</head>
<body class="console">
<a class="skip" href="#main">Skip to content</a>
<header class="top">
  <a class="brand" href="/console" aria-label="Satscribe console, the overview"><img src="${addresses.icon}" alt="" width="26" height="26"><span>Console</span></a>
  <div class="about"><span class="site ${network === 'mainnet' ? 'main' : 'test'}"><b>${network}</b></span>${reader !== null && signOutForm(reader)}</div>
</header>
${reader !== null && html`<nav class="rooms" aria-label="Console">${menu.map(([href, words]) => html`<a href="${href}">${words}</a> `)}</nav>`}
<main id="main">
${main}
</main>
</body>
</html>
`;
}

const tokenField = ({ formToken }: ConsoleReader): Markup =>
  html`<input type="hidden" name="token" value="${formToken}">`;

const signOutForm = (reader: ConsoleReader): Markup =>
  html`<form action="/console/sign-out" method="post">${tokenField(reader)}<button class="button" type="submit">Sign out</button></form>`;

export interface SignInView {
  readonly network: string;
  /** The path that the reader wanted. */
  readonly to: string;
  /** A sentence about the event that led here, such as the end of a session. Null: there was none. */
  readonly notice: string | null;
}

/** The page that asks for the key. */
export function signInPage({ network, to, notice }: SignInView): Markup {
  return frame(
    'Sign in',
    network,
    null,
    html`<section class="confirming">
<h1>Sign in</h1>
${notice !== null && html`<p class="notice" role="alert">${notice}</p>`}
<form action="/console/sign-in" method="post">
<input type="hidden" name="to" value="${to}">
${keyField('Key with the scope admin')}
<p><button class="button primary" type="submit">Sign in</button></p>
</form>
<p class="faint">Make a key with <span class="mono">satscribe keys create --account NAME --scope admin</span>. A session ends after 30 minutes without a request, and after 8 hours.</p>
</section>`,
  );
}

const hiddenFields = (fields: Readonly<Record<string, string>>): Markup[] =>
  Object.entries(fields).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`);

const inputOf = ({
  name,
  label,
  maxLength,
  isRequired,
  value,
}: ConsoleInput & { readonly value: string }): Markup =>
  html`<p class="field"><label for="${name}">${label}</label><input id="${name}" name="${name}" value="${value}"${isRequired && html` required`} maxlength="${maxLength}" autocomplete="off" spellcheck="false"></p>`;

const keyField = (label: string): Markup =>
  html`<p class="field"><label for="key">${label}</label><input id="key" name="key" type="password" required maxlength="200" autocomplete="off" spellcheck="false" placeholder="satscribe_…"></p>`;

export interface SheetView {
  readonly network: string;
  readonly reader: ConsoleReader;
  readonly sheet: ConsoleSheet;
  /** The result of a form, or the reason why nothing was done. Null: the reader sent no form. */
  readonly notice?: string | null;
}

export function sheetPage({ network, reader, sheet, notice = null }: SheetView): Markup {
  return frame(
    sheet.title,
    network,
    reader,
    html`<section>
<h1>${isolated(sheet.title)}</h1>
${notice !== null && html`<p class="notice" role="status">${isolated(notice)}</p>`}
${sheet.parts.map((part) => partOf(part, reader))}
</section>`,
  );
}

function partOf(part: ConsolePart, reader: ConsoleReader): HtmlValue {
  switch (part.kind) {
    case 'words':
      return part.words.map((words) => html`<p>${isolated(words)}</p>\n`);
    case 'heading':
      return html`<h2>${part.words}</h2>\n`;
    case 'facts':
      return html`<dl class="pairs">${part.facts.map(([name, value]) => fact(name, cellOf(value)))}</dl>\n`;
    case 'table':
      return tableOf(part);
    case 'choices':
      return choicesNav(part.label, part.choices);
    case 'form':
      return html`<form action="${part.action}" method="post">${tokenField(reader)}${hiddenFields(part.fields)}<p><button class="button" type="submit">${part.button}</button></p></form>\n`;
    case 'ask':
      return html`<form class="asking" action="${part.action}" method="get">${hiddenFields(part.fields)}${part.inputs.map(inputOf)}<p><button class="button primary" type="submit">${part.button}</button></p></form>\n`;
    case 'confirm':
      return html`<form class="asking" action="${part.action}" method="post">${tokenField(reader)}${hiddenFields(part.fields)}${keyField('Your key, again')}<p><button class="button primary" type="submit">${part.button}</button></p></form>\n`;
    case 'actions':
      return html`<p class="actions">${part.actions.map(({ words, href }) => html`<a class="button" href="${href}">${words}</a> `)}</p>\n`;
    case 'pager':
      return pagerOf(part);
  }
}

function tableOf({ label, columns, rows, empty }: Extract<ConsolePart, { kind: 'table' }>): Markup {
  if (rows.length === 0) return html`<p class="empty">${empty}</p>\n`;
  const rowOf = (cells: readonly ConsoleCell[]): Markup =>
    html`<tr>${cells.map(
      (cell, place) =>
        html`<td data-label="${columns[place]}"${typeof cell === 'number' && html` class="num"`}>${cellOf(cell)}</td>`,
    )}</tr>\n`;
  return html`<div class="scroll"><table class="rows stacked" aria-label="${label}">
<thead><tr>${columns.map((words) => html`<th scope="col">${words}</th>`)}</tr></thead>
<tbody>
${rows.map(rowOf)}
</tbody>
</table></div>\n`;
}

function cellOf(cell: ConsoleCell): HtmlValue {
  if (cell === null || cell === '') return html`<span class="faint">–</span>`;
  if (typeof cell === 'number') return grouped(cell);
  if (typeof cell === 'string') return html`<span class="wrap">${isolated(cell)}</span>`;
  if (cell instanceof Date)
    return html`<span class="nowrap">${cell.toISOString().slice(0, 19).replace('T', ' ')}</span>`;
  return html`<a class="wrap" href="${cell.href}">${isolated(cell.words)}</a>`;
}

function pagerOf({ previous, next }: Extract<ConsolePart, { kind: 'pager' }>): HtmlValue {
  return (
    (previous !== null || next !== null) &&
    html`<nav class="steps" aria-label="Pages">
${previous === null ? html`<span class="faint">‹ Previous</span>` : html`<a href="${previous}" rel="prev">‹ Previous</a>`}
${next === null ? html`<span class="faint">Next ›</span>` : html`<a href="${next}" rel="next">Next ›</a>`}
</nav>\n`
  );
}
