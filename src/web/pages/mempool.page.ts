import { grouped, plural, timeWords } from '#web/format.ts';
import { html, type Markup } from '#web/html.ts';
import { layout, type Site } from '#web/layout.ts';
import { fact, satsWords, unknownWords } from '#web/parts/facts.ts';
import { type PendingCard, pendingCardList } from '#web/parts/pending-cards.ts';

export interface MempoolView {
  readonly site: Site;
  /** Null: no mempool was ever followed. */
  readonly state: {
    readonly isFollowed: boolean;
    /** Its state, and why it is not followed, in words. */
    readonly words: string;
    readonly since: number;
    readonly kept: number;
    readonly leftOut: number;
  } | null;
  /** The node's whole mempool; null: unknown. */
  readonly whole: { readonly transactions: number; readonly vsize: number; readonly fees: number } | null;
  /** Fee rates by the node's estimates, in sat/vB; null: unknown. */
  readonly fees: readonly { readonly words: string; readonly rate: number }[] | null;
  readonly cards: readonly PendingCard[];
  readonly next: string | null;
}

/** Virtual bytes of a full block: 4,000,000 weight units. */
const blockVsize = 1_000_000;

/** The mempool: what waits for a block. */
export function mempoolPage({ site, state, whole, fees, cards, next }: MempoolView): Markup {
  return layout({
    title: 'Mempool · Satscribe',
    description:
      'Inscriptions that wait for a block, and what a transaction must pay to be in the next ones.',
    site,
    main: html`<section>
<h1>Mempool</h1>
<dl class="pairs">
${fact('State', state === null ? unknownWords('no mempool is followed here') : html`<span class="chip${state.isFollowed ? ' yes' : ' part'}">${state.words}</span>, since ${timeWords(state.since)}`)}
${fact('Transactions', whole === null ? unknownWords('the node does not tell') : html`${grouped(whole.transactions)}, ${grouped(whole.vsize)} vbytes, about ${plural(Math.ceil(whole.vsize / blockVsize), 'block')}`)}
${whole !== null && fact('Their fees', satsWords(whole.fees))}
${state !== null && fact('Kept here', `${plural(state.kept, 'transaction')} with inscriptions, sales or runes${state.leftOut === 0 ? '' : `; ${grouped(state.leftOut)} left out for want of room`}`)}
${fees === null ? fact('Fee rates', unknownWords('there is no node to estimate them')) : fees.map(({ words, rate }) => fact(words, `${grouped(rate)} sat/vB`))}
</dl>
</section>
<section><h2>Pending inscriptions <span class="faint">newest first</span></h2>
${cards.length > 0 ? pendingCardList(cards) : html`<p class="empty">No inscription waits for a block.</p>`}
${next !== null && html`<p class="more"><a href="${next}" rel="next">Older ones ›</a></p>`}
</section>
<p class="tools"><a href="/mempool/sales">Pending sales, as JSON</a> <a href="/mempool/runes">Pending runes, as JSON</a> <a href="/mempool/departures">What left without a block, as JSON</a></p>`,
  });
}
