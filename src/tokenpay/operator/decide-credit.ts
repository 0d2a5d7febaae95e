import type pg from 'pg';
import { AppError } from '#kernel/errors/app-error.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { endAside } from '#purse/coins/coins.store.ts';
import { outpointOf } from '#purse/transactions/outpoint.ts';
import type { Credit, FoundAside } from '#tokenpay/crediting/credit.ts';
import { creditAside, orderOfCredit, readCredits } from '#tokenpay/crediting/credits.store.ts';
import { type AsideDecision, insertDecision, readDecisions } from '#tokenpay/crediting/decisions.store.ts';
import { bringOn } from '#tokenpay/following/bring-on.ts';
import { lockTokenOrders } from '#tokenpay/order/token-order.store.ts';
import type { TokenOrder } from '#tokenpay/order/token-order.ts';
import type { CreditingPolicy } from '#tokenpay/order/token-policy.ts';

/** An output that an operator names. `by` is the name of the person who decides, and a reason is given. */
export interface NamedAside extends Pick<Credit, 'txid' | 'vout'> {
  readonly by: string;
  readonly reason: string;
}

/** An output that is set aside and has no decision yet. */
export interface OpenAside {
  readonly order: TokenOrder;
  readonly credit: Credit & { readonly aside: FoundAside };
}

/**
 * Locks the order of an output that is set aside, so that only one decision about the output is possible. Throws
 * `tokenpay_unknown`. Throws `tokenpay_refuses` with the name of the person who already decided.
 */
export async function lockAside(
  tx: pg.ClientBase,
  named: Pick<NamedAside, 'txid' | 'vout'>,
): Promise<OpenAside> {
  const outpoint = outpointOf(named);
  const id = await orderOfCredit(tx, named);
  const [order] = id === null ? [] : await lockTokenOrders(tx, [id]);
  // the credits are read after the lock, because a reorganisation may have removed the output
  const credits = order === undefined ? [] : ((await readCredits(tx, [order.id])).get(order.id) ?? []);
  const credit = credits.find((each) => outpointOf(each) === outpoint);
  if (order === undefined || credit === undefined)
    throw new AppError('tokenpay_unknown', `No order has a confirmed output ${outpoint}.`);
  const decision = (await readDecisions(tx, [order.id])).get(outpoint);
  if (decision !== undefined) throw new AppError('tokenpay_refuses', decidedBefore(outpoint, decision));
  const { aside } = credit;
  if (aside === null)
    throw new AppError('tokenpay_refuses', `${outpoint} is already credited completely to ${order.account}.`);
  return { order, credit: { ...credit, aside } };
}

function decidedBefore(
  outpoint: string,
  { kind, decidedAt, decidedBy, reason, payout }: AsideDecision,
): string {
  const became = kind === 'credit' ? 'credited' : 'returned';
  const how = payout === null ? '' : ` with the payout ${payout}`;
  return `${outpoint} was ${became} by ${decidedBy} at ${decidedAt.toISOString()}${how}: ${reason}`;
}

/**
 * A policy under which no payment is deep enough. New payments are credited only by the process that follows token
 * orders, because it also examines their sats.
 */
const nothingNew: CreditingPolicy = {
  confirmations: Number.MAX_SAFE_INTEGER,
  byRune: new Map(),
  special: () => [],
};

/**
 * Credits an output that is set aside to the account of its order: exactly its sats and runes. The charge then includes
 * the output like any other payment. The ledger, the coin and the shop's notification change in the same transaction.
 * Throws the errors of `lockAside`.
 */
export function decideCredit(pool: pg.Pool, named: NamedAside, now: Date): Promise<OpenAside> {
  return withTransaction(pool, (tx) => decideCreditIn(tx, named, now));
}

/** Does the work of `decideCredit` in a transaction of the caller. */
export async function decideCreditIn(tx: pg.ClientBase, named: NamedAside, now: Date): Promise<OpenAside> {
  const open = await lockAside(tx, named);
  const { order, credit } = open;
  const { txid, vout, by: decidedBy, reason } = named;
  const decision = { txid, vout, decidedBy, reason, orderId: order.id, found: credit.aside } as const;
  const isNew = await insertDecision(tx, { ...decision, kind: 'credit', payout: null });
  if (!isNew) throw new AppError('tokenpay_refuses', `Meanwhile someone decided about ${outpointOf(named)}.`);
  await creditAside(tx, credit);
  await endAside(tx, credit);
  await bringOn(tx, [order.id], nothingNew, now, new Set([order.id]));
  return open;
}
