import { strict as assert } from 'node:assert';
import { LRUCache } from 'lru-cache';
import type { ClientBase } from 'pg';
import { blockAt } from '#chain/blocks/block.queries.ts';
import {
  beginHolderWalks,
  type HolderSums,
  type HoldersMoment,
  holderSums,
  holdersFrom,
  type RuneHolder,
} from './rune-holders.queries.ts';

/** Maximum number of holders kept from one walk: fifty pages. A walk for a thousand takes nearly as long. */
const partHoldersMax = 5000;
/** Maximum number of holders in memory: some 350 bytes each with the script, 22 MB in all. */
const holdersMax = 64_000;
/** Maximum number of sums in memory, some 200 bytes each. */
const sumsMax = 1000;

/** Holders of a rune, and the sums over all of them. */
export interface RuneHolders extends HolderSums {
  readonly holders: readonly RuneHolder[];
}

export interface HoldersPart {
  readonly offset: number;
  readonly limit: number;
}

/**
 * The holders of runes, the largest first. A page of them needs walks over all holders, so the results of a walk are
 * kept for the pages after it. The key of a result is the block after which the result is true, so a result is never
 * wrong: any other block has its own lists.
 */
export class HolderLists {
  readonly #parts = new LRUCache<string, readonly RuneHolder[]>({
    maxSize: holdersMax,
    sizeCalculation: ({ length }) => length + 1,
  });
  readonly #sums = new LRUCache<string, HolderSums>({ max: sumsMax });
  readonly #partHolders: number;

  /** @param partHolders fewer than usual, for tests */
  constructor(partHolders = partHoldersMax) {
    this.#partHolders = partHolders;
  }

  /**
   * A page, in a snapshot. Throws `index_missing` during a first sync.
   *
   * @param mayWalk false: only use kept results, and return null if they are not enough
   */
  async read(
    client: ClientBase,
    key: number,
    moment: HoldersMoment,
    { offset, limit }: HoldersPart,
    mayWalk: boolean,
  ): Promise<RuneHolders | null> {
    const block = await blockAt(client, { kind: 'height', height: moment.height });
    assert(block !== null, 'runes are known at the height, so its block is there');
    const name = `${Buffer.from(block.hash).toString('latin1')} ${key}`;
    let isPrepared = false;
    const walk = async <Found>(read: () => Promise<Found>): Promise<Found> => {
      if (!isPrepared) await beginHolderWalks(client);
      isPrepared = true;
      return read();
    };
    const sums = this.#sums.get(name);
    if (sums === undefined && !mayWalk) return null;
    const { count, held } = sums ?? (await walk(() => holderSums(client, key, moment)));
    this.#sums.set(name, { count, held });
    const holders: RuneHolder[] = [];
    const end = Math.min(offset + limit, count);
    for (let at = offset; at < end; ) {
      const number = Math.floor(at / this.#partHolders);
      const first = number * this.#partHolders;
      const kept = this.#parts.get(`${name} ${number}`);
      if (kept === undefined && !mayWalk) return null;
      const part = { offset: first, limit: this.#partHolders };
      const found = kept ?? (await walk(() => holdersFrom(client, key, moment, part)));
      this.#parts.set(`${name} ${number}`, found);
      holders.push(...found.slice(at - first, end - first));
      at = first + this.#partHolders;
    }
    return { holders, count, held };
  }
}
