import assert from 'node:assert/strict';
import type pg from 'pg';
import { AppError } from '#kernel/errors/app-error.ts';
import { chargedLeaf, type Order, readLeaves, readOrder } from '#orders/order/order.store.ts';
import { readDepositAddresses } from '#orders/parents/deposits.store.ts';
import { requirePublicWallet } from '#wallet/public-wallet.ts';
import { type RecoveryKit, recoveryKit } from '#wallet/recovery-kit.ts';

/**
 * Makes the kit that takes back an order's payments with the seed and without this database. The payments went to the
 * address of the order's charge, to an output of its commit for a reveal, or to the deposit address of a parent. Throws
 * `order_unknown`, `wallet_missing`, and `recovery_refused` if the reveal or parent does not exist.
 */
export async function orderRecoveryKit(
  pool: pg.Pool,
  id: string,
  { reveal, parent }: { readonly reveal: number | null; readonly parent: number | null },
): Promise<RecoveryKit> {
  const wallet = await requirePublicWallet(pool);
  const order = await readOrder(pool, id);
  if (order === null) throw new AppError('order_unknown', `There is no order ${id}.`);
  if (parent !== null) {
    const addresses = await readDepositAddresses(pool, id);
    const deposit = addresses[parent];
    if (deposit === undefined)
      throw new AppError(
        'recovery_refused',
        `The order has no parent ${parent}, because it has only ${addresses.length} parents.`,
      );
    return recoveryKit(wallet, { key: { branch: 0, index: deposit.keyIndex }, leafScript: null });
  }
  const leaf = reveal === null ? await chargedLeaf(pool, order) : await revealedLeaf(pool, order, reveal);
  const kit = recoveryKit(wallet, { key: { branch: 0, index: order.keyIndex }, ...leaf });
  assert(
    reveal !== null || kit.script === order.script.toString('hex'),
    'the key and the leaf of an order give its script',
  );
  return kit;
}

/** The leaf of a reveal of an order. */
async function revealedLeaf(
  pool: pg.Pool,
  { id, areLeavesDeleted }: Order,
  reveal: number,
): Promise<{ readonly leafScript: Uint8Array }> {
  const leaves = await readLeaves(pool, id);
  const leafScript = leaves[reveal];
  if (leafScript !== undefined) return { leafScript };
  throw new AppError(
    'recovery_refused',
    areLeavesDeleted
      ? `The order was not paid in time, so it has no reveals.`
      : `The order has no reveal ${reveal}. Name one from 0 to ${leaves.length - 1}.`,
  );
}
