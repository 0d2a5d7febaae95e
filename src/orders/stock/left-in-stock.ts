import type pg from 'pg';
import { blockOfReveal } from '#chain/inscriptions/reveal.queries.ts';
import { type BlockHashHex, displayHash, type Txid } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { OrderTransaction } from '#orders/order/order-transactions.store.ts';
import { outpointParts } from '#purse/transactions/outpoint.ts';

/** Outputs that a mined reveal returned to the inventory. */
export interface LeftInStock {
  /** The inventory output that the reveal spent. */
  readonly spent: { readonly txid: Txid; readonly vout: number };
  readonly rests: readonly LeftOutput[];
}

export interface LeftOutput {
  readonly txid: Txid;
  readonly vout: number;
  readonly script: Uint8Array;
  readonly value: number;
  /** Number of sats of the spent output before the sats of this output. */
  readonly place: number;
  readonly height: Height;
  readonly blockHash: BlockHashHex;
}

/**
 * Reads the outputs that a mined reveal returned to the inventory. Returns null if the index does not have the reveal
 * in a block, or if the reveal spends no inventory output.
 */
export async function leftInStock(
  tx: pg.ClientBase,
  { txid, plan }: Pick<OrderTransaction, 'txid' | 'plan'>,
): Promise<LeftInStock | null> {
  const taken = plan.inputs.find(({ isInventory }) => isInventory === true);
  if (taken === undefined) return null;
  const block = await blockOfReveal(tx, txid);
  if (block === null) return null;
  const { height } = block;
  const blockHash = displayHash(block.hash);
  let place = 0;
  const rests: LeftOutput[] = [];
  // the sats of the inventory output go into the first outputs, in order
  for (const [vout, { kind, value, script }] of plan.outputs.entries()) {
    if (kind === 'inventory')
      rests.push({ txid, vout, script: Buffer.from(script, 'hex'), value, place, height, blockHash });
    place += value;
  }
  return { spent: outpointParts(taken.outpoint), rests };
}
