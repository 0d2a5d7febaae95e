import type { OrderTerms } from '#orders/inscribing/order-terms.ts';
import type { RequestFault } from '#orders/reading/request-values.ts';
import type { NodePolicy } from '#orders/sending/node-policy.store.ts';

/** What the node does not relay could never be delivered. */
export function feeFaults(
  { feeRate }: Pick<OrderTerms, 'feeRate'>,
  policy: NodePolicy | null,
): RequestFault[] {
  if (policy === null || feeRate >= policy.leastFeeRate) return [];
  const [asked, least] = [feeRate, policy.leastFeeRate].map((rate) => Number(rate) / 1000);
  return [
    { message: `fee: the node relays nothing below ${least} sat/vB, so not ${asked}.`, parameter: 'fee' },
  ];
}
