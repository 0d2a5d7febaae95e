import { Block } from 'bitcoinjs-lib';
import type pg from 'pg';
import { BlockBuilder, type RawBlock, regtestGenesis } from '#test/builders/block.ts';
import type { Output } from '#test/builders/transaction.ts';

/** A block of a chain of payments, and the outputs that can be spent after it. */
export interface PaymentBlock {
  readonly block: RawBlock;
  readonly height: number;
  readonly coins: readonly Coin[];
}

interface Coin {
  readonly txid: Uint8Array;
  readonly vout: number;
  readonly value: number;
}

/** A small generator of numbers below `limit`. The same seed gives the same numbers. */
export function numbersOf(seed: number): (limit: number) => number {
  let state = seed >>> 0;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

export const genesis: PaymentBlock = { block: regtestGenesis, height: 0, coins: [] };

/**
 * Returns a script of one of a few owners, so that each owner holds several outputs. Some scripts have no address, and
 * some are unspendable.
 */
function scriptOf(next: (limit: number) => number): Uint8Array {
  const kind = next(10);
  if (kind === 0) return Buffer.from([0x6a, 1, next(256)]);
  if (kind === 1) return Buffer.from([0x51]);
  if (kind === 2) return Buffer.alloc(0);
  return Buffer.concat([Buffer.from([0x00, 0x14]), Buffer.alloc(20, next(4))]);
}

/** A block of random payments that spend outputs of earlier blocks and of the block itself. */
export function nextBlock(before: PaymentBlock, seed: number): PaymentBlock {
  const next = numbersOf(seed);
  const height = before.height + 1;
  const coins = [...before.coins];
  const builder = new BlockBuilder();
  const pay = (value: number): Output[] =>
    Array.from({ length: 1 + next(4) }, () => ({ value: Math.floor(value / 5), script: scriptOf(next) }));
  const collect = (txid: Uint8Array, outputs: readonly Output[]): void => {
    for (const [vout, { value, script }] of outputs.entries()) {
      if (script[0] !== 0x6a) coins.push({ txid, vout, value });
    }
  };
  for (let left = next(6); left > 0 && coins.length > 0; left--) {
    const spent = Array.from({ length: Math.min(coins.length, 1 + next(3)) }, () =>
      coins.splice(next(coins.length), 1),
    ).flat();
    const outputs = pay(spent.reduce((sum, { value }) => sum + value, 0));
    const inputs = spent.map(({ txid, vout }) => ({
      txid,
      vout,
      scriptSig: Buffer.alloc(0),
      witness: [Buffer.from([1])],
    }));
    collect(builder.add({ inputs, outputs }), outputs);
  }
  // the seed gives each branch its own coinbase, and so its own blocks
  const reward = [{ value: 5_000_000_000 - next(1_000_000), script: scriptOf(next) }];
  const made = builder.finish(height, before.block.hash, 1_700_000_000 + height * 600, reward);
  collect(made.coinbase, reward);
  return { block: made, height, coins };
}

/** Lines `outpoint value script height spent` of every spendable output of a chain, read by another library. */
export function naiveOutputs(
  chain: readonly { readonly height: number; readonly bytes: Uint8Array }[],
): string[] {
  const outputs = new Map<string, { value: bigint; script: string; height: number; spent: number | null }>();
  for (const { height, bytes } of chain) {
    const { transactions = [] } = Block.fromBuffer(Buffer.from(bytes));
    for (const [index, transaction] of transactions.entries()) {
      const txid = Buffer.from(transaction.getHash()).toString('hex');
      for (const [vout, { value, script }] of transaction.outs.entries()) {
        if (script[0] === 0x6a || script.length > 10_000) continue;
        const hex = Buffer.from(script).toString('hex');
        outputs.set(`${txid}:${vout}`, { value, script: hex, height, spent: null });
      }
      for (const input of index === 0 ? [] : transaction.ins) {
        const output = outputs.get(`${Buffer.from(input.hash).toString('hex')}:${input.index}`);
        if (output !== undefined) output.spent = height;
      }
    }
  }
  return [...outputs]
    .map(([name, { value, script, height, spent }]) => `${name} ${value} ${script} ${height} ${spent}`)
    .sort();
}

/** Reads the lines of `naiveOutputs` from the table. */
export async function storedOutputs(pool: pg.Pool): Promise<string[]> {
  const { rows } = await pool.query<Record<string, string>>(
    `SELECT encode(txid, 'hex') AS txid, vout, value, encode(script, 'hex') AS script, height, spent_height AS spent
     FROM chain.outputs`,
  );
  return rows
    .map(
      ({ txid, vout, value, script, height, spent }) =>
        `${txid}:${vout} ${value} ${script} ${height} ${spent}`,
    )
    .sort();
}
