import type { FastifyReply } from 'fastify';
import { isReveal } from '#chain/inscriptions/inscription.queries.ts';
import type { RuneDetail } from '#chain/runes/rune.queries.ts';
import { type RuneActivity, runeActivity } from '#chain/runes/rune-activity.queries.ts';
import { sendPage } from '#http/server/answers/send-page.ts';
import { type SiteDependencies, siteOf } from '#http/server/answers/site.ts';
import { storedOwner } from '#kernel/bitcoin/stored-owner.ts';
import type { Snapshot } from '#kernel/contracts/search-engine.ts';
import { displayHash, type Txid } from '#kernel/primitives/hash.ts';
import { formatInscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import { shownAmount } from '#kernel/runes/shown-amount.ts';
import { formatSpacedRune } from '#kernel/runes/spaced-rune.ts';
import { mintEnd, mintStart } from '#kernel/runes/terms.ts';
import { asU128, smallU128, zeroU128 } from '#kernel/runes/u128.ts';
import { type RuneTermsView, runePage } from '#web/pages/rune.page.ts';
import type { RuneEventLine } from '#web/parts/rune-events.ts';
import type { NamedRune } from '#web/parts/rune-head.ts';
import { mintStateOf } from './mint-state.ts';
import { runeIdText } from './rune-json.ts';

const activityLines = 20;

/** Sends the page of `/rune`. */
export async function sendRunePage(
  { client, tip }: Snapshot,
  deps: SiteDependencies,
  reply: FastifyReply,
  rune: RuneDetail,
): Promise<FastifyReply> {
  const newest = { order: 'desc', limit: activityLines, after: null } as const;
  const activity = await runeActivity(client, rune.key, newest);
  const parent = (await isReveal(client, rune.etching)) ? formatInscriptionId(rune.etching, 0) : null;
  const { divisibility, timestamp, turbo, key, height } = rune;
  const view = {
    site: siteOf(deps, tip),
    rune: runeNamed(rune),
    number: key,
    height,
    timestamp,
    etching: isNobodys(rune.etching) ? null : displayHash(rune.etching),
    parent,
    divisibility,
    turbo,
    ...suppliesOf(rune),
    terms: termsOf(rune, tip === null ? 0 : tip.height + 1),
    activity: activity.map((event) => runeEventLine(event, divisibility, deps.network)),
  };
  return sendPage(reply, runePage(view));
}

const isNobodys = (txid: Txid): boolean => Buffer.from(txid).every((byte) => byte === 0);

export function runeNamed(rune: RuneDetail): NamedRune {
  const { symbol } = rune;
  return {
    name: formatSpacedRune(rune),
    id: runeIdText(rune),
    symbol: symbol === null ? null : String.fromCodePoint(symbol),
  };
}

type Supplies = Record<'supply' | 'supplyMax' | 'premine' | 'minted' | 'burned', string>;

/**
 * Supplies in units of the rune. The sums always fit into 128 bits, because an etching with a larger supply would be a
 * cenotaph, which has neither mints nor a premine.
 */
function suppliesOf({ terms, mints, premine, burned, divisibility }: RuneDetail): Supplies {
  const each = BigInt(terms?.amount ?? zeroU128);
  const minted = BigInt(mints) * each;
  const most = BigInt(premine) + BigInt(terms?.cap ?? zeroU128) * each;
  const shown = (amount: bigint): string => shownAmount(asU128(amount), divisibility);
  return {
    supply: shown(BigInt(premine) + minted - BigInt(burned)),
    supplyMax: shown(most - BigInt(burned)),
    premine: shown(BigInt(premine)),
    minted: shown(minted),
    burned: shown(BigInt(burned)),
  };
}

/**
 * The terms of a rune, as its page shows them.
 *
 * @param next the height of the next block
 */
function termsOf(rune: RuneDetail, next: number): RuneTermsView | null {
  const { terms, mints, divisibility } = rune;
  const state = mintStateOf(rune, next);
  if (terms === null || state === 'none') return null;
  const block = smallU128(rune.height);
  const [start, end] = [mintStart(terms, block), mintEnd(terms, block)];
  const cap = BigInt(terms.cap ?? zeroU128);
  return {
    state,
    amount: shownAmount(terms.amount ?? zeroU128, divisibility),
    mints,
    cap: String(cap),
    left: String(cap - BigInt(mints)),
    percent: mintedPercent(rune) ?? 0,
    first: start === null ? null : String(start),
    // if the end is 0, no block may mint, which the page shows as the state
    last: end === null ? null : String(BigInt(end) === 0n ? 0n : BigInt(end) - 1n),
  };
}

/** The percentage of mints that are used, never rounded up. `null` if the rune cannot be minted. */
export function mintedPercent({ terms, mints }: RuneDetail): number | null {
  if (terms === null) return null;
  const cap = BigInt(terms.cap ?? zeroU128);
  if (cap === 0n) return 100;
  // six digits are enough for a bar and for two decimals; a percentage below 0.0001 % is shown as 0.0001 %
  const percent = Number((BigInt(mints) * 1_000_000n) / cap) / 10_000;
  return mints === 0 ? 0 : Math.max(0.0001, percent);
}

export function runeEventLine(
  { kind, amount, height, txid, vout, script }: RuneActivity,
  divisibility: number,
  network: NetworkParameters,
): RuneEventLine {
  const shown = displayHash(txid);
  return {
    kind,
    amount: shownAmount(amount, divisibility),
    height,
    txid: shown,
    output: script === null ? null : `${shown}:${vout}`,
    address: script === null ? null : storedOwner(script, network).address,
  };
}
