import assert from 'node:assert/strict';
import type pg from 'pg';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { lockOrder, type Order, readLeaves } from '#orders/order/order.store.ts';
import { openPublicWallet, type PublicWallet } from '#wallet/public-wallet.ts';
import { leafHashOf } from '#wallet/taproot.ts';
import { deleteLeaves, deleteUnpaidFiles, isStillUnpaid, unpaidWithLeaves } from './leaves.store.ts';

/** Maximum number of orders in one SQL statement. */
const ordersAtOnce = 100;

/**
 * Deletes the leaves of all unpaid orders, and returns the number of these orders. Leaves contain contents and
 * metadata. Without this, they would be most of the data that unpaid orders leave in the database for ever. A late
 * payment can still be refunded with the order's key. The rows of the order's files, with names of up to 4,096
 * characters each, are deleted later.
 */
export async function sweepLeaves(client: pg.ClientBase, signal: AbortSignal): Promise<number> {
  const wallet = await openPublicWallet(client);
  // without a wallet, no order was ever created
  if (wallet === null) return 0;
  let swept = 0;
  for (;;) {
    const ids = await unpaidWithLeaves(client, ordersAtOnce);
    let deleted = 0;
    for (const id of ids) {
      if (signal.aborted) return swept + deleted;
      if (await withTransaction(client, (tx) => forgetLeaves(tx, wallet, id))) deleted++;
    }
    swept += deleted;
    if (deleted === 0) break;
  }
  while (!signal.aborted) if ((await deleteUnpaidFiles(client, ordersAtOnce)) < ordersAtOnce) break;
  return swept;
}

/** Deletes the leaves of an order if it is still unpaid. */
async function forgetLeaves(tx: pg.ClientBase, wallet: PublicWallet, id: string): Promise<boolean> {
  const order = await lockOrder(tx, id);
  if (order === null || !(await isStillUnpaid(tx, id))) return false;
  const leafHash = order.paidTo === 'direct' ? await chargedLeafHash(tx, wallet, order) : null;
  await deleteLeaves(tx, id, leafHash);
  return true;
}

/**
 * The hash of the leaf in the address of an order. With a wrong hash, payments to the address would be lost, so the
 * hash is proven first.
 */
async function chargedLeafHash(tx: pg.ClientBase, wallet: PublicWallet, order: Order): Promise<Uint8Array> {
  const [leaf] = await readLeaves(tx, order.id);
  assert(leaf !== undefined, `order ${order.id} has the leaf of its address`);
  const leafHash = leafHashOf(leaf);
  const { script } = wallet.addressOf({
    key: { branch: 0, index: order.keyIndex },
    leafScript: null,
    leafHash,
  });
  assert(Buffer.compare(script, order.script) === 0, 'the key and the hash of the leaf give the address');
  return leafHash;
}
