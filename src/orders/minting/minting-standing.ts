import type pg from 'pg';
import { indexedTip } from '#chain/blocks/index-tip.queries.ts';
import { executedMints } from '#chain/runes/executed-mints.queries.ts';
import { type RuneDetail, runeDetail } from '#chain/runes/rune.queries.ts';
import { runeStanding } from '#chain/runes/rune-standing.queries.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import { formatSpacedRune } from '#kernel/runes/spaced-rune.ts';
import type { MintTerms } from '#orders/inscribing/order-terms.ts';
import type { Order } from '#orders/order/order.store.ts';
import type { OrderTransaction } from '#orders/order/order-transactions.store.ts';
import { mintTermsOf } from '#orders/order/stored-terms.ts';
import { isMintOpen, mintFault, mintsEnded, mintsLeft } from './mint-fault.ts';
import { mintFacts } from './minted-rune.ts';
import {
  giveUpMints,
  noteExecuted,
  readOrderMints,
  releaseMints,
  type StoredMint,
} from './ordered-mints.store.ts';

/** How far the mints of an order are. */
export interface MintingStanding {
  /** The index does not have all blocks that payments have, or no runes of them: nothing is decided. */
  readonly isUnknown: boolean;
  /** Why no mint of it can be executed, while nothing is signed; null: all can. */
  readonly fault: string | null;
  /** Its signed mints, by place; none: nothing is signed. */
  readonly mints: readonly StoredMint[];
}

/** Mints that wait because the mempool may use all that are left are given up after this time: blocks rarely take longer. */
const heldMostMs = 24 * 3_600_000;

interface KeptAt {
  readonly paymentsTip: Height | null;
  readonly now: Date;
}

/** Blocks that the index and payments have both, and the rune there; null: the rune is not at its id. */
interface KnownRune {
  readonly tip: Height;
  readonly rune: RuneDetail | null;
}

/**
 * Reads how far the mints of an order are, and decides about those that were not sent: as many are sent as blocks, the
 * mempool and other orders leave, and those that can never be executed are given up. Null: it mints nothing.
 */
export async function keepMints(
  tx: pg.ClientBase,
  order: Order,
  transactions: readonly OrderTransaction[],
  { paymentsTip, now }: KeptAt,
): Promise<MintingStanding | null> {
  if (order.terms.mint === undefined) return null;
  const mint = mintTermsOf(order.terms.mint);
  const known = await knownRune(tx, mint, paymentsTip);
  const commit = transactions.find(({ kind }) => kind === 'commit');
  if (commit === undefined) return unsignedStanding(tx, order, mint, known);
  const mints = await readOrderMints(tx, order, transactions);
  if (known === null) return { isUnknown: true, fault: null, mints };
  const judged = await judge(tx, mints, known);
  if (order.state !== 'waiting-rune-balance') return { isUnknown: false, fault: null, mints: judged };
  const sent = sentAmong(transactions);
  return { isUnknown: false, fault: null, mints: await decide(tx, judged, { known, commit, sent, now }) };
}

/** The rune of mints, once the index and payments have the same blocks; null: they do not, or runes are not known. */
async function knownRune(
  tx: pg.ClientBase,
  mint: MintTerms,
  paymentsTip: Height | null,
): Promise<KnownRune | null> {
  const indexTip = await indexedTip(tx);
  if (indexTip === null || paymentsTip === null || indexTip < paymentsTip) return null;
  if ((await runeStanding(tx)).state !== 'known') return null;
  const rune = await runeDetail(tx, { kind: 'id', id: mint.id });
  return { tip: paymentsTip, rune: rune?.rune === mint.rune ? rune : null };
}

/** An order that is about to be signed has its rune looked up. */
async function unsignedStanding(
  tx: pg.ClientBase,
  { state }: Pick<Order, 'state'>,
  mint: MintTerms,
  known: KnownRune | null,
): Promise<MintingStanding> {
  if (state !== 'prep') return { isUnknown: false, fault: null, mints: [] };
  if (known === null) return { isUnknown: true, fault: null, mints: [] };
  const { rune, tip } = known;
  const fault =
    rune === null ? runeGone(mint) : mintFault(await mintFacts(tx, rune, 'new'), mint.count, tip + 1);
  return { isUnknown: false, fault, mints: [] };
}

const runeGone = (mint: MintTerms): string =>
  `A reorganisation took the etching of ${formatSpacedRune(mint)} back, or gave the rune another id.`;

/** The mints, with whether blocks executed them. */
async function judge(
  tx: pg.ClientBase,
  mints: readonly StoredMint[],
  { tip, rune }: KnownRune,
): Promise<readonly StoredMint[]> {
  const mined = mints.flatMap(({ txid, height }) =>
    height === null || height > tip ? [] : [{ txid, height }],
  );
  const executed = rune === null ? new Set<string>() : await executedMints(tx, rune.key, mined);
  const isMined = new Set(mined.map(({ txid }) => displayHash(txid)));
  const judged = mints.map((mint): StoredMint => {
    const name = displayHash(mint.txid);
    return { ...mint, isExecuted: isMined.has(name) ? executed.has(name) : null };
  });
  await noteExecuted(
    tx,
    judged.filter(({ isExecuted }, place) => isExecuted !== mints[place]?.isExecuted),
  );
  return judged;
}

interface Deciding {
  readonly known: KnownRune;
  readonly commit: OrderTransaction;
  /** Mints that were sent, as they are shown. */
  readonly sent: ReadonlySet<string>;
  readonly now: Date;
}

/** Lets mints be sent, or gives them up: the mints as they are then. */
async function decide(
  tx: pg.ClientBase,
  mints: readonly StoredMint[],
  { known: { tip, rune }, commit, sent, now }: Deciding,
): Promise<readonly StoredMint[]> {
  // what is not there may come back with a block
  if (rune === null) return mints;
  const unsent = mints.filter(
    ({ txid, height, fault }) => height === null && fault === null && !sent.has(displayHash(txid)),
  );
  if (unsent.length === 0) return mints;
  const ended = mintsEnded(rune, tip + 1);
  if (ended !== null) return givenUp(tx, mints, unsent, ended);
  const held = unsent.filter(({ isReleased }) => !isReleased);
  const left = isMintOpen(rune, tip + 1) ? mintsLeft(await mintFacts(tx, rune, 'holding')) : 0n;
  const due = held.slice(0, Number(left < BigInt(held.length) ? left : held.length));
  const late = held.slice(due.length);
  if (late.length > 0 && now.getTime() - commit.madeAt.getTime() > heldMostMs)
    return givenUp(tx, mints, late, heldTooLong(rune));
  await releaseMints(
    tx,
    due.map(({ txid }) => txid),
  );
  return mints.map((mint) => (due.includes(mint) ? { ...mint, isReleased: true } : mint));
}

const heldTooLong = (rune: RuneDetail): string =>
  `For a day, transactions of others that wait for a block could use all mints of ${formatSpacedRune(rune)} that are left.`;

async function givenUp(
  tx: pg.ClientBase,
  mints: readonly StoredMint[],
  ended: readonly StoredMint[],
  fault: string,
): Promise<readonly StoredMint[]> {
  await giveUpMints(
    tx,
    ended.map(({ txid }) => txid),
    fault,
  );
  return mints.map((mint) => (ended.includes(mint) ? { ...mint, fault } : mint));
}

const sentAmong = (transactions: readonly OrderTransaction[]): ReadonlySet<string> =>
  new Set(transactions.filter(({ sentAt }) => sentAt !== null).map(({ txid }) => displayHash(txid)));

/** Places of mints that were given up, and that no block has: what the commit holds for them is refunded. */
export const givenUpPlaces = ({ mints }: Pick<MintingStanding, 'mints'>): readonly number[] =>
  mints.filter(({ fault, height }) => fault !== null && height === null).map(({ place }) => place);

/**
 * Whether all mints are decided: blocks have them, deep enough, or their money is refunded.
 *
 * @param refunded places of mints whose money a refund spends
 * @param confirmations of their blocks, at the tip of the index
 */
export function areMintsDecided(
  { mints, isUnknown }: MintingStanding,
  refunded: readonly number[],
  { tip, confirmations }: { readonly tip: Height | null; readonly confirmations: number },
): boolean {
  if (mints.length === 0 || isUnknown) return false;
  return mints.every(
    ({ place, height, isExecuted }) =>
      refunded.includes(place) ||
      (height !== null && isExecuted !== null && tip !== null && tip - height + 1 >= confirmations),
  );
}

/** Txids of mints that a block has and that minted nothing, as they are shown. */
export const failedMints = (mints: readonly StoredMint[]): ReadonlySet<string> =>
  new Set(mints.filter(({ isExecuted }) => isExecuted === false).map(({ txid }) => displayHash(txid)));
