import type pg from 'pg';
import { readPayments, type WatchedPayment } from '#payments/payments.queries.ts';
import { readPaymentsOffset } from '#payments/store/offset.store.ts';
import { orderWatcher } from '#purse/destinations/own-scripts.ts';
import { outpointOf } from '#purse/transactions/outpoint.ts';
import { creditedUnits } from './crediting/credited-units.ts';
import { readCredits } from './crediting/credits.store.ts';
import { readTokenOrder } from './order/token-order.store.ts';
import { type ChargeKind, chargeKinds, type InscriptionFee, type TokenOrder } from './order/token-order.ts';
import { tokenWatcherOf } from './order/watchers.ts';

/** Payments of a charge that were seen but are not credited yet, so their amount is unknown. */
interface SeenPart {
  /** Confirmations of the newest payment, or 0 if it is in the mempool. */
  readonly confirmations: number;
  /** Whether at least one payment was first seen in time, so that it can still pay the charge. */
  readonly isInTime: boolean;
}

/** The unpaid part of a charge. */
export interface MissingPart {
  /** Amount in sats, or in base units of the rune. */
  readonly amount: bigint;
  readonly script: Uint8Array;
  /** Payments that were seen but not credited, or null if there are none. */
  readonly seen: SeenPart | null;
}

/** An order with the missing parts of its charges. */
export interface OpenTokenOrder {
  readonly order: TokenOrder;
  readonly missing: Readonly<Record<ChargeKind, MissingPart>>;
}

/** Reads an order and its missing parts. Returns null if no order has this id. */
export async function readOpenTokenOrder(
  client: pg.Pool | pg.ClientBase,
  id: string,
): Promise<OpenTokenOrder | null> {
  const order = await readTokenOrder(client, id);
  if (order === null) return null;
  const credits = (await readCredits(client, [id])).get(id) ?? [];
  const payments = await readPayments(client, tokenWatcherOf(id));
  // the tip is read after the payments, so that it includes the blocks of the payments
  const tip = (await readPaymentsOffset(client))?.height ?? -1;
  const credited = new Set(credits.map(outpointOf));
  const { inscription } = order;
  const ofInscription =
    inscription === null
      ? null
      : missingFee(order, inscription, await readPayments(client, orderWatcher(inscription.orderId)), tip);
  const missingOf = (kind: ChargeKind): MissingPart => {
    if (kind === 'fee' && ofInscription !== null) return ofInscription;
    const { amount, script } = order.charges[kind];
    const came = creditedUnits(order, kind, credits);
    const isOpen = (payment: WatchedPayment): boolean =>
      payment.goneAt === null &&
      !credited.has(outpointOf(payment)) &&
      Buffer.compare(payment.script, script) === 0;
    return {
      amount: came >= amount ? 0n : amount - came,
      script,
      seen: seenOf(order, payments.filter(isOpen), tip),
    };
  };
  const [fee, token] = chargeKinds.map(missingOf) as [MissingPart, MissingPart];
  return { order, missing: { fee, token } };
}

/**
 * Minimum size of a payment in sats. Inscription orders ignore smaller payments, because nodes do not relay such
 * payments to a P2TR address.
 */
const feeLeast = 330n;

/** The missing sats of an inscription order. The amount of these payments is known even before they are in a block. */
function missingFee(
  order: TokenOrder,
  { paid }: InscriptionFee,
  payments: readonly WatchedPayment[],
  tip: number,
): MissingPart {
  const { amount, script } = order.charges.fee;
  if (paid === 'deep') return { amount: 0n, script, seen: null };
  const there = payments.filter(
    ({ goneAt, firstSeen, value }) => goneAt === null && firstSeen <= order.expiresAt && value >= feeLeast,
  );
  const came = there.reduce((sum, { value }) => sum + value, 0n);
  return came >= amount
    ? { amount, script, seen: seenOf(order, there, tip) }
    : { amount: amount - came, script, seen: null };
}

function seenOf(
  { expiresAt }: Pick<TokenOrder, 'expiresAt'>,
  waiting: readonly WatchedPayment[],
  tip: number,
): SeenPart | null {
  if (waiting.length === 0) return null;
  const inTime = waiting.filter(({ firstSeen }) => firstSeen <= expiresAt);
  const shown = inTime.length === 0 ? waiting : inTime;
  // at least 1, because a reorganisation may move the tip below blocks that were read before
  const depths = shown.map(({ block }) => (block === null ? 0 : Math.max(1, tip - block.height + 1)));
  return { confirmations: Math.min(...depths), isInTime: inTime.length > 0 };
}
