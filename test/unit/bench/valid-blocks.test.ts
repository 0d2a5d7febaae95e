import { Block } from 'bitcoinjs-lib';
import { describe, expect, test } from 'vitest';
import { verifyBlock } from '#indexer/source/verify-block.ts';
import { asBlockHash } from '#kernel/primitives/hash.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { mainnetShapedBlocks } from '#test/builders/mainnet-shaped.ts';
import type { ValidBlock } from '#test/builders/valid-blocks.ts';
import { RandomBlocks } from '#test/chaos/chain/random-blocks.ts';

const blocksMaxWeight = 4_000_000;

function expectValid(blocks: readonly ValidBlock[]): void {
  const unspent = new Map<string, number>();
  for (const { height, hash, bytes } of blocks) {
    verifyBlock(new Uint8Array(bytes), {
      hash: asBlockHash(hash),
      height: asHeight(height),
      network: 'regtest',
    });
    const block = Block.fromBuffer(Buffer.from(bytes));
    expect(block.weight()).toBeLessThanOrEqual(blocksMaxWeight);
    for (const transaction of block.transactions!) {
      let left = 0n;
      for (const input of transaction.isCoinbase() ? [] : transaction.ins) {
        const outpoint = `${Buffer.from(input.hash).toString('hex')}:${input.index}`;
        const value = unspent.get(outpoint);
        expect(value, `${outpoint} in block ${height}`).toBeDefined();
        unspent.delete(outpoint);
        left += BigInt(value!);
      }
      const txid = Buffer.from(transaction.getHash()).toString('hex');
      for (const [vout, output] of transaction.outs.entries()) {
        left -= output.value;
        unspent.set(`${txid}:${vout}`, Number(output.value));
      }
      if (!transaction.isCoinbase()) expect(left).toBeGreaterThanOrEqual(0n);
    }
  }
}

describe('blocks for a real node', () => {
  test('of mainnet shape spend what is there, once, within weight and value, and are the same for a seed', () => {
    const blocks = [...mainnetShapedBlocks({ seed: 'test', leastBytes: 5_000_000 })];
    expectValid(blocks);
    const again = [...mainnetShapedBlocks({ seed: 'test', leastBytes: 1 })];
    expect(again.at(-1)!.hash).toEqual(blocks[again.length - 1]!.hash);
    expect(blocks.at(-1)!.bytes.length).toBeGreaterThan(1_400_000);
  });

  test('of a random chain too, on any branch', { tags: ['proof'] }, () => {
    const make = (): ValidBlock[] => {
      const random = new RandomBlocks('test');
      const chain = random.base();
      for (let count = 0; count < 60; count++) chain.push(random.next(chain.at(-1)!.after, []));
      const fork = chain.slice(0, 130);
      for (let count = 0; count < 20; count++) fork.push(random.next(fork.at(-1)!.after, []));
      return fork.map(({ block }) => block);
    };
    const blocks = make();
    expectValid(blocks);
    expect(make().at(-1)!.hash).toEqual(blocks.at(-1)!.hash);
  });
});
