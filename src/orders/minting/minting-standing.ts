import type pg from 'pg';
import { executedMints } from '#chain/runes/executed-mints.queries.ts';
import { type RuneDetail, runeDetail } from '#chain/runes/rune.queries.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import { formatSpacedRune } from '#kernel/runes/spaced-rune.ts';
import type { MintTerms } from '#orders/inscribing/order-terms.ts';
import { type KnownTip, knownTip } from '#orders/order/known-tip.ts';
import type { Order } from '#orders/order/order.store.ts';
import type { OrderTransaction } from '#orders/order/order-transactions.store.ts';
import { mintTermsOf } from '#orders/order/stored-terms.ts';
import { isMintOpen, mintFault, mintsEnded, mintsLeft } from './mint-fault.ts';
import { mintFacts } from './minted-rune.ts';
import {
  giveUpMints,
  holdMints,
  noteExecuted,
  readOrderMints,
  releaseMints,
  type StoredMint,
} from './ordered-mints.store.ts';

/** Progress of an order's mints. */
export interface MintingStanding {
  /** Whether the index lacks the last block of payments, or does not know runes. If so, nothing is decided. */
  readonly isUnknown: boolean;
  /** The reason why no mint can be executed, while nothing is signed. Null if all mints can be executed. */
  readonly fault: string | null;
  /** Signed mints of the order, by index. Empty if nothing is signed. */
  readonly mints: readonly StoredMint[];
}

/**
 * How long held mints wait before they are given up if the mempool may use all remaining mints, in ms. Blocks rarely
 * take longer.
 */
const heldMostMs = 24 * 3_600_000;

/**
 * The last block of payments that the index has, and the rune at that block. `rune` is null if the rune is not at its
 * id.
 */
interface KnownRune extends KnownTip {
  readonly rune: RuneDetail | null;
}

/**
 * Reads the progress of an order's mints, and decides about unsent mints. Sends as many mints as blocks, the mempool
 * and other orders leave. Mints that can never be executed are given up. Returns null if the order mints nothing.
 */
export async function keepMints(
  tx: pg.ClientBase,
  order: Order,
  transactions: readonly OrderTransaction[],
  now: Date,
): Promise<MintingStanding | null> {
  if (order.terms.mint === undefined) return null;
  const mint = mintTermsOf(order.terms.mint);
  const commit = transactions.find(({ kind }) => kind === 'commit');
  // most calls come before the order is paid, and decide nothing about its rune
  if (commit === undefined && order.state !== 'prep') return { isUnknown: false, fault: null, mints: [] };
  const known = await knownRune(tx, mint);
  if (commit === undefined) return unsignedStanding(tx, mint, known);
  const mints = await readOrderMints(tx, order, transactions);
  if (known === null) return { isUnknown: true, fault: null, mints };
  const judged = await judge(tx, mints, known);
  const isDecided = order.state === 'waiting-rune-balance';
  const decided = isDecided ? await decide(tx, mint, judged, { known, commit, now }) : judged;
  return { isUnknown: false, fault: null, mints: decided };
}

/**
 * The rune of mints, if the index has the last block of payments. Returns null if the index lacks the block, or if
 * runes are unknown.
 */
async function knownRune(tx: pg.ClientBase, mint: MintTerms): Promise<KnownRune | null> {
  const tip = await knownTip(tx);
  if (tip === null) return null;
  const rune = await runeDetail(tx, { kind: 'id', id: mint.id });
  return { ...tip, rune: rune?.rune === mint.rune ? rune : null };
}

/** Checks the rune of an order whose mints will be signed next. */
async function unsignedStanding(
  tx: pg.ClientBase,
  mint: MintTerms,
  known: KnownRune | null,
): Promise<MintingStanding> {
  // mints of other orders in later blocks of the index would be treated as waiting by mistake
  if (known === null || known.isIndexAhead) return { isUnknown: true, fault: null, mints: [] };
  const { rune, height } = known;
  const fault =
    rune === null ? runeGone(mint) : mintFault(await mintFacts(tx, rune, 'new'), mint.count, height + 1);
  return { isUnknown: false, fault, mints: [] };
}

const runeGone = (mint: MintTerms): string =>
  `A reorganisation removed the etching of ${formatSpacedRune(mint)}, or gave the rune another id.`;

/** Adds to each mint whether its block executed it. */
async function judge(
  tx: pg.ClientBase,
  mints: readonly StoredMint[],
  { height: tip, rune }: KnownRune,
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
  readonly now: Date;
}

/** Releases mints, so that they are sent, or gives them up. Returns the updated mints. */
async function decide(
  tx: pg.ClientBase,
  mint: MintTerms,
  mints: readonly StoredMint[],
  { known: { height: tip, isIndexAhead, rune }, commit, now }: Deciding,
): Promise<readonly StoredMint[]> {
  const absent = mints.filter(
    ({ height, fault, isInMempool }) => height === null && fault === null && !isInMempool,
  );
  if (absent.length === 0) return mints;
  const isLate = now.getTime() - commit.madeAt.getTime() > heldMostMs;
  if (rune === null) {
    // a later block may etch the rune again with the same id
    if (isLate) return givenUp(tx, mints, absent, runeGone(mint));
    return held(tx, mints, absent);
  }
  const ended = mintsEnded(rune, tip + 1);
  if (ended !== null) return givenUp(tx, mints, absent, ended);
  // mints of other orders in later blocks of the index would be treated as waiting by mistake
  if (isIndexAhead) return mints;
  const waiting = absent.filter(({ isReleased }) => !isReleased);
  const left = isMintOpen(rune, tip + 1) ? mintsLeft(await mintFacts(tx, rune, 'holding')) : 0n;
  const due = waiting.slice(0, Number(left < BigInt(waiting.length) ? left : waiting.length));
  const late = waiting.slice(due.length);
  if (late.length > 0 && isLate) return givenUp(tx, mints, late, heldTooLong(rune));
  await releaseMints(
    tx,
    due.map(({ txid }) => txid),
  );
  return mints.map((each) => (due.includes(each) ? { ...each, isReleased: true } : each));
}

/** Stops sending mints to the node while their rune is not in the chain. */
async function held(
  tx: pg.ClientBase,
  mints: readonly StoredMint[],
  absent: readonly StoredMint[],
): Promise<readonly StoredMint[]> {
  await holdMints(
    tx,
    absent.map(({ txid }) => txid),
  );
  return mints.map((each) => (absent.includes(each) ? { ...each, isReleased: false } : each));
}

const heldTooLong = (rune: RuneDetail): string =>
  `Pending transactions of others could use all remaining mints of ${formatSpacedRune(rune)} for 24 hours.`;

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

/** Indices of mints that were given up and are not in a block. The commit's outputs for them are refunded. */
export const givenUpPlaces = ({ mints }: Pick<MintingStanding, 'mints'>): readonly number[] =>
  mints.filter(({ fault, height }) => fault !== null && height === null).map(({ place }) => place);

/**
 * Whether all mints are decided: in blocks that are deep enough, or refunded.
 *
 * @param refunded indices of mints whose money a refund spends
 * @param confirmations required confirmations of their blocks, at the tip of the index
 */
export function areMintsDecided(
  { mints }: Pick<MintingStanding, 'mints'>,
  refunded: readonly number[],
  { tip, confirmations }: { readonly tip: Height | null; readonly confirmations: number },
): boolean {
  // without new facts, the stored decision remains valid
  if (mints.length === 0) return false;
  return mints.every(
    ({ place, height, isExecuted }) =>
      refunded.includes(place) ||
      (height !== null && isExecuted !== null && tip !== null && tip - height + 1 >= confirmations),
  );
}

/** Txids, in display order, of mined mints that minted nothing. */
export const failedMints = (mints: readonly StoredMint[]): ReadonlySet<string> =>
  new Set(mints.filter(({ isExecuted }) => isExecuted === false).map(({ txid }) => displayHash(txid)));
