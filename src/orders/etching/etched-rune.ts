import type { ClientBase } from 'pg';
import { type EtchedRune, etchedIn } from '#chain/runes/etched-by.queries.ts';
import type { OrderTransaction } from '#orders/order/order-transactions.store.ts';
import type { StoredTerms } from '#orders/order/stored-terms.ts';

/** The rune that an order's reveal etched; null if the order etches nothing, or if its reveal is not in a block. */
export async function etchedRuneOf(
  client: ClientBase,
  { terms }: { readonly terms: Pick<StoredTerms, 'etching'> },
  transactions: readonly Pick<OrderTransaction, 'txid' | 'kind' | 'sentAt'>[],
): Promise<EtchedRune | null> {
  const reveal = transactions.find(({ kind, sentAt }) => kind === 'reveal' && sentAt !== null);
  return terms.etching === undefined || reveal === undefined ? null : etchedIn(client, reveal.txid);
}
