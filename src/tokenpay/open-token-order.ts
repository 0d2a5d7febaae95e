import type pg from 'pg';
import { readPayments, type WatchedPayment } from '#payments/payments.queries.ts';
import { outpointOf } from '#purse/transactions/outpoint.ts';
import { creditedUnits } from './crediting/credited-units.ts';
import { readCredits } from './crediting/credits.store.ts';
import { readTokenOrder } from './order/token-order.store.ts';
import { type ChargeKind, chargeKinds, type TokenOrder } from './order/token-order.ts';
import { tokenWatcherOf } from './order/watchers.ts';

/** The part of a charge that nothing was paid for yet. */
export interface MissingPart {
  /** Sats, or base units of the rune. */
  readonly amount: bigint;
  readonly script: Uint8Array;
  /** A payment of it is seen, and not credited yet: how much it brings is not known. */
  readonly isSeen: boolean;
}

/** An order with what its charges lack. */
export interface OpenTokenOrder {
  readonly order: TokenOrder;
  readonly missing: Readonly<Record<ChargeKind, MissingPart>>;
}

/** An order and what is missing of it; null: there is none with this id. */
export async function readOpenTokenOrder(
  client: pg.Pool | pg.ClientBase,
  id: string,
): Promise<OpenTokenOrder | null> {
  const order = await readTokenOrder(client, id);
  if (order === null) return null;
  const credits = (await readCredits(client, [id])).get(id) ?? [];
  const payments = await readPayments(client, tokenWatcherOf(id));
  const credited = new Set(credits.map(outpointOf));
  const missingOf = (kind: ChargeKind): MissingPart => {
    const { amount, script } = order.charges[kind];
    const came = creditedUnits(order, kind, credits);
    const isOpen = (payment: WatchedPayment): boolean =>
      payment.goneAt === null &&
      !credited.has(outpointOf(payment)) &&
      Buffer.compare(payment.script, script) === 0;
    return { amount: came >= amount ? 0n : amount - came, script, isSeen: payments.some(isOpen) };
  };
  const [fee, token] = chargeKinds.map(missingOf) as [MissingPart, MissingPart];
  return { order, missing: { fee, token } };
}
