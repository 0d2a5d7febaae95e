import { postageMost } from '#inventory/inventory-standing.ts';
import { type InventoryType, inventoryTypeOf, inventoryTypes } from '#inventory/inventory-types.ts';
import type { Faulty, RequestFault } from '#kernel/requests/request-values.ts';
import { inventoryFaults } from '#orders/inscribing/check-terms.ts';
import type { OrderTerms } from '#orders/inscribing/order-terms.ts';
import { postageOf } from '#orders/inscribing/settled-terms.ts';

const parameter = 'rareSats';

/** Value of `rareSats` for common sats. Every payment has common sats, so no inventory sat is needed. */
export const commonSats = 'random';

export interface RareSats {
  readonly kind: 'read';
  /** A type of the inventory. Null if the order uses sats of the payment. */
  readonly type: InventoryType | null;
}

/** Reads the type of sats that an order requests. */
export function readRareSats(rareSats: string): RareSats | Faulty {
  if (rareSats === commonSats) return { kind: 'read', type: null };
  const type = inventoryTypeOf(rareSats);
  return type === null
    ? rareSatsFault(`rareSats must be one of ${[commonSats, ...inventoryTypes].join(', ')}`)
    : { kind: 'read', type };
}

/** The fault of an order that cannot have the requested sats. */
export const rareSatsFault = (message: string): Faulty => ({
  kind: 'faulty',
  faults: [{ message, parameter }],
});

/** Faults of an order that can never have an inventory sat, even with a full inventory. */
export function rareSatsFaults(
  type: InventoryType | null,
  terms: OrderTerms,
  allowed: readonly string[] | null,
): RequestFault[] {
  if (type === null) return [];
  const faults: RequestFault[] = [...inventoryFaults(terms)].map(({ code, reason }) => ({
    message: reason,
    parameter: code === 'inventory-files' ? 'files' : parameter,
  }));
  const postage = postageOf(terms);
  // all sats of the output are special sats of the operator, but the customer pays for only one
  if (postage > postageMost)
    faults.push({
      message: `postage is at most ${postageMost} sats with rareSats, but this order has ${postage}.`,
      parameter: 'postage',
    });
  if (allowed === null) return faults;
  const message =
    'rareSats is not possible with allowedSatributes, because allowedSatributes is for sats of the payment.';
  return [...faults, { message, parameter }];
}
