import type { FastifyReply } from 'fastify';
import { isReveal } from '#chain/inscriptions/inscription.queries.ts';
import { type RuneDetail, runesDownFrom } from '#chain/runes/rune.queries.ts';
import { type RuneActivity, runeActivity } from '#chain/runes/rune-activity.queries.ts';
import { requireRunes } from '#chain/runes/rune-standing.queries.ts';
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
import {
  type RuneEventLine,
  type RuneLine,
  type RuneTermsView,
  runePage,
  runesPage,
} from '#web/pages/rune.page.ts';
import { mintStateOf } from './mint-state.ts';
import { runeIdText } from './rune-json.ts';

const runesPerPage = 50;
const activityLines = 20;

/** The page of `/runes`. */
export async function sendRunesPage(
  { client, tip }: Snapshot,
  deps: SiteDependencies,
  reply: FastifyReply,
  page: number,
): Promise<FastifyReply> {
  const { count } = await requireRunes(client);
  const found = await runesDownFrom(client, count - 1 - page * runesPerPage, runesPerPage + 1);
  const runes = found.slice(0, runesPerPage).map(lineOf);
  const hasNext = found.length > runesPerPage;
  return sendPage(reply, runesPage({ site: siteOf(deps, tip), runes, count, page, hasNext }));
}

/** The page of `/rune`. */
export async function sendRunePage(
  { client, tip }: Snapshot,
  deps: SiteDependencies,
  reply: FastifyReply,
  rune: RuneDetail,
): Promise<FastifyReply> {
  const newest = { order: 'desc', limit: activityLines, after: null } as const;
  const activity = await runeActivity(client, rune.key, newest);
  const { divisibility, terms, mints, timestamp, turbo } = rune;
  const minted = asU128(BigInt(mints) * BigInt(terms?.amount ?? zeroU128));
  const parent = (await isReveal(client, rune.etching)) ? formatInscriptionId(rune.etching, 0) : null;
  const { number, height, ...named } = lineOf(rune);
  const view = {
    site: siteOf(deps, tip),
    ...named,
    number,
    height,
    timestamp,
    etching: isNobodys(rune.etching) ? null : displayHash(rune.etching),
    parent,
    divisibility,
    turbo,
    premine: shownAmount(rune.premine, divisibility),
    minted: shownAmount(minted, divisibility),
    burned: shownAmount(rune.burned, divisibility),
    terms: termsOf(rune, tip === null ? 0 : tip.height + 1),
    activity: activity.map((event) => eventOf(event, divisibility, deps.network)),
  };
  return sendPage(reply, runePage(view));
}

const isNobodys = (txid: Txid): boolean => Buffer.from(txid).every((byte) => byte === 0);

function lineOf(rune: RuneDetail): RuneLine {
  const { key, height, mints, terms, symbol } = rune;
  return {
    name: formatSpacedRune(rune),
    symbol: symbol === null ? null : String.fromCodePoint(symbol),
    id: runeIdText(rune),
    number: key,
    height,
    mints,
    cap: terms === null ? null : String(terms.cap ?? zeroU128),
  };
}

/** @param next the height of the next block */
function termsOf(rune: RuneDetail, next: number): RuneTermsView | null {
  const { terms, mints, divisibility } = rune;
  const state = mintStateOf(rune, next);
  if (terms === null || state === 'none') return null;
  const block = smallU128(rune.height);
  const [start, end] = [mintStart(terms, block), mintEnd(terms, block)];
  return {
    state,
    amount: shownAmount(terms.amount ?? zeroU128, divisibility),
    mints,
    cap: String(terms.cap ?? zeroU128),
    start: start === null ? null : String(start),
    end: end === null ? null : String(end),
  };
}

function eventOf(
  { kind, amount, height, txid, script }: RuneActivity,
  divisibility: number,
  network: NetworkParameters,
): RuneEventLine {
  return {
    kind,
    amount: shownAmount(amount, divisibility),
    height,
    txid: displayHash(txid),
    address: script === null ? null : storedOwner(script, network).address,
  };
}
