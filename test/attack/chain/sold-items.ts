import { littleEndian, tag } from '#test/builders/envelope.ts';
import { openScript } from '#test/builders/valid-blocks.ts';
import type { MinedChain } from './mined-chain.ts';

/**
 * Items of collections. There are more items than in any honest collection of mainnet, and each item has its own
 * holder.
 */
export interface SoldItems {
  /** Ids of every hundredth item, in the order of the chain. */
  readonly ids: readonly string[];
  /** Number of items. */
  readonly count: number;
  /** Height of the block after which all items exist. */
  readonly height: number;
}

/**
 * Number of items that one transaction reveals. Each item has a weight of 155 units, so the transaction leaves room in
 * its block.
 */
const itemsOfReveal = 20_000;
const satsEach = 546;
const named = 100;

function holderScript(index: number): Uint8Array {
  const program = Buffer.alloc(20, 4);
  program.writeUInt32BE(index);
  return openScript(program);
}

/** Reveals empty inscriptions, each in its own output. */
export function makeSoldItems(chain: MinedChain, count: number): SoldItems {
  const ids: string[] = [];
  for (let from = 0; from < count; from += itemsOfReveal) {
    const made = Math.min(itemsOfReveal, count - from);
    const txid = chain.inscribeMany(
      Array.from({ length: made }, (_, index) => ({
        envelope: { fields: [[tag.pointer, littleEndian(index * satsEach)]], body: null },
        output: { value: satsEach, script: holderScript(from + index) },
      })),
    );
    for (let index = 0; index < made; index += named) ids.push(`${txid}i${index}`);
    chain.mine();
  }
  return { ids, count, height: chain.height };
}
