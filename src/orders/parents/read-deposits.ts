import type pg from 'pg';
import { type ReceivedInscription, receivedInscriptions } from '#chain/outputs/received-output.queries.ts';
import { dustOf } from '#kernel/bitcoin/transaction-size.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { parseInscriptionId } from '#kernel/primitives/inscription-id.ts';
import { largest, p2trDust } from '#orders/inscribing/plan-amounts.ts';
import type { Order } from '#orders/order/order.store.ts';
import { isDeep, type OrderFacts } from '#orders/order/order-facts.ts';
import { depositWatcherOf } from '#orders/watching/watchers.ts';
import { readPayments, type WatchedPayment } from '#payments/payments.queries.ts';
import { readDepositAddresses, readMadeTxids } from './deposits.store.ts';
import type { Deposit } from './deposits.ts';

/**
 * Outputs that arrived at the deposits of an order, the oldest first. Omits outputs of the order's own transactions,
 * because a parent passes from reveal to reveal through its deposit address.
 */
export async function readDeposits(
  client: pg.Pool | pg.ClientBase,
  { id, terms }: Pick<Order, 'id' | 'terms'>,
  depth: Pick<OrderFacts, 'tip' | 'confirmations'>,
): Promise<Deposit[]> {
  if (terms.parents.length === 0) return [];
  const payments = await readPayments(client, depositWatcherOf(id));
  if (payments.length === 0) return [];
  const addresses = await readDepositAddresses(client, id);
  const made = new Set((await readMadeTxids(client, id)).map(displayHash));
  const arrived = payments.flatMap((payment) => {
    const at = addresses.find(({ script }) => Buffer.compare(script, payment.script) === 0);
    const parent = at === undefined ? null : parseInscriptionId(terms.parents[at.index]?.id ?? '');
    return at === undefined || parent === null || made.has(displayHash(payment.txid))
      ? []
      : [{ payment, at, parent }];
  });
  const received = await receivedInscriptions(
    client,
    arrived.map(({ payment, parent }) => ({ ...payment, inscription: parent })),
  );
  return arrived.map(({ payment, at }, place): Deposit => {
    const known = received[place] ?? null;
    const isDust = payment.value < leastAt(terms.parents[at.index]?.returnScript ?? '');
    const isIndexed = known?.isIndexed === true && isDeep(heightOf(payment), depth);
    return {
      at,
      payment,
      state: stateOf(payment, isIndexed, known?.isExpected === true && !isDust),
      isDust,
      isUnspent: known?.isThere === true,
      ...contentsOf(known),
    };
  });
}

function contentsOf(
  known: ReceivedInscription | null,
): Pick<Deposit, 'isHolding' | 'inscriptions' | 'runes'> {
  if (known === null) return { isHolding: false, inscriptions: [], runes: null };
  const { inscriptions, runes } = known;
  return { isHolding: inscriptions.length > 0 || (runes?.length ?? 0) > 0, inscriptions, runes };
}

const heightOf = ({ block }: WatchedPayment) => ({ height: block?.height ?? null });

/** Minimum number of sats of a parent: the larger dust limit of its return address and of a deposit. */
export const leastAt = (returnScript: string): bigint =>
  largest(BigInt(dustOf(Buffer.from(returnScript, 'hex'))), p2trDust);

function stateOf({ goneAt }: WatchedPayment, isIndexed: boolean, isParent: boolean): Deposit['state'] {
  if (goneAt !== null) return 'gone';
  if (!isIndexed) return 'seen';
  return isParent ? 'here' : 'other';
}
