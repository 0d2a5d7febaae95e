import type pg from 'pg';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { displayHash, parseTxid } from '#kernel/primitives/hash.ts';
import { formatRuneId } from '#kernel/runes/rune-id.ts';
import { readPaymentsOffset } from '#payments/store/offset.store.ts';
import { countUnscanned } from '#payments/store/watches.store.ts';
import { readCoinsFill } from '#purse/coins/coins-fill.store.ts';
import { type PaymentHold, readHold } from '#purse/holding/payment-hold.store.ts';
import { readHoldings } from '#purse/transactions/input-holdings.ts';
import type { PublicWallet } from '#wallet/public-wallet.ts';
import { ChainReader, type Evidence, type NodeBlock, paidKey } from './find-transactions.ts';
import { type FoundTransaction, paymentsOf } from './found-transaction.ts';
import { knownMoney, stillUnknown } from './known-money.ts';
import { type MatchedPayments, matchPayments, type UnitsOfRunes } from './match-payments.ts';
import { readNodeState, whyNodeLacks } from './node-state.ts';
import { type OpenPayments, readOpenPayments, readOwedPartners } from './open-payments.ts';

/** Everything about payments on hold: what waits, and what the chain has. */
export interface HeldPayments extends MatchedPayments {
  readonly hold: PaymentHold;
  readonly open: OpenPayments;
  /** Why the hold cannot be released now, in words. Null if the chain is followed to its tip. */
  readonly behind: string | null;
}

export interface HeldParts {
  readonly pool: pg.Pool;
  readonly node: NodeRpc;
  readonly wallet: PublicWallet;
  readonly signal: AbortSignal;
  readonly onBlock: (height: number, tip: number) => void;
}

/**
 * Compares payments on hold with the chain. Returns null if payments are not on hold. Changes nothing. The reader can
 * read later blocks and the mempool again.
 */
export async function readHeldPayments(
  parts: HeldParts,
): Promise<{ readonly held: HeldPayments; readonly reader: ChainReader } | null> {
  const { pool } = parts;
  const hold = await readHold(pool);
  if (hold === null) return null;
  // coins that the database lacks while it is behind are not recognised, so a comparison needs both times
  const before = await whyBehind(pool, parts, null);
  const { payouts, withdrawals } = await withTransaction(pool, readOpenPayments);
  const payees = [...payouts.flatMap((each) => each.payees), ...withdrawals];
  const reader = await ChainReader.start({
    ...parts,
    known: knownMoney(pool),
    hold,
    wanted: new Set(payees.map(({ script, sats }) => paidKey(script, sats))),
    ownIndices: payouts.flatMap(({ payout: { ownIndex } }) => ownIndex ?? []),
  });
  const evidence = await reader.read();
  const held = await withTransaction(pool, (tx) => compareHeld(tx, parts, hold, evidence));
  return { held: { ...held, behind: before ?? held.behind }, reader };
}

/** Compares payments that are open now with found transactions. */
export async function compareHeld(
  tx: pg.ClientBase,
  parts: Pick<HeldParts, 'node' | 'wallet'>,
  hold: PaymentHold,
  { found: read, tip }: Evidence,
): Promise<HeldPayments> {
  const behind = await whyBehind(tx, parts, tip);
  const open = await readOpenPayments(tx);
  const found = await stillUnknown(tx, read);
  const partners = await readOwedPartners(tx, parts.wallet.network);
  return { hold, open, behind, ...matchPayments(found, open, await unitsOf(tx, found), partners) };
}

/**
 * Why the database or the node does not know all blocks and transactions yet. Null if both do.
 *
 * @param tip the last block that was compared. Null if no block was compared yet
 */
async function whyBehind(
  client: pg.Pool | pg.ClientBase,
  { node, wallet: { network } }: Pick<HeldParts, 'node' | 'wallet'>,
  tip: NodeBlock | null,
): Promise<string | null> {
  const lacks = whyNodeLacks(await readNodeState(node), network);
  if (lacks !== null) return lacks;
  const best = await node.call<string>('getbestblockhash', []);
  const offset = await readPaymentsOffset(client);
  if (offset === null || displayHash(offset.hash) !== best)
    return `Payments are followed to block ${offset?.height ?? 'none'}, and the node has later blocks. Start the service and wait until it is at the tip.`;
  if (tip !== null && tip.hash !== best)
    return 'A block arrived after the chain was compared with the payments. Run this command again.';
  if ((await countUnscanned(client)) > 0)
    return 'Old blocks are still being scanned for payments. Wait until the service has scanned them.';
  if (!(await readCoinsFill(client)).isComplete)
    return 'Coins of earlier orders are still being listed. Wait until the service has listed them.';
  return null;
}

/** Units of runes in outputs that pay others, by output. Outputs without runes are left out. */
async function unitsOf(
  tx: pg.ClientBase,
  found: readonly FoundTransaction[],
): Promise<ReadonlyMap<string, UnitsOfRunes>> {
  const outputs = found.flatMap((made) => {
    const txid = parseTxid(made.txid);
    if (txid === null) return [];
    return paymentsOf(made).map((output) => {
      const vout = made.outputs.indexOf(output);
      return { name: `${made.txid}:${vout}`, txid, vout, script: Buffer.from(output.script, 'hex') };
    });
  });
  const held = await readHoldings(tx, outputs);
  return new Map(
    outputs.flatMap(({ name }, place) => {
      const runes = held[place]?.runes ?? [];
      if (runes.length === 0) return [];
      return [[name, new Map(runes.map(({ id, amount }) => [formatRuneId(id), BigInt(amount)]))] as const];
    }),
  );
}

/** Number of payments that are made after a release. */
export function countLeft({ open, bookings }: HeldPayments): number {
  const booked = new Set(bookings.flatMap((booking) => booking.open ?? []));
  const paid = new Set(bookings.flatMap((booking) => booking.paid.map(({ payee }) => payee)));
  const unsigned = open.payouts.filter((each) => each.family === null && !booked.has(each));
  return unsigned.length + open.withdrawals.filter((each) => !paid.has(each)).length;
}

/**
 * Throws `release_refused` if a payment may have been made, if the database does not know a payment, and if the chain
 * is not followed to its tip.
 */
export function requireReleasable(held: HeldPayments, mayPayAgain: boolean): void {
  const { behind, unsure, unknown } = held;
  if (behind !== null) throw new AppError('release_refused', behind);
  requireMined(held);
  if (mayPayAgain) return;
  const [first] = unsure;
  if (first !== undefined)
    throw new AppError(
      'release_refused',
      `The transaction ${first.found.txid} pays ${first.payee.address}, and a payment on hold would pay ${first.payee.sats} sats to that address. The service cannot tell whether the payment was made. Compare both with satscribe payouts held. Then add --pay-again if the payment was not made.`,
    );
  const [lost] = unknown;
  if (lost !== undefined)
    throw new AppError(
      'release_refused',
      `The transaction ${lost.found.txid} paid ${lost.output.value} sats to ${lost.output.address ?? lost.output.script}, and the database does not have that payment, so its payer has the old balance. Have it asked for again with the same receiver and amount, so that the release books it (docs/runbook.md, "Payments on hold"). Or add --pay-again to leave the balances as they are.`,
    );
}

/** Throws `release_refused` while a transaction that a release would book, or that makes a payment, is in no block. */
function requireMined({ unmined, unsure, unknown }: HeldPayments): void {
  const likely = unsure.find(({ why }) => why === 'unmined');
  if (likely !== undefined)
    throw new AppError(
      'release_refused',
      `The transaction ${likely.found.txid} is in the mempool, and pays ${likely.payee.address}, which a payment on hold would pay, too. Wait until a block has the transaction, and run this command again.`,
    );
  const pending = unknown.find(({ found }) => found.height === null)?.found ?? unmined[0];
  if (pending !== undefined)
    throw new AppError(
      'release_refused',
      `The transaction ${pending.txid} is in the mempool, and the database does not have it. Wait until a block has the transaction, and run this command again.`,
    );
}

/**
 * Throws `release_refused` if a release would do what the operator has not seen: book another transaction, or leave
 * another payment unsure or unknown. Payments that were asked for since, and that no found transaction makes, are new.
 */
export function requireShown(now: HeldPayments, shown: HeldPayments): void {
  const before = new Set(decisionsOf(shown));
  const after = decisionsOf(now);
  const isSame = after.every((each) => before.has(each)) && now.bookings.length === shown.bookings.length;
  if (isSame) return;
  throw new AppError(
    'release_refused',
    'The found transactions or the payments on hold changed after they were shown. Nothing was changed. Read satscribe payouts held, and run this command again.',
  );
}

/** Texts that name everything that a release books or accepts. */
const decisionsOf = ({ bookings, unsure, unknown }: HeldPayments): string[] => [
  ...bookings.map(({ found, open, shares, paid }) =>
    JSON.stringify([
      'booked',
      found.txid,
      open?.payout.id,
      shares.map(({ account, owner, sats }) => [account, owner, `${sats}`]),
      paid.map(({ payee }) => (payee === null ? null : [payee.withdrawal, payee.script])),
    ]),
  ),
  ...unsure.map(({ found, payee, payout, why }) =>
    JSON.stringify(['unsure', found.txid, payee.script, `${payee.sats}`, payee.withdrawal, payout, why]),
  ),
  ...unknown.map(({ found, output }) =>
    JSON.stringify(['unknown', found.txid, found.outputs.indexOf(output)]),
  ),
];
