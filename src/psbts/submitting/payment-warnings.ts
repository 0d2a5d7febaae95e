import type { RawTransaction } from '#indexer/transaction/raw-transaction.ts';
import type { SatributeBook } from '#kernel/satributes/satribute-book.ts';
import { afterPayment, type WantedPayment } from '#orders/paying/after-payment.ts';
import type { FoundOrder, OpenOrder } from '#orders/paying/open-order.ts';

/**
 * Sentences for the sender of a payment. They say what is missing from the orders after the payment, and which part of
 * it has no effect. Pure.
 */
export const paymentWarnings = (
  found: readonly FoundOrder[],
  transaction: RawTransaction,
  satributes: SatributeBook,
): string[] =>
  found.flatMap((each) => {
    if (each.kind === 'open') return orderWarnings(each.order, transaction, satributes);
    if (each.kind === 'paid')
      return [
        'The transaction pays an order that is already paid. The part that does not replace an earlier payment is refunded.',
      ];
    return each.kind === 'over'
      ? [`The transaction pays an order that accepts no more money (${each.state}). This part is refunded.`]
      : [];
  });

function orderWarnings(order: OpenOrder, { outputs }: RawTransaction, satributes: SatributeBook): string[] {
  const { address, parents } = order;
  const paid = (script: Uint8Array) =>
    outputs.flatMap((output, vout) =>
      Buffer.compare(output.script, script) === 0 ? [{ vout, value: BigInt(output.value) }] : [],
    );
  const sent = new Map<number, { readonly value: bigint; readonly runes: [] }>();
  for (const [index, { depositScript }] of parents.entries()) {
    const [first] = paid(depositScript);
    if (first !== undefined) sent.set(index, { value: first.value, runes: [] });
  }
  const payment: WantedPayment = {
    coins: paid(order.script).map((coin) => ({ ...coin, ranges: null })),
    parents: sent,
  };
  const missing = parents.filter(({ came }, index) => came === null && !sent.has(index)).length;
  // the message omits the deposit addresses, because the sender may know only the address of the charge
  const lacking =
    missing === 0
      ? []
      : [
          `The order at ${address} also waits for ${missing} of its parents. The order shows their deposit addresses.`,
        ];
  const outcome = afterPayment(order, payment, satributes);
  if (outcome.kind === 'short')
    return [
      `After this payment, the order at ${address} waits for ${outcome.missing} more sats.`,
      ...lacking,
    ];
  // whether the order allows these sats is known only after the index has the block with them
  const isJudged = order.allowedSatributes === null;
  return (outcome.kind === 'failed' || outcome.kind === 'refunded') && isJudged
    ? [`With this payment, the order at ${address} could not be delivered: ${outcome.reason}`, ...lacking]
    : lacking;
}
