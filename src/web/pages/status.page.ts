import type { Height } from '#kernel/primitives/height.ts';
import { grouped, plural, sizeWords, spanWords } from '#web/format.ts';
import { type HtmlValue, html, type Markup } from '#web/html.ts';
import { layout, type Site } from '#web/layout.ts';
import { heightLink } from '#web/parts/identifiers.ts';
import { type ChartPoint, lineChart } from '#web/parts/line-chart.ts';

/** The state of a part in words, and whether someone must act because of it. */
export interface StateWords {
  readonly kind: 'good' | 'busy' | 'bad' | 'off';
  readonly words: string;
}

export interface StatusProblem {
  /** An error code of docs/errors.md. */
  readonly code: string;
  readonly meaning: string;
}

export interface TableProgress {
  readonly name: string;
  readonly state: string;
  /** The last block that the table contains. `null` if the table has no block yet. */
  readonly height: Height | null;
}

/** A queue of this process, and its limit. */
export interface QueueLine {
  readonly name: string;
  readonly length: number;
  readonly limit: number;
}

/** Figures of this process in one minute, for the plots. Null fields are unknown. */
export interface DayMinute {
  readonly time: number;
  readonly height: number | null;
  readonly lagBlocks: number | null;
  readonly mempool: number | null;
  readonly requests: number;
  readonly searches: number;
  readonly p95Ms: number | null;
}

export interface StatusView {
  readonly site: Site;
  readonly version: string;
  readonly upSeconds: number;
  readonly index: StateWords;
  readonly height: Height | null;
  readonly sourceHeight: Height | null;
  readonly lagBlocks: number | null;
  /** Age of the indexed tip in seconds, while there are newer blocks. */
  readonly lagSeconds: number | null;
  /** `null` if the rate is not measured yet, or if no block is left to index. */
  readonly blocksPerMinute: number | null;
  readonly problems: readonly StatusProblem[];
  /** Tables that are being filled. */
  readonly tables: readonly TableProgress[];
  readonly search: StateWords;
  /** Number of texts that each search scans, because they are not in a segment yet. */
  readonly unsealed: number;
  readonly mempool: StateWords & { readonly transactions: number | null; readonly kept: number | null };
  readonly payments: StateWords & { readonly lagBlocks: number | null };
  readonly orders: StateWords & { readonly open: number | null; readonly stuck: number | null };
  readonly webhooks: { readonly waiting: number; readonly oldestSeconds: number | null } | null;
  /** Free and total bytes on the disk of the data folder. `null` if unknown. */
  readonly disk: { readonly freeBytes: number; readonly totalBytes: number } | null;
  readonly queues: readonly QueueLine[];
  /** Minutes of the last day, oldest first. */
  readonly day: readonly DayMinute[];
}

const chips = { good: ' yes', busy: ' part', bad: ' bad', off: '' } as const;
const short = { good: 'good', busy: 'at work', bad: 'problem', off: 'off' } as const;

const state = ({ kind, words }: StateWords): Markup =>
  html`<span class="chip${chips[kind]}">${short[kind]}</span> ${words}`;

const row = (words: string, value: HtmlValue): Markup =>
  html`<div><dt>${words}</dt><dd>${value}</dd></div>\n`;

/**
 * The page of the service's state, now and in the last day. Everyone can read this page, so it has no secrets and no
 * amounts of money.
 */
export function statusPage(view: StatusView): Markup {
  const { site, version, upSeconds, problems, tables, queues } = view;
  return layout({
    title: 'Status · Satscribe',
    description: 'Whether the index is up to date, and the last day of the service.',
    site,
    main: html`<section>
<h1>Status</h1>
<p class="faint">Satscribe ${version}, up for ${spanWords(upSeconds)}. <a href="/health/ready">Health, as JSON</a></p>
${problems.length > 0 && problemList(problems)}
<h2>Index</h2>
<dl class="table">
${row('State', state(view.index))}
${indexRows(view)}
</dl>
${tables.length > 0 && tablesOf(tables)}
<h2>Services</h2>
<dl class="table">
${serviceRows(view)}
</dl>
${dayCharts(view.day)}
<h2>Queues</h2>
<p class="faint">The queues of this process, and their limits.</p>
${queueTables(queues)}
</section>`,
  });
}

function problemList(problems: readonly StatusProblem[]): Markup {
  return html`<h2>Problems</h2>
<ul class="problems">${problems.map(({ code, meaning }) => html`<li>${meaning} <span class="mono faint">${code}</span></li>`)}</ul>`;
}

function indexRows(view: StatusView): HtmlValue {
  const { height, sourceHeight, lagBlocks, lagSeconds } = view;
  return [
    row('Last block', height === null ? html`<span class="faint">none yet</span>` : heightLink(height)),
    row(
      'Best block of the source',
      sourceHeight === null ? unknown('the source was not reached yet') : grouped(sourceHeight),
    ),
    row(
      'Behind',
      lagBlocks === null ? unknown('the source was not reached yet') : lagWords(lagBlocks, lagSeconds),
    ),
    lagBlocks !== null && lagBlocks > 0 && row('Progress', progress(view, lagBlocks)),
  ];
}

const unknown = (why: string): Markup => html`<span class="faint">unknown: ${why}</span>`;

function lagWords(blocks: number, seconds: number | null): string {
  if (blocks === 0) return 'no block';
  return `${plural(blocks, 'block')}${seconds === null ? '' : `; the last one is ${spanWords(seconds)} old`}`;
}

function progress({ height, sourceHeight, blocksPerMinute }: StatusView, left: number): Markup {
  const done = height === null ? 0 : height + 1;
  const all = sourceHeight === null ? done + left : sourceHeight + 1;
  const percent = Math.floor((done / all) * 10_000) / 100;
  return html`${percent} %, ${rateWords(blocksPerMinute, left)}<br><progress class="progress" value="${done}" max="${all}" aria-label="Indexed blocks">${percent} %</progress>`;
}

function rateWords(blocksPerMinute: number | null, left: number): string {
  if (blocksPerMinute === null) return 'the rate is unknown until a minute after the start';
  if (blocksPerMinute === 0) return 'no block was indexed in the last minutes';
  const rate = blocksPerMinute < 10 ? blocksPerMinute.toFixed(1) : grouped(Math.round(blocksPerMinute));
  return `${rate} blocks per minute, about ${spanWords((left / blocksPerMinute) * 60)} left`;
}

function tablesOf(tables: readonly TableProgress[]): Markup {
  return html`<h2>Tables being filled</h2>
<div class="scroll"><table class="rows stacked">
<thead><tr><th scope="col">Table</th><th scope="col">State</th><th scope="col" class="num">Up to block</th></tr></thead>
<tbody>
${tables.map(
  ({ name, state: words, height }) =>
    html`<tr><th scope="row">${name}</th><td data-label="State">${words}</td><td class="num" data-label="Up to block">${height === null ? 'none yet' : heightLink(height)}</td></tr>\n`,
)}
</tbody>
</table></div>`;
}

function serviceRows(view: StatusView): HtmlValue {
  const { search, unsealed, mempool, payments, orders, webhooks, disk } = view;
  return [
    row('Searches', html`${state(search)}; ${plural(unsealed, 'new text')} not in a segment yet`),
    row(
      'Mempool',
      html`${state(mempool)}${mempool.transactions !== null && `; ${plural(mempool.transactions, 'transaction')}`}${mempool.kept !== null && `, ${grouped(mempool.kept)} of them with inscriptions or runes`}`,
    ),
    row(
      'Payments',
      html`${state(payments)}${payments.lagBlocks !== null && payments.lagBlocks > 0 && `; ${plural(payments.lagBlocks, 'block')} behind`}`,
    ),
    row(
      'Orders',
      html`${state(orders)}${orders.open !== null && `; ${grouped(orders.open)} open`}${orders.stuck !== null && orders.stuck > 0 && `, ${grouped(orders.stuck)} of them with a stuck transaction`}`,
    ),
    webhooks !== null && row('Webhooks', webhookWords(webhooks)),
    row('Disk', disk === null ? unknown('the data folder cannot be read') : diskWords(disk)),
  ];
}

function webhookWords({ waiting, oldestSeconds }: NonNullable<StatusView['webhooks']>): string {
  if (waiting === 0) return 'no message waits to be sent';
  const age = oldestSeconds === null ? '' : `, the oldest for ${spanWords(oldestSeconds)}`;
  return `${plural(waiting, 'message')} ${waiting === 1 ? 'waits' : 'wait'} to be sent${age}`;
}

function diskWords({ freeBytes, totalBytes }: NonNullable<StatusView['disk']>): string {
  const percent = totalBytes === 0 ? 0 : Math.floor((freeBytes / totalBytes) * 100);
  return `${sizeWords(freeBytes)} free of ${sizeWords(totalBytes)} (${percent} %)`;
}

function dayCharts(day: readonly DayMinute[]): Markup {
  const points = (of: (minute: DayMinute) => number | null): ChartPoint[] =>
    day.map((minute) => ({ time: minute.time, value: of(minute) }));
  const charts = [
    lineChart(
      points(({ height }) => height),
      { id: 'height', title: 'Indexed height', unit: '', fromZero: false },
    ),
    lineChart(
      points(({ lagBlocks }) => lagBlocks),
      { id: 'lag', title: 'Blocks behind', unit: '', fromZero: true },
    ),
    lineChart(
      points(({ requests }) => requests),
      { id: 'requests', title: 'Requests per minute', unit: '', fromZero: true },
    ),
    lineChart(
      points(({ p95Ms }) => p95Ms),
      { id: 'p95', title: '95 of 100 requests within', unit: ' ms', fromZero: true },
    ),
    lineChart(
      points(({ searches }) => searches),
      { id: 'searches', title: 'Searches per minute', unit: '', fromZero: true },
    ),
    lineChart(
      points(({ mempool }) => mempool),
      { id: 'mempool', title: 'Transactions in the mempool', unit: '', fromZero: true },
    ),
  ].filter((chart) => chart !== null);
  const words =
    charts.length === 0
      ? 'The plots of the last 24 hours begin two minutes after the start.'
      : `Values of this process, one per minute, ${day.length < 1440 ? 'since its start' : 'for 24 hours'}.`;
  return html`<h2>Last day</h2>
<p class="faint">${words}</p>
<div class="charts">${charts}</div>`;
}

/**
 * The tables of the queues. Empty queues are in a folded part, because readers look for queues with waiting entries.
 */
function queueTables(queues: readonly QueueLine[]): HtmlValue {
  const waiting = queues.filter(({ length }) => length > 0);
  const empty = queues.filter(({ length }) => length === 0);
  return [
    waiting.length === 0 ? html`<p>Nothing waits.</p>` : queuesTable(waiting),
    empty.length > 0 &&
      html`<details><summary>${plural(empty.length, 'empty queue')}</summary>${queuesTable(empty)}</details>`,
  ];
}

function queuesTable(queues: readonly QueueLine[]): Markup {
  return html`<div class="scroll"><table class="rows stacked">
<thead><tr><th scope="col">Queue</th><th scope="col" class="num">Waiting</th><th scope="col" class="num">Limit</th></tr></thead>
<tbody>
${queues.map(({ name, length, limit }) => {
  const words = name.includes('bytes') ? sizeWords : grouped;
  return html`<tr><th scope="row">${name}</th><td class="num" data-label="Waiting">${words(length)}</td><td class="num" data-label="Limit">${words(limit)}</td></tr>\n`;
})}
</tbody>
</table></div>`;
}
