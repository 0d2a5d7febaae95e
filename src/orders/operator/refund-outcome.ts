import { scriptToAddress } from '#kernel/bitcoin/address.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { type NetworkName, networks } from '#kernel/primitives/network.ts';
import { hexOf } from '#orders/ledger/settlements.ts';
import type { OrderTransaction } from '#orders/order/order-transactions.store.ts';
import { balancesOf, type LedgerEntry } from '#purse/ledger/ledger.ts';

/** The outcome of a wish to refund an order, for people. */
export interface RefundOutcome {
  /** Refunds that are stored: no later wish changes where they go. */
  readonly made: readonly {
    readonly txid: string;
    /** Null: the script has no address. */
    readonly address: string | null;
    readonly isSent: boolean;
  }[];
  /** Sats that are owed, and that no refund which is stored spends: they go to the address of the wish. */
  readonly open: number;
}

/** Pure. */
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

/** A sentence for each thing that the operator must know. Pure. */
export function refundNotes({ made, open }: RefundOutcome, to: string, isAsked: boolean): string[] {
  const notes = made.map(
    ({ txid, address, isSent }) =>
      `already ${isSent ? 'sent' : 'made'} to ${address ?? 'a script without an address'} in tx ${txid}`,
  );
  if (isAsked)
    return [
      ...notes,
      `asked: all goes to ${to} if the node has none of the transactions of the order; its error says why not`,
    ];
  if (open === 0) return [...notes, `nothing is owed now: what comes later goes to ${to}`];
  return [
    ...notes,
    `${open} sats are owed: they go to ${to}, less the fee, once payments are deep enough and a refund is worth its fee`,
  ];
}
