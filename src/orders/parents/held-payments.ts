import type pg from 'pg';
import { heldAtScript } from '#chain/outputs/received-output.queries.ts';
import type { HeldInscription, RuneAmount } from '#kernel/contracts/holdings.ts';
import { parseInscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { Order } from '#orders/order/order.store.ts';
import type { WatchedPayment } from '#payments/payments.queries.ts';
import { outpointOf } from '#purse/transactions/outpoint.ts';

/** Facts of the index about a payment to the address of an order. */
export interface HeldPayment {
  /** Whether the index has the block of the payment. If not, nothing is known about the contents of the payment. */
  readonly isIndexed: boolean;
  /**
   * Whether the payment holds an inscription or a rune. If so, its sats are spent only if other payments are not
   * enough.
   */
  readonly isHolding: boolean;
  /** Whether the payment holds a parent of the order that was sent to the wrong address. */
  readonly isParent: boolean;
  readonly inscriptions: readonly HeldInscription[];
  /** Runes in the payment. Null if they are unknown in this index. */
  readonly runes: readonly RuneAmount[] | null;
}

/** Payments by `<txid>:<vout>`. Payments without a block are absent. */
export type HeldPayments = ReadonlyMap<string, HeldPayment>;

/**
 * Whether a payment holds an inscription that no delivery may spend. If the order wants certain sats, the sats decide
 * instead.
 */
export const isInscribed = ({ request }: Pick<Order, 'request'>, held: HeldPayment | undefined): boolean =>
  request.allowedSatributes === null && (held?.inscriptions.length ?? 0) > 0;

/** Reads from the index the contents of payments to an order's address, in addition to sats. */
export async function readHeldPayments(
  tx: pg.ClientBase,
  { script, terms }: Pick<Order, 'script' | 'terms'>,
  payments: readonly WatchedPayment[],
): Promise<HeldPayments> {
  const mined = payments.filter(({ block }) => block !== null);
  if (mined.length === 0) return new Map();
  const named = terms.parents.flatMap(({ id }) => parseInscriptionId(id) ?? []);
  const held = await heldAtScript(tx, script, mined, named);
  return new Map(
    mined.flatMap((payment, place): (readonly [string, HeldPayment])[] => {
      const found = held[place];
      if (found === undefined) return [];
      const { isIndexed, inscriptions, isNamed: isParent, runes } = found;
      const isHolding = inscriptions.length > 0 || (runes !== null && runes.length > 0);
      return [[outpointOf(payment), { isIndexed, isHolding, isParent, inscriptions, runes }]];
    }),
  );
}
