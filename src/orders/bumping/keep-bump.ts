import type pg from 'pg';
import type { TransactionPlan } from '#kernel/contracts/transaction-plan.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { displayHash, type Txid } from '#kernel/primitives/hash.ts';
import type { Logger } from '#kernel/reports/logger.ts';
import { anchorScript } from '#orders/inscribing/plan-amounts.ts';
import type { OrderSigner } from '#orders/making/order-signer.ts';
import { storedPlan } from '#orders/making/sign-and-store.ts';
import { lockOrder } from '#orders/order/order.store.ts';
import { isDelivering } from '#orders/order/order-machine.ts';
import { ownWatcherOf } from '#orders/watching/watchers.ts';
import { nextBlock, watchScripts } from '#payments/store/watches.store.ts';
import { readHoldings } from '#purse/transactions/input-holdings.ts';
import { outpointOf } from '#purse/transactions/outpoint.ts';
import { OutputTaken } from '#purse/transactions/spends.store.ts';
import { insertBump, type StoredBumpPlan } from './bump.store.ts';
import type { WantedStore } from './bump-round.ts';

/**
 * Signs a bump, stores it in one database transaction before anything is sent, and returns its family. Returns null if
 * one of the bump's orders is no longer being delivered, if the bump is stored already, or if another plan has taken
 * one of its coins.
 */
export async function keepBump(
  { client, signer, log }: { client: pg.ClientBase; signer: OrderSigner; log: Logger },
  { parents, planned, ownIndex, owed, replaced }: WantedStore,
): Promise<Txid | null> {
  const { plan, fee, shares } = planned;
  const signed = await signer.signPlan(plan, await readHoldings(client, plan.inputs));
  const [rest] = plan.outputs;
  const [owner] = parents;
  if (rest === undefined || owner === undefined) return null;
  const family = replaced?.family ?? signed.txid;
  const isStored = await isKept(client, async (tx) => {
    for (const id of [...shares.keys()].toSorted()) {
      const order = await lockOrder(tx, id);
      if (order === null || !isDelivering(order.state)) return false;
    }
    await watchScripts(tx, ownWatcherOf(owner.orderId), [{ script: rest.script, sinceHeight: nextBlock }]);
    return insertBump(tx, {
      txid: signed.txid,
      replaces: replaced?.family ?? null,
      bytes: signed.bytes,
      plan: storedBump(plan, signed.holdings, owed),
      fee,
      ownIndex,
      // outputs of parents that were mined in the meantime are spent as coins, so these parents are not listed
      parents: parents.map(({ overdue }) => overdue.txid),
      shares,
    });
  });
  if (!isStored) return null;
  log.info(
    { txid: displayHash(signed.txid), transactions: parents.length, fee: Number(fee) },
    replaced === null ? 'stuck transactions are bumped' : 'a bump of stuck transactions is replaced',
  );
  return family;
}

/**
 * Returns the result of `keep`, or false if another process has taken a coin since it was found free. The next round
 * finds other coins.
 */
async function isKept(
  client: pg.ClientBase,
  keep: (tx: pg.ClientBase) => Promise<boolean>,
): Promise<boolean> {
  try {
    return await withTransaction(client, keep);
  } catch (error) {
    if (error instanceof OutputTaken) return false;
    throw error;
  }
}

function storedBump(
  plan: TransactionPlan,
  holdings: Parameters<typeof storedPlan>[1],
  owed: bigint,
): StoredBumpPlan {
  return {
    ...storedPlan(plan, holdings),
    inputs: plan.inputs.map((input) => ({
      outpoint: outpointOf(input),
      value: Number(input.value),
      script: Buffer.from(input.script).toString('hex'),
      keyIndex: Buffer.compare(input.script, anchorScript) === 0 ? null : input.key.index,
    })),
    ...(owed === 0n ? {} : { owed: Number(owed) }),
  };
}
