import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type OurPart,
  type Plan,
  plan,
  type Rule,
  type TheirPart,
  type WeighedRef,
} from '#indexer/follow/compare-chains.ts';
import { asBlockHash } from '#kernel/primitives/hash.ts';
import { asHeight, genesisHeight } from '#kernel/primitives/height.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

const ref = (height: number, branch: number, work = 0n): WeighedRef => ({
  height: asHeight(height),
  hash: asBlockHash(Uint8Array.from({ length: 32 }, (_, index) => (index === 0 ? branch : height + index))),
  work,
});
const shown = (refs: readonly { height: number; hash: Uint8Array }[]): string[] =>
  refs.map(({ height, hash }) => `${height}:${hash[0]}`);
const sharedLength = (ours: readonly WeighedRef[], theirs: readonly WeighedRef[]): number => {
  let shared = 0;
  while (ours[shared] !== undefined && shown(ours)[shared] === shown(theirs)[shared]) shared++;
  return shared;
};
const workOf = (blocks: readonly WeighedRef[]): bigint => blocks.reduce((sum, { work }) => sum + work, 0n);

/** The plan for two chains that are completely known. */
function takeWhole(ours: readonly WeighedRef[], theirs: readonly WeighedRef[]): Steps {
  const found = plan(
    { from: genesisHeight, blocks: ours },
    { from: genesisHeight, blocks: theirs, beyond: null, isComplete: true },
    'take',
  );
  if (found.kind !== 'steps') throw new Error(`no steps but ${found.kind}`);
  return found;
}
type Steps = Extract<Plan, { kind: 'steps' }>;

/** Our chain after a plan was carried out. */
function follow(
  ours: readonly WeighedRef[],
  { undoTo, apply }: Steps,
): { height: number; hash: Uint8Array }[] {
  const left = undoTo === null ? ours : ours.filter(({ height }) => height <= undoTo);
  return [...left, ...apply];
}

/**
 * Two chains with gaps. They share their beginning, and may have blocks at the same heights on other branches later.
 */
const forks = fc
  .record({
    shared: fc.uniqueArray(fc.nat(200), { maxLength: 20 }),
    ours: fc.uniqueArray(fc.nat(400), { maxLength: 20 }),
    theirs: fc.uniqueArray(fc.nat(400), { maxLength: 20 }),
    branch: fc.nat(1),
  })
  .map(({ shared, ours, theirs, branch }) => {
    const common = shared.sort((a, b) => a - b).map((height) => ref(height, 0));
    const above = (common.at(-1)?.height ?? -1) + 1;
    const branchOf = (heights: number[], of: number): WeighedRef[] =>
      heights.sort((a, b) => a - b).map((height) => ref(above + height, of));
    return { ours: [...common, ...branchOf(ours, 1)], theirs: [...common, ...branchOf(theirs, 1 + branch)] };
  });

describe('a plan between chains at rest', () => {
  test('leads from any chain to any other', () => {
    fc.assert(
      fc.property(forks, ({ ours, theirs }) => {
        expect(shown(follow(ours, takeWhole(ours, theirs)))).toEqual(shown(theirs));
      }),
      { numRuns: propertyRuns(500) },
    );
  });

  test('takes back and applies no common first block', () => {
    fc.assert(
      fc.property(forks, ({ ours, theirs }) => {
        const { undoTo, apply } = takeWhole(ours, theirs);
        const shared = sharedLength(ours, theirs);
        expect(apply).toHaveLength(theirs.length - shared);
        expect(undoTo === null).toBe(shared === ours.length);
        if (undoTo !== null) expect(undoTo).toBe(ours[shared - 1]?.height ?? -1);
      }),
      { numRuns: propertyRuns(500) },
    );
  });

  test('does nothing if nothing is new', () => {
    const chain = [0, 1, 2].map((height) => ref(height, 0));
    expect(takeWhole(chain, chain)).toEqual({ kind: 'steps', undoTo: null, apply: [] });
    expect(takeWhole([], [])).toEqual({ kind: 'steps', undoTo: null, apply: [] });
  });

  test('takes everything back if the chains have no common block', () => {
    expect(takeWhole([ref(0, 1)], [ref(0, 2)])).toMatchObject({ undoTo: -1, apply: [ref(0, 2)] });
  });

  test('goes back if a gap of ours is filled, because keys are in the order of application', () => {
    const ours = [0, 1, 5].map((height) => ref(height, 0));
    const theirs = [0, 1, 4, 5].map((height) => ref(height, 0));
    expect(takeWhole(ours, theirs)).toMatchObject({ undoTo: 1, apply: theirs.slice(2) });
  });

  test('goes back if the other chain is shorter', () => {
    const ours = [0, 1, 2].map((height) => ref(height, 0));
    expect(takeWhole(ours, ours.slice(0, 2))).toMatchObject({ undoTo: 1, apply: [] });
  });
});

/** Calls a planner until it decides. The planner gets the source's chain in pages. */
class Asked {
  asks = 0;
  /** Number of the source's blocks that were given, with repetitions. */
  given = 0;
  readonly #ours: readonly WeighedRef[];
  readonly #theirs: readonly WeighedRef[];
  readonly #page: number;
  /** The lowest height that both chains keep. */
  readonly #first: number;

  constructor(ours: readonly WeighedRef[], theirs: readonly WeighedRef[], page: number, first = 0) {
    this.#ours = ours;
    this.#theirs = theirs;
    this.#page = page;
    this.#first = first;
  }

  decide(rule: Rule): Exclude<Plan, { kind: 'needHeaders' }> {
    let from = this.#ourTip;
    let part: OurPart = { from: asHeight(from), blocks: this.#ourPart(from) };
    let blocks = this.#give(from, Math.max(from, this.#first) + this.#page);
    let beyond = null as TheirPart['beyond'];
    const seen = new Set<number>();
    for (;;) {
      const known: number = beyond?.height ?? blocks.at(-1)?.height ?? from - 1;
      const isComplete = known >= this.#theirTip;
      const found = plan(part, { from: asHeight(from), blocks, beyond, isComplete }, rule);
      if (found.kind !== 'needHeaders') return found;
      // each request must be for new blocks that are next to the known ones
      expect(seen.has(found.from)).toBe(false);
      seen.add(found.from);
      if (found.from < from) {
        const end = from;
        from = this.#lowestOf(found.from);
        blocks = [...this.#give(from, end), ...blocks];
        part = { from: asHeight(from), blocks: this.#ourPart(from) };
      } else {
        expect(isComplete).toBe(false);
        expect(found.from).toBe(known + 1);
        const more: WeighedRef[] = this.#give(found.from, found.from + this.#page);
        beyond = { height: asHeight(known + more.length), work: workOf(more) + (beyond?.work ?? 0n) };
      }
    }
  }

  /** The lowest height of the blocks that a request from this height gets. */
  #lowestOf(from: number): number {
    return from < this.#first ? 0 : from;
  }

  get #ourTip(): number {
    return this.#ours.at(-1)?.height ?? 0;
  }

  get #theirTip(): number {
    return this.#theirs.at(-1)?.height ?? -1;
  }

  #ourPart(from: number): WeighedRef[] {
    return this.#ours.slice(Math.max(0, from - this.#first));
  }

  #give(from: number, end: number): WeighedRef[] {
    const blocks = this.#theirs.slice(Math.max(0, from - this.#first), Math.max(0, end - this.#first));
    this.asks++;
    this.given += blocks.length;
    return blocks;
  }
}

/**
 * Two branches of one random tree, with headers of several difficulties, from the first kept height on. If that height
 * is above 0, the branches may separate below it, and the source's branch may end below it.
 */
const trees = fc
  .record({
    first: fc.constantFrom(0, 5, 767_430),
    shared: fc.integer({ min: 0, max: 300 }),
    ours: fc.integer({ min: 0, max: 300 }),
    theirs: fc.integer({ min: 0, max: 300 }),
    works: fc.array(fc.bigInt({ min: 1n, max: 5n }), { minLength: 7, maxLength: 7 }),
    // a page has our tip and at least one block that may follow it
    page: fc.integer({ min: 2, max: 100 }),
  })
  .filter(({ first, shared, theirs }) => first > 0 || shared + theirs > 0)
  .map(({ first, shared, ours, theirs, works, page }) => {
    const workAt = (height: number, branch: number): bigint => works[(height * (branch + 1)) % 7] as bigint;
    const chain = (length: number, branch: number): WeighedRef[] =>
      Array.from({ length: shared + length }, (_, height) => {
        const of = height < shared ? 0 : branch;
        return ref(first + height, of, workAt(height, of));
      });
    return { first, shared, ours: chain(ours, 1), theirs: chain(theirs, 2), page };
  });

describe('a plan for a node', () => {
  test('is reached by asking, leads to its chain if that has the work, and waits if not', () => {
    fc.assert(
      fc.property(trees, ({ first, shared, ours, theirs, page }) => {
        const asked = new Asked(ours, theirs, page, first);
        const found = asked.decide('weigh');
        const isSame = shared >= ours.length;
        const hasWork = workOf(theirs.slice(shared)) >= workOf(ours.slice(shared));
        if (first === 0 && shared === 0 && ours.length > 0) expect(found).toMatchObject({ kind: 'refuse' });
        else if (!isSame && !hasWork) expect(found).toEqual({ kind: 'wait', code: 'node_behind' });
        else {
          expect(found).toMatchObject({
            kind: 'steps',
            undoTo: isSame ? null : (ours[shared - 1]?.height ?? -1),
          });
          const { apply } = found as Steps;
          // applies a page of the following blocks or more, and nothing else
          expect(shown(apply)).toEqual(shown(theirs.slice(shared, shared + apply.length)));
          if (theirs.length > shared) expect(apply.length).toBeGreaterThan(0);
        }
      }),
      { numRuns: propertyRuns(200) },
    );
  });

  test('asks for at most twice the depth of the fork, and upwards no further than the work requires', () => {
    fc.assert(
      fc.property(trees, ({ first, shared, ours, theirs, page }) => {
        const asked = new Asked(ours, theirs, page, first);
        asked.decide('weigh');
        const depth = ours.length - shared;
        const ourWork = workOf(ours.slice(shared));
        let needed = 0;
        for (let work = 0n; work < ourWork && shared + needed < theirs.length; needed++) {
          work += theirs[shared + needed]?.work ?? 0n;
        }
        const below = Math.min(theirs.length, Math.max(16, 2 * depth));
        expect(asked.given).toBeLessThanOrEqual(below + needed + 2 * page);
        expect(asked.asks).toBeLessThanOrEqual(
          2 + Math.ceil(Math.log2(Math.max(2, depth))) + Math.ceil(needed / page) + 1,
        );
      }),
      { numRuns: propertyRuns(200) },
    );
  });

  test('taken in turns, with a node that grows and reorganises, ends at its best chain', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(0, 30, 100),
        fc.array(fc.record({ fork: fc.nat(60), length: fc.integer({ min: 1, max: 80 }) }), { minLength: 1 }),
        (first, moves) => {
          let node: WeighedRef[] = [ref(0, 0, 1n)];
          let ours: WeighedRef[] = [];
          for (const [turn, { fork, length }] of moves.entries()) {
            const base = node.slice(0, Math.max(1, node.length - fork));
            const branch = Array.from({ length }, (_, at) => ref(base.length + at, turn + 1, 1n));
            const next = [...base, ...branch];
            const isBetter = next.length > (ours.at(-1)?.height ?? -1);
            node = next;
            for (let rounds = 0; rounds < 100; rounds++) {
              const found = new Asked(ours, node.slice(first), 10, first).decide('weigh');
              if (found.kind !== 'steps' || (found.undoTo === null && found.apply.length === 0)) break;
              ours = follow(ours, found) as WeighedRef[];
            }
            if (isBetter) expect(shown(ours)).toEqual(shown(node.slice(first)));
          }
        },
      ),
      { numRuns: propertyRuns(60) },
    );
  });

  test('of another network does not exist, however much work it has', () => {
    const ours = [0, 1].map((height) => ref(height, 1, 1n));
    const theirs = [0, 1, 2, 3].map((height) => ref(height, 2, 9n));
    expect(new Asked(ours, theirs, 10).decide('weigh')).toEqual({ kind: 'refuse', code: 'network_mismatch' });
  });

  test('without a common block in thousands above block 0 is of another network too', () => {
    const first = 112_402;
    const chain = (length: number, branch: number): WeighedRef[] =>
      Array.from({ length }, (_, at) => ref(first + at, branch, 1n));
    const theirs = chain(3000, 2);
    expect(new Asked(chain(2016, 1), theirs, 2000, first).decide('weigh')).toMatchObject({ undoTo: -1 });
    expect(new Asked(chain(2017, 1), theirs, 2000, first).decide('weigh')).toMatchObject({ kind: 'refuse' });
  });

  test('takes back blocks left by a folder with gaps, once the node has their work', () => {
    const ours = { from: genesisHeight, blocks: [ref(767_430, 0, 50n), ref(778_163, 0, 50n)] };
    const theirs = {
      from: genesisHeight,
      blocks: [ref(0, 0, 1n), ref(1, 0, 1n)],
      beyond: null,
      isComplete: false,
    };
    expect(plan(ours, theirs, 'weigh')).toEqual({ kind: 'needHeaders', from: 2 });
    expect(plan(ours, { ...theirs, isComplete: true }, 'weigh')).toMatchObject({ kind: 'wait' });
    expect(plan(ours, { ...theirs, beyond: { height: asHeight(9), work: 98n } }, 'weigh')).toMatchObject({
      undoTo: -1,
    });
  });

  test('that calls our tip invalid goes back to its blocks', () => {
    const ours = [0, 1, 2].map((height) => ref(height, 0, 1n));
    expect(new Asked(ours, ours.slice(0, 2), 10).decide('weigh')).toMatchObject({ kind: 'wait' });
    expect(new Asked(ours, ours.slice(0, 2), 10).decide('take')).toMatchObject({ undoTo: 1, apply: [] });
  });
});
