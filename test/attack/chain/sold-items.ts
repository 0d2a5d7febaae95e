import { littleEndian, tag } from '#test/builders/envelope.ts';
import { openScript } from '#test/builders/valid-blocks.ts';
import type { MinedChain } from './mined-chain.ts';

/** Items of collections: more than any honest one of mainnet has, each with a holder of its own. */
export interface SoldItems {
  /** Every hundredth, in the order of the chain. */
  readonly ids: readonly string[];
  /** How many there are. */
  readonly count: number;
  /** The block after which all of them are there. */
  readonly height: number;
}

/** Items of one transaction: 155 units of weight each, so that it leaves room in its block. */
const itemsOfReveal = 20_000;
const satsEach = 546;
const named = 100;

function holderScript(index: number): Uint8Array {
  const program = Buffer.alloc(20, 4);
  program.writeUInt32BE(index);
  return openScript(program);
}

/** Reveals empty inscriptions, each in an output of its own. */
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
