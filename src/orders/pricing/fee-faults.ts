import type { RequestFault } from '#kernel/requests/request-values.ts';
import type { OrderTerms } from '#orders/inscribing/order-terms.ts';
import type { NodePolicy } from '#orders/sending/node-policy.store.ts';

/**
 * Faults of the fee of an order that burns its inscriptions. Anyone may take an inscription from its anchor until the
 * burn is mined, so the burn must not wait. Empty if the node has no estimate.
 */
export function burnFaults(
  { burn, feeRate }: Pick<OrderTerms, 'burn' | 'feeRate'>,
  policy: NodePolicy | null,
): RequestFault[] {
  const estimate = policy?.estimate ?? null;
  if (!burn || estimate === null || feeRate >= estimate) return [];
  const [asked, least] = [feeRate, estimate].map((rate) => Number(rate) / 1000);
  const message = `fee must be at least ${least} sat/vB with burnAfterInscribe now, not ${asked}, because anyone could take the inscription before it is burned.`;
  return [{ message, parameter: 'fee' }];
}

/** Warnings about the fee of an order in a price, by their codes. The first two are reasons to refuse the order. */
export const feeWarnings = (
  terms: Pick<OrderTerms, 'burn' | 'feeRate'>,
  policy: NodePolicy | null,
): FeeWarnings => ({
  'fee-not-relayed': feeFaults(terms, policy),
  'burn-fee-low': burnFaults(terms, policy),
  'fee-below-estimate': estimateWarnings(terms, policy?.estimate ?? null),
});

export type FeeWarnings = Readonly<
  Record<'fee-not-relayed' | 'burn-fee-low' | 'fee-below-estimate', readonly { readonly message: string }[]>
>;

/**
 * Warning about a fee below the node's estimate. The order is accepted, but may wait. Empty if there is no estimate,
 * and for a burn, which is refused.
 */
export function estimateWarnings(
  { burn, feeRate }: Pick<OrderTerms, 'burn' | 'feeRate'>,
  estimate: bigint | null,
): readonly { readonly message: string }[] {
  if (burn || estimate === null || feeRate >= estimate) return [];
  const [asked, usual] = [feeRate, estimate].map((rate) => Number(rate) / 1000);
  const message = `fee of ${asked} sat/vB is below the present estimate of the node (${usual}), so the transactions may wait for days.`;
  return [{ message }];
}

/** Fault of a fee that the node does not relay, so the order could never be delivered. */
export function feeFaults(
  { feeRate }: Pick<OrderTerms, 'feeRate'>,
  policy: NodePolicy | null,
): RequestFault[] {
  if (policy === null || feeRate >= policy.leastFeeRate) return [];
  const [asked, least] = [feeRate, policy.leastFeeRate].map((rate) => Number(rate) / 1000);
  return [
    {
      message: `fee must be at least ${least} sat/vB, not ${asked}, because the node relays nothing below that.`,
      parameter: 'fee',
    },
  ];
}
