import { checkDestinations, type OwnAmong } from '#kernel/bitcoin/destination.ts';
import type { RequestFault } from '#kernel/requests/request-values.ts';
import type { OrderTerms } from '#orders/inscribing/order-terms.ts';

/** Scripts to which an order sends inscriptions, parents and refunds. */
export interface OrderDestinations {
  readonly terms: Pick<OrderTerms, 'receivers' | 'parents' | 'burn'>;
  readonly refundScript: Uint8Array | null;
}

/** A field of a request, and a script that it names. */
export type NamedScript = readonly [field: string, script: Uint8Array];

/**
 * The destinations of an order, with the fields that name them. Receivers are left out if the inscriptions are burned.
 */
function destinationsOf({ terms, refundScript }: OrderDestinations): readonly NamedScript[] {
  const receivers = terms.burn ? [] : terms.receivers;
  return [
    ...receivers.map((script): NamedScript => ['receiveAddress', script]),
    ...terms.parents.map(({ returnScript }): NamedScript => ['parents', returnScript]),
    ...(refundScript === null ? [] : [['refundAddress', refundScript] as NamedScript]),
  ];
}

/**
 * Faults of an order's destinations. Our own addresses are refused, because an output at such an address would be
 * treated as a payment of another order.
 */
export const destinationFaults = (
  order: OrderDestinations,
  ownAmong: OwnAmong,
): Promise<readonly RequestFault[]> => namedFaults(destinationsOf(order), ownAmong);

/**
 * Faults of destinations, at most one for each field. Amounts (postage and values of parents) are not checked here, but
 * with the terms.
 */
export async function namedFaults(
  named: readonly NamedScript[],
  ownAmong: OwnAmong,
): Promise<readonly RequestFault[]> {
  const destinations = named.map(([field, script]) => ({ field, script, amount: null }));
  const reasons = new Map<string, string>();
  for (const { destination, reason } of await checkDestinations(destinations, ownAmong)) {
    const { field } = destination;
    if (!reasons.has(field)) reasons.set(field, reason);
  }
  return [...reasons].map(([parameter, reason]) => ({ message: `${parameter} ${reason}.`, parameter }));
}
