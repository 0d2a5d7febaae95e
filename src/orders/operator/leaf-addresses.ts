import type pg from 'pg';
import { chargedLeaf, type Order, readLeaves, readOrder } from '#orders/order/order.store.ts';
import type { PublicWallet } from '#wallet/public-wallet.ts';
import type { LeafAddress } from '#wallet/restoring/find-outputs.ts';
import { leafHashOf } from '#wallet/taproot.ts';

/** Maximum number of ids to read in one statement. */
const idsAtOnce = 1000;

/**
 * Addresses of orders that have a leaf. These are the charge of a direct order, and the outputs of a commit for its
 * reveals. They contain only the hash of the leaf, because the hash suffices to spend by key, and a leaf has up to
 * 390,000 bytes.
 */
export async function* leafAddresses(
  client: pg.Pool | pg.ClientBase,
  wallet: PublicWallet,
): AsyncGenerator<LeafAddress> {
  let after = '00000000-0000-0000-0000-000000000000';
  for (;;) {
    const { rows } = await client.query<{ id: string }>(
      'SELECT id FROM service.orders WHERE id > $1 ORDER BY id LIMIT $2',
      [after, idsAtOnce],
    );
    for (const { id } of rows) {
      const order = await readOrder(client, id);
      if (order !== null) yield* ofOrder(client, wallet, order);
      after = id;
    }
    if (rows.length < idsAtOnce) return;
  }
}

async function* ofOrder(
  client: pg.Pool | pg.ClientBase,
  wallet: PublicWallet,
  order: Order,
): AsyncGenerator<LeafAddress> {
  const key = { branch: 0, index: order.keyIndex } as const;
  if (order.paidTo === 'direct') {
    const { leafScript, leafHash } = await chargedLeaf(client, order);
    const hash = leafScript === null ? leafHash : leafHashOf(leafScript);
    if (hash === undefined) return;
    const own = { key, leafScript: null, leafHash: hash };
    yield { own, script: order.script, orderId: order.id };
    return;
  }
  for (const leaf of await readLeaves(client, order.id)) {
    const own = { key, leafScript: null, leafHash: leafHashOf(leaf) };
    yield { own, script: wallet.addressOf(own).script, orderId: order.id };
  }
}
