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
import { findTransactions, paidKey } from './find-transactions.ts';
import { type FoundTransaction, paymentsOf } from './found-transaction.ts';
import { type MatchedPayments, matchPayments, type UnitsOfRunes } from './match-payments.ts';
import { type OpenPayments, readOpenPayments } from './open-payments.ts';

/** Everything about payments on hold: what waits, and what the chain has. */
export interface HeldPayments extends MatchedPayments {
  readonly hold: PaymentHold;
  readonly open: OpenPayments;
  /** All found transactions, and the units of runes in their outputs. */
  readonly found: readonly FoundTransaction[];
  readonly unitsAt: ReadonlyMap<string, UnitsOfRunes>;
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

/** Compares payments on hold with the chain. Returns null if payments are not on hold. Changes nothing. */
export async function readHeldPayments(parts: HeldParts): Promise<HeldPayments | null> {
  const { pool, node } = parts;
  const hold = await readHold(pool);
  if (hold === null) return null;
  const behind = await whyBehind(pool, node);
  const open = await withTransaction(pool, readOpenPayments);
  const payees = [...open.payouts.flatMap((each) => each.payees), ...open.withdrawals];
  const found = await findTransactions({
    ...parts,
    hold,
    wanted: new Set(payees.map(({ script, sats }) => paidKey(script, sats))),
    ownIndices: open.payouts.flatMap(({ payout: { ownIndex } }) => ownIndex ?? []),
  });
  const unitsAt = await unitsOf(pool, found);
  return { hold, open, behind, found, unitsAt, ...matchPayments(found, open, unitsAt) };
}

/** Why the database does not know all blocks yet. Null if it does. */
async function whyBehind(pool: pg.Pool, node: NodeRpc): Promise<string | null> {
  const best = await node.call<string>('getbestblockhash', []);
  const offset = await readPaymentsOffset(pool);
  if (offset === null || displayHash(offset.hash) !== best)
    return `Payments are followed to block ${offset?.height ?? 'none'}, and the node has later blocks. Start the service and wait until it is at the tip.`;
  if ((await countUnscanned(pool)) > 0)
    return 'Old blocks are still being scanned for payments. Wait until the service has scanned them.';
  if (!(await readCoinsFill(pool)).isComplete)
    return 'Coins of earlier orders are still being listed. Wait until the service has listed them.';
  return null;
}

/** Units of runes in outputs that pay others, by output. Outputs without runes are left out. */
async function unitsOf(
  pool: pg.Pool,
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
  const held = await readHoldings(pool, outputs);
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
 * Throws `release_refused` if a payment may have been made, if the database does not know a payment, and if the chain is
 * not followed to its tip.
 */
export function requireReleasable({ behind, unsure, unknown }: HeldPayments, mayPayAgain: boolean): void {
  if (behind !== null) throw new AppError('release_refused', behind);
  const unmined = unsure.find(({ why }) => why === 'unmined');
  if (unmined !== undefined)
    throw new AppError(
      'release_refused',
      `The transaction ${unmined.found.txid} is in the mempool, and pays ${unmined.payee.address}, which a payment on hold would pay, too. Wait until a block has the transaction, and run this command again.`,
    );
  const pending = unknown.find(({ found }) => found.height === null);
  if (pending !== undefined)
    throw new AppError(
      'release_refused',
      `The transaction ${pending.found.txid} is in the mempool, and the database does not have it. Wait until a block has the transaction, and run this command again.`,
    );
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
