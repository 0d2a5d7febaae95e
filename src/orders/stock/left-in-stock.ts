import type pg from 'pg';
import { blockOfReveal } from '#chain/inscriptions/reveal.queries.ts';
import { type BlockHashHex, displayHash, type Txid } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { OrderTransaction } from '#orders/order/order-transactions.store.ts';
import { outpointParts } from '#purse/transactions/outpoint.ts';

/** What a mined reveal left of an output of the inventory. */
export interface LeftInStock {
  /** The output that it spent. */
  readonly spent: { readonly txid: Txid; readonly vout: number };
  readonly rests: readonly LeftOutput[];
}

export interface LeftOutput {
  readonly txid: Txid;
  readonly vout: number;
  readonly script: Uint8Array;
  readonly value: number;
  /** Sats of the spent output before its own. */
  readonly place: number;
  readonly height: Height;
  readonly blockHash: BlockHashHex;
}

/** Null: the reveal is in no block of the index, or spends none of the inventory. */
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
  // its sats go to the first outputs, one after the other
  for (const [vout, { kind, value, script }] of plan.outputs.entries()) {
    if (kind === 'inventory')
      rests.push({ txid, vout, script: Buffer.from(script, 'hex'), value, place, height, blockHash });
    place += value;
  }
  return { spent: outpointParts(taken.outpoint), rests };
}
