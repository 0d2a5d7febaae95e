import type pg from 'pg';
import { rivalsOfNames } from '#chain/runes/name-standing.queries.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import { knownTip } from '#orders/order/known-tip.ts';
import { releaseReveals, ripeEtchings } from './etchings.store.ts';
import { nameFaultOfReveal } from './name-fault.ts';

/**
 * Releases all reveals that the next block may contain and whose names are free. All are released at once, before
 * orders are processed one by one; otherwise the last of a thousand reveals would be sent half a minute after the
 * block. Returns the orders of these reveals. The orders are still in state `waiting-reveal`.
 */
export async function releaseRipe(client: pg.ClientBase, network: NetworkParameters): Promise<string[]> {
  return withTransaction(client, async (tx) => {
    const known = await knownTip(tx);
    if (known === null) return [];
    const tip = known.height;
    const ripe = await ripeEtchings(tx, tip);
    if (ripe.length === 0) return [];
    const rivalsOf = await rivalsOfNames(
      tx,
      network,
      ripe.map(({ rune }) => rune),
    );
    const free = ripe.filter(
      ({ rune, reveal }) => nameFaultOfReveal({ rune, spacers: 0 }, rivalsOf(rune), tip, reveal) === null,
    );
    await releaseReveals(
      tx,
      free.map(({ reveal }) => reveal),
    );
    return free.map(({ orderId }) => orderId);
  });
}
