import { scriptToAddress } from '#kernel/bitcoin/address.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { type NetworkName, networks } from '#kernel/primitives/network.ts';
import { hexOf } from '#orders/ledger/settlements.ts';
import type { OrderTransaction } from '#orders/order/order-transactions.store.ts';
import { balancesOf, type LedgerEntry } from '#purse/ledger/ledger.ts';

/** The outcome of a request to refund an order, in the form that people see. */
export interface RefundOutcome {
  /** Stored refunds. A later request does not change their destination. */
  readonly made: readonly {
    readonly txid: string;
    /** Address of the script. Null if the script has no address. */
    readonly address: string | null;
    readonly isSent: boolean;
  }[];
  /** Owed sats that no stored refund spends yet. They will go to the address of this request. */
  readonly open: number;
}

/** Computes the outcome from an order's transactions and ledger entries. Pure. */
export function refundOutcome(
  network: NetworkName,
  transactions: readonly Pick<OrderTransaction, 'txid' | 'kind' | 'plan' | 'sentAt' | 'height'>[],
  entries: readonly LedgerEntry[],
): RefundOutcome {
  const refunds = transactions.filter(({ kind }) => kind === 'refund');
  const posted = new Set(entries.map(({ txid }) => txid));
  const owed = balancesOf(entries).get('owed') ?? 0n;
  const spent = refunds
    .filter(({ txid }) => !posted.has(hexOf(txid)))
    .flatMap(({ plan }) => plan.inputs)
    .reduce((sum, { value, isOperator }) => (isOperator === true ? sum : sum + BigInt(value)), 0n);
  return {
    made: refunds.map(({ txid, plan, sentAt, height }) => {
      const script = plan.outputs.find(({ kind }) => kind === 'refund')?.script;
      return {
        txid: displayHash(txid),
        address: script === undefined ? null : scriptToAddress(Buffer.from(script, 'hex'), networks[network]),
        isSent: sentAt !== null || height !== null,
      };
    }),
    open: owed > spent ? Number(owed - spent) : 0,
  };
}

/** A sentence for each fact that the operator must know. Pure. */
export function refundNotes({ made, open }: RefundOutcome, to: string, isAsked: boolean): string[] {
  const notes = made.map(
    ({ txid, address, isSent }) =>
      `a refund was already ${isSent ? 'sent' : 'made'} to ${address ?? 'a script without an address'} in tx ${txid}`,
  );
  if (isAsked)
    return [
      ...notes,
      `refund requested. The complete payment goes to ${to} if the node has no transaction of the order; otherwise the field error of the order gives the reason`,
    ];
  if (open === 0) return [...notes, `nothing is owed now; later payments will be refunded to ${to}`];
  return [
    ...notes,
    `${open} sats are owed. They go to ${to}, less the fee, once the payments have enough confirmations and are larger than the fee`,
  ];
}
