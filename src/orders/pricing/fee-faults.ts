import type { OrderTerms } from '#orders/inscribing/order-terms.ts';
import type { RequestFault } from '#orders/reading/request-values.ts';
import type { NodePolicy } from '#orders/sending/node-policy.store.ts';

/**
 * Fault of the fee of an order that is burned: anybody may take an inscription from its anchor until the burn is mined, so
 * it must not wait. None without an estimate of the node.
 */
export function burnFaults(
  { burn, feeRate }: Pick<OrderTerms, 'burn' | 'feeRate'>,
  policy: NodePolicy | null,
): RequestFault[] {
  const estimate = policy?.estimate ?? null;
  if (!burn || estimate === null || feeRate >= estimate) return [];
  const [asked, least] = [feeRate, estimate].map((rate) => Number(rate) / 1000);
  const message = `fee: with burnAfterInscribe it is at least ${least} sat/vB now, not ${asked}, so that nobody takes the inscription before it is burned.`;
  return [{ message, parameter: 'fee' }];
}

/** Faults for which an order would be refused though it has a price, by the codes of warnings. */
export const feeWarnings = (
  terms: Pick<OrderTerms, 'burn' | 'feeRate'>,
  policy: NodePolicy | null,
): FeeWarnings => ({
  'fee-not-relayed': feeFaults(terms, policy),
  'burn-fee-low': burnFaults(terms, policy),
});

export type FeeWarnings = Readonly<Record<'fee-not-relayed' | 'burn-fee-low', readonly RequestFault[]>>;

/** Fault of a fee that the node does not relay: the order could never be delivered. */
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
