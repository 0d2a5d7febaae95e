import { grouped, plural } from '#web/format.ts';
import { html, type Markup } from '#web/html.ts';
import { type CollectionHead, collectionFrame } from '#web/parts/collection-frame.ts';
import { addressLink } from '#web/parts/identifiers.ts';
import { pagesNav } from '#web/parts/pages-nav.ts';

export interface HolderLine {
  /** `null` if the script has no address. */
  readonly address: string | null;
  readonly script: string;
  readonly items: number;
  /** The holder's share of all indexed items, from 0 to 1. */
  readonly share: number;
}

export interface CollectionHoldersView {
  readonly head: CollectionHead;
  /** Holders, most items first. */
  readonly holders: readonly HolderLine[];
  /** Number of holders on all pages. `null` if no holder is known. */
  readonly count: number | null;
  /** Number of holders that the pages list. */
  readonly listed: number;
  /** Numbers of items without a holder, by reason. */
  readonly items: {
    readonly burned: number;
    readonly lost: number;
    readonly unbound: number;
    readonly unknown: number;
  };
  /** Number of this page, from 1. */
  readonly page: number;
  readonly totalPages: number;
}

/** The page of the holders of a collection's items, after the last block. */
export function collectionHoldersPage(view: CollectionHoldersView): Markup {
  const { head, holders, count, listed, items, page, totalPages } = view;
  const { slug, name } = head;
  const path = `/collection/${slug}/holders`;
  const words = count === null ? 'unknown' : plural(count, 'holder');
  return collectionFrame(head, {
    tab: 'holders',
    description: `The holders of ${name}, those with the most items first.`,
    main: html`<section>
<h2>Holders <span class="faint">${words}</span></h2>
${withoutHolder(items).map((sentence) => html`<p class="faint">${sentence}</p>`)}
${holders.length > 0 ? holdersTable(holders, (page - 1) * holdersPerPage) : html`<p class="empty">${page > 1 ? 'There are no holders on this page.' : 'No holder is known.'}</p>`}
${pagesNav({ path, parameters: {}, page, totalPages })}
${count !== null && count > listed && html`<p class="faint">The first ${grouped(listed)} are listed.</p>`}
<p class="tools"><a href="/marketplace/data/collections/${slug}/holders">Holders as JSON, also after an earlier block</a></p>
</section>`,
  });
}

/** Maximum number of holders on a page. Each row is an address and two numbers. */
export const holdersPerPage = 100;

function withoutHolder({ burned, lost, unbound, unknown }: CollectionHoldersView['items']): string[] {
  return [
    burned > 0 && `${plural(burned, 'item')} burned, in an output that no one can spend.`,
    lost > 0 && `${plural(lost, 'item')} lost, in a fee that no miner claimed.`,
    unbound > 0 && `${plural(unbound, 'item')} unbound (on no sat), so without a holder.`,
    unknown > 0 &&
      `The holder of ${plural(unknown, 'item')} is unknown: a block without indexed spent outputs moved ${unknown === 1 ? 'it' : 'them'}.`,
  ].filter((sentence) => sentence !== false);
}

function holdersTable(holders: readonly HolderLine[], before: number): Markup {
  return html`<div class="scroll"><table class="rows stacked">
<thead><tr><th scope="col" class="num">Rank</th><th scope="col">Holder</th><th scope="col" class="num">Items</th><th scope="col" class="num">Share</th></tr></thead>
<tbody>
${holders.map(
  ({ address, script, items, share }, nth) => html`<tr>
  <td class="num faint" data-label="Rank"><span>${grouped(before + nth + 1)}</span></td>
  <th scope="row" data-label="Holder">${address === null ? html`<span class="mono" title="${script}">${`${script.slice(0, 15)}…`}</span>` : addressLink(address)}</th>
  <td class="num" data-label="Items"><span>${grouped(items)}</span></td>
  <td class="num" data-label="Share"><span>${(share * 100).toFixed(1)} %</span></td>
</tr>
`,
)}
</tbody>
</table></div>`;
}
