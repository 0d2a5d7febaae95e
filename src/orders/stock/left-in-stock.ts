import type pg from 'pg';
import { asBlockHash, type BlockHashHex, displayHash, type Txid } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { OrderTransaction } from '#orders/order/order-transactions.store.ts';
import { outpointParts } from '#orders/order/outpoint.ts';

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
  const { rows } = await tx.query<{ height: Height; hash: Buffer }>(
    `SELECT b.height, b.hash FROM chain.inscriptions AS i JOIN chain.blocks AS b USING (height)
      WHERE i.txid = $1 LIMIT 1`,
    [Buffer.from(txid)],
  );
  const [block] = rows;
  if (block === undefined) return null;
  const { height } = block;
  const blockHash = displayHash(asBlockHash(block.hash));
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
