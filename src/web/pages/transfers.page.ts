import { grouped, shortHash } from '#web/format.ts';
import { html, type Markup } from '#web/html.ts';
import { layout, type Site } from '#web/layout.ts';
import { copyButton, inscriptionLink } from '#web/parts/identifiers.ts';
import { type TimelineEvent, timeline } from '#web/parts/timeline.ts';

export interface TransfersView {
  readonly site: Site;
  readonly id: string;
  /** `null` if the inscription's number is unknown. */
  readonly number: number | null;
  readonly order: 'asc' | 'desc';
  /** One page of the history, in the list's order. */
  readonly events: readonly TimelineEvent[];
  readonly isFirst: boolean;
  /** `null` if this is the last page. */
  readonly nextCursor: string | null;
}

/** The history of an inscription: its reveal and all its transfers, with the prices of sales. */
export function transfersPage(view: TransfersView): Markup {
  const { site, id, number, order, events } = view;
  const name = number === null ? shortHash(id) : grouped(number);
  const isOldestFirst = order === 'asc';
  return layout({
    title: `Transfers of inscription ${name} · Satscribe`,
    description: `The history of inscription ${name}: its reveal, transfers and sales, each with its block and transaction.`,
    site,
    main: html`<section>
<h1>Transfers</h1>
<p>Of inscription ${inscriptionLink({ id, number })} ${copyButton(id)}</p>
<p>${isOldestFirst ? 'Oldest' : 'Newest'} first. <a href="${pathOf(view, isOldestFirst ? 'desc' : 'asc', null)}">${isOldestFirst ? 'Newest' : 'Oldest'} first</a></p>
${events.length > 0 ? timeline([], events) : html`<p class="empty">Its history is unknown.</p>`}
${steps(view)}
</section>`,
  });
}

function pathOf({ id }: TransfersView, order: 'asc' | 'desc', cursor: string | null): string {
  const query = { order, ...(cursor === null ? {} : { cursor }) };
  return `/inscription/${id}/transfers?${new URLSearchParams(query).toString()}`;
}

function steps(view: TransfersView): Markup | null {
  const { order, isFirst, nextCursor } = view;
  if (isFirst && nextCursor === null) return null;
  return html`<nav class="steps" aria-label="Pages"><span>${!isFirst && html`<a href="${pathOf(view, order, null)}" rel="first">« First page</a>`}</span><span>${nextCursor !== null && html`<a href="${pathOf(view, order, nextCursor)}" rel="next">Next page ›</a>`}</span></nav>`;
}
