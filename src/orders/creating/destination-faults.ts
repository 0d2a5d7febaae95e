import type { OrderTerms } from '#orders/inscribing/order-terms.ts';
import type { RequestFault } from '#orders/reading/request-values.ts';
import { ownScriptReason } from '#orders/watching/own-scripts.ts';

/** Scripts that an order sends inscriptions, parents and refunds to. */
export interface OrderDestinations {
  readonly terms: Pick<OrderTerms, 'receivers' | 'parents' | 'burn'>;
  readonly refundScript: Uint8Array | null;
}

/** The destinations by the fields that name them. The receivers of what is burned get nothing. */
function destinationsOf({ terms, refundScript }: OrderDestinations): readonly [string, Uint8Array][] {
  const receivers = terms.burn ? [] : terms.receivers;
  return [
    ...receivers.map((script): [string, Uint8Array] => ['receiveAddress', script]),
    ...terms.parents.map(({ returnScript }): [string, Uint8Array] => ['parents', returnScript]),
    ...(refundScript === null ? [] : [['refundAddress', refundScript] as [string, Uint8Array]]),
  ];
}

/** Faults of destinations that are the service's own: what goes there would pay for another order. */
export async function destinationFaults(
  order: OrderDestinations,
  ownAmong: (scripts: readonly Uint8Array[]) => Promise<readonly Uint8Array[]>,
): Promise<readonly RequestFault[]> {
  const destinations = destinationsOf(order);
  // 10,000 files may go to one address
  const scripts = new Map(destinations.map(([, script]) => [hexOf(script), script]));
  const own = new Set((await ownAmong([...scripts.values()])).map(hexOf));
  const fields = destinations.filter(([, script]) => own.has(hexOf(script))).map(([field]) => field);
  return [...new Set(fields)].map((parameter) => ({
    message: `${parameter} ${ownScriptReason}.`,
    parameter,
  }));
}

const hexOf = (script: Uint8Array): string => Buffer.from(script).toString('hex');
