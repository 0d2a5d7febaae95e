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

/**
 * Maximum number of holders that are kept from one scan: fifty pages. A scan that returns a thousand takes nearly as
 * long.
 */
const partHoldersMax = 5000;
/** Maximum number of holders in memory. Each needs some 350 bytes with its script, so all need 22 MB. */
const holdersMax = 64_000;
/** Maximum number of sums in memory. Each needs some 200 bytes. */
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
 * The holders of runes, largest first. A page needs a scan over all holders of the rune, so the result of a scan is
 * kept for the pages after it. Each result is stored with the block after which it is true. Another block has its own
 * results, so a stored result is never wrong.
 */
export class HolderLists {
  readonly #parts = new LRUCache<string, readonly RuneHolder[]>({
    maxSize: holdersMax,
    sizeCalculation: ({ length }) => length + 1,
  });
  readonly #sums = new LRUCache<string, HolderSums>({ max: sumsMax });
  readonly #partHolders: number;

  /** @param partHolders number of holders kept from one scan; tests use fewer */
  constructor(partHolders = partHoldersMax) {
    this.#partHolders = partHolders;
  }

  /**
   * A page of holders. Must run in a snapshot. Throws `index_missing` during a first sync.
   *
   * @param mayWalk whether a scan is allowed; if false, only stored results are used, and `null` means that they are
   *   not enough
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
