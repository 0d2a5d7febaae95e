import { grouped, plural } from '#web/format.ts';
import { type HtmlValue, html, type Markup } from '#web/html.ts';
import { coins, dollars } from './amounts.ts';
import { moment } from './moment.ts';

export interface MintPhase {
  readonly name: string;
  readonly isPublic: boolean;
  /** Price per item for the creator, in sats. */
  readonly price: number;
  /** Price per item in a rune instead of sats, in words. `null` if the price is in sats. */
  readonly runePrice: string | null;
  readonly state: 'later' | 'open' | 'full' | 'over';
  readonly startsAt: Date | null;
  readonly endsAt: Date | null;
  /** Number of items that the phase sells. `null` means all items that are left. */
  readonly items: number | null;
  /** Number of items that the phase can still sell now. */
  readonly left: number;
}

interface PhasePrices {
  readonly serviceFee: number;
  readonly dollarsPerCoin: number | null;
}

const stateWords = { later: 'not open yet', open: 'open', full: 'sold out', over: 'ended' } as const;

/** Phases of a sale, in the creator's order. The page's script replaces this part (`data-live`). */
export function phaseList(phases: readonly MintPhase[], prices: PhasePrices, isClosed: boolean): Markup {
  const { serviceFee } = prices;
  const more =
    serviceFee > 0
      ? `In addition to these prices, the service takes ${plural(serviceFee, 'sat')} per item, and miners take their fees.`
      : 'The fees of the service and of miners are added to these prices.';
  return html`<section data-live="phases"><h2>${phases.length === 1 ? 'The phase' : 'Phases'}</h2>
<ol class="phases">${phases.map((phase) => phaseItem(phase, prices, isClosed))}</ol>
${!isClosed && html`<p class="faint small">${more} The form shows the exact sum before you order.</p>`}
</section>`;
}

function phaseItem(phase: MintPhase, { dollarsPerCoin }: PhasePrices, isClosed: boolean): Markup {
  const { name, isPublic } = phase;
  const state = isClosed ? 'over' : phase.state;
  return html`<li class="phase ${state} card-box">
<h3><span class="wrap">${name}</span> <span class="phase-state">${stateWords[state]}</span></h3>
<p class="phase-price">${priceWords(phase, dollarsPerCoin)}</p>
<p class="phase-facts">${isPublic ? 'Everyone may mint' : 'Only addresses in its list'}${leftWords(phase)}${timeWords(phase)}</p>
</li>
`;
}

function priceWords({ price, runePrice }: MintPhase, dollarsPerCoin: number | null): HtmlValue {
  if (runePrice !== null) return html`<b class="wrap">${runePrice}</b>`;
  return html`<b class="nowrap">${price === 0 ? 'free' : plural(price, 'sat')}</b>${price > 0 && html` <span class="faint nowrap">${coins(price)} BTC</span>${dollars(price, dollarsPerCoin)}`}`;
}

function leftWords({ state, items, left }: MintPhase): HtmlValue {
  if (state === 'over' || items === null) return null;
  if (state === 'full') return html` · <span class="nowrap">none of ${grouped(items)} left</span>`;
  return html` · <span class="nowrap">${grouped(left)} of ${grouped(items)} left</span>`;
}

function timeWords({ state, startsAt, endsAt }: MintPhase): HtmlValue {
  if (state === 'later' && startsAt !== null) return html` · opens ${moment(startsAt)}`;
  if (endsAt === null) return null;
  return html` · ${state === 'over' ? 'ended' : 'ends'} ${moment(endsAt)}`;
}
