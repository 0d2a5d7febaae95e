import { int32s } from '#search/text/int32s.ts';
import { addKeys, noneOf, type PartMatches } from './key-matches.ts';
import type { Matching } from './search-context.ts';

/** Keeps the matches whose keys are in a set. */
export type KeySet = (matches: readonly PartMatches[]) => Promise<PartMatches[]>;

/** Passes the keys of a set from `first` to below `next` to `add`, in any order and in any number of lists. */
export type ReadKeys = (first: number, next: number, add: (keys: Iterable<number>) => void) => Promise<void>;

/** Maximum number of keys read at once: 4 MB in the format of Postgres. */
const keysAtOnce = 500_000;

/**
 * A set of keys from Postgres. For each sealed segment, the set is cached as a bitmap (8 kB) under the set's name,
 * because facts about a sealed key never change. Different sets need different names.
 */
export function cachedKeySet({ cache }: Matching, name: string, read: ReadKeys): KeySet {
  return async (matches) => {
    const kept: PartMatches[] = [];
    const missing: PartMatches[] = [];
    const cacheKey = ({ part }: PartMatches): string => `k${part.segmentId}:${name}`;
    const keep = (one: PartMatches, bits: Uint8Array | null): void => {
      if (bits === null) return;
      kept.push({ part: one.part, bits: one.bits.map((byte, at) => byte & bits[at]!) });
    };
    for (const one of matches) {
      const known = one.part.segmentId === null ? undefined : cache.get(cacheKey(one));
      if (known === undefined) missing.push(one);
      else keep(one, known as Uint8Array | null);
    }
    for (const run of runsOf(missing)) {
      const found = run.map(({ part }) => noneOf(part));
      const [first, last] = [run[0] as PartMatches, run.at(-1) as PartMatches];
      await read(first.part.firstKey, last.part.nextKey, (keys) => {
        addKeys(found, keys);
      });
      for (const [at, one] of run.entries()) {
        const { bits } = found[at] as PartMatches;
        const some = bits.some((byte) => byte !== 0) ? bits : null;
        keep(one, some);
        const key = cacheKey(one);
        if (one.part.segmentId !== null) cache.set(key, some, key.length * 2 + (some?.length ?? 0) + 100);
      }
    }
    return kept.toSorted((a, b) => a.part.firstKey - b.part.firstKey);
  };
}

/** Groups consecutive parts, so that they are read together. */
function runsOf(missing: readonly PartMatches[]): PartMatches[][] {
  const runs: PartMatches[][] = [];
  for (const one of missing) {
    const run = runs.at(-1);
    if (run?.at(-1)?.part.nextKey === one.part.firstKey) run.push(one);
    else runs.push([one]);
  }
  return runs;
}

/**
 * Reads keys with a statement. The statement must return the keys from `$1` to below `$2` in a column `key`. Each call
 * reads a bounded number of keys in order, whatever the planner chooses.
 */
export function keysOfStatement(
  { client }: Matching,
  statement: string,
  values: readonly unknown[],
): ReadKeys {
  return async (first, next, add) => {
    for (let from = first; ; ) {
      const { rows } = await client.query<{ keys: Buffer | null }>(
        `SELECT string_agg(int4send(key), '' ORDER BY key) AS keys
           FROM (SELECT key FROM (${statement}) AS found ORDER BY key LIMIT ${keysAtOnce}) AS part`,
        [from, next, ...values],
      );
      const keys = int32s(rows[0]?.keys ?? null);
      add(keys);
      if (keys.length < keysAtOnce) return;
      from = (keys.at(-1) as number) + 1;
    }
  };
}
