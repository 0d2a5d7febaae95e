import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { asBlockHashHex } from '#kernel/primitives/hash.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import type { Marker } from '#search/elastic/server/marker.ts';
import { type AppliedBlock, type ChainPosition, planStep, type SyncStep } from '#search/sync/sync-plan.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

interface OutboxRow {
  readonly sequence: number;
  readonly cancels: number | null;
}

const empty: Marker = {
  state: 'complete',
  rewinds: 0,
  database: 'regtest-1',
  epoch: 0,
  sequence: 0,
  tip: null,
  nextKey: 0,
  phrases: [],
  isMerged: false,
};

/** A chain as a stack of blocks. It has an outbox, and remembers its state after each row of the outbox. */
class History {
  readonly rows: OutboxRow[] = [];
  readonly blocks: AppliedBlock[] = [];
  /** Labels of the inscriptions after each row, and the tip after each row. */
  readonly documents: string[][] = [[]];
  readonly tips: Marker['tip'][] = [null];
  undoEpoch = 0;

  apply(count: number): void {
    const sequence = this.rows.length + 1;
    const tip = {
      height: asHeight(this.blocks.length),
      hash: asBlockHashHex(createHash('sha256').update(`${sequence}`).digest('hex')),
    };
    this.rows.push({ sequence, cancels: null });
    this.blocks.push({ sequence, tip, nextKey: this.nextKey + count });
    const added = Array.from({ length: count }, (_, index) => `${sequence}.${index}`);
    this.documents.push([...this.labels, ...added]);
    this.tips.push(tip);
  }

  undo(): void {
    const block = this.blocks.pop();
    if (block === undefined) return;
    this.rows.push({ sequence: this.rows.length + 1, cancels: block.sequence });
    this.documents.push(this.labels.slice(0, this.nextKey));
    this.tips.push(this.blocks.at(-1)?.tip ?? null);
    this.undoEpoch++;
  }

  get nextKey(): number {
    return this.blocks.at(-1)?.nextKey ?? 0;
  }

  get labels(): string[] {
    return this.documents.at(-1)!;
  }

  /** The position that the SQL would return, computed from its definitions. */
  position({ sequence: at }: Marker, appliedMax: number): ChainPosition {
    const undos = this.rows.filter(({ cancels, sequence }) => cancels !== null && sequence > at);
    const applied = this.blocks.filter(({ sequence }) => sequence > at);
    return {
      database: 'regtest-1',
      undoEpoch: this.undoEpoch,
      lastSequence: this.rows.length,
      tipAtMarker: this.tips[at] ?? null,
      undoSequences: undos.map(({ sequence }) => sequence),
      undoneAt: undos.findLast(({ cancels }) => cancels! <= at)?.sequence ?? null,
      left: this.blocks.findLast(({ sequence }) => sequence <= at) ?? null,
      applied: applied.slice(0, appliedMax),
      isAll: applied.length <= appliedMax,
    };
  }
}

/** An index. It has labels by key, written by any writer, and a marker. */
class Index {
  readonly documents: string[] = [];
  marker = empty;

  /** Carries out a step. `written` is how many of its keys are written before it is cut off; `null` means all. */
  take(step: SyncStep, history: History, written: number | null): void {
    if (step.kind !== 'rewind' && step.kind !== 'advance') return;
    const { marker } = step;
    if (step.kind === 'advance') {
      const end = Math.min(marker.nextKey, this.marker.nextKey + (written ?? marker.nextKey));
      for (let key = this.marker.nextKey; key < end; key++) this.documents[key] = history.labels[key]!;
    }
    if (written === null) this.marker = marker;
  }
}

type Move =
  | { readonly kind: 'apply'; readonly count: number }
  | { readonly kind: 'undo'; readonly depth: number }
  | { readonly kind: 'step'; readonly written: number | null };

const move: fc.Arbitrary<Move> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('apply' as const), count: fc.nat({ max: 5 }) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('undo' as const), depth: fc.nat({ max: 4 }) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('step' as const),
      written: fc.option(fc.nat({ max: 6 }), { freq: 2 }),
    }),
  },
);

test('every marker speaks of the very chain after its row, whatever came, went and was cut off', () => {
  fc.assert(
    fc.property(
      fc.array(move, { maxLength: 60 }),
      fc.constantFrom(1, 4, 100),
      fc.constantFrom(1, 2, 50),
      (moves, keysMax, appliedMax) => {
        const history = new History();
        const index = new Index();
        const step = (written: number | null): SyncStep => {
          const before = index.marker;
          const planned = planStep(index.marker, history.position(index.marker, appliedMax), keysMax);
          index.take(planned, history, written);
          const { sequence, nextKey, tip, epoch, rewinds } = index.marker;
          expect(index.documents.slice(0, nextKey)).toEqual(history.documents[sequence]);
          expect(epoch).toBe(
            history.rows.slice(0, sequence).filter(({ cancels }) => cancels !== null).length,
          );
          expect(tip).toEqual(history.tips[sequence]);
          if (rewinds === before.rewinds) expect(nextKey).toBeGreaterThanOrEqual(before.nextKey);
          return planned;
        };
        for (const one of moves) {
          if (one.kind === 'apply') history.apply(one.count);
          else if (one.kind === 'undo') for (let depth = 0; depth < one.depth; depth++) history.undo();
          else step(one.written);
        }
        // at most one step for each row, and one that finds nothing left to do
        let left = history.rows.length + 1;
        while (step(null).kind !== 'nothing') expect(left--).toBeGreaterThan(0);
        expect(index.documents.slice(0, index.marker.nextKey)).toEqual(history.labels);
        expect(index.marker.sequence).toBe(history.rows.length);
      },
    ),
    { numRuns: propertyRuns(200) },
  );
});

test('a marker of another database, or of another history of it, asks for a rebuild', () => {
  const history = new History();
  history.apply(2);
  history.apply(2);
  const marker: Marker = { ...empty, sequence: 1, tip: history.tips[1]!, nextKey: 2 };
  const plan = (changed: Partial<Marker>): SyncStep['kind'] => {
    const asked = { ...marker, ...changed };
    return planStep(asked, history.position(asked, 10), 10).kind;
  };
  const tip = history.tips[1]!;
  expect(plan({})).toBe('advance');
  expect(plan({ database: 'regtest-2' })).toBe('rebuild');
  expect(plan({ tip: { ...tip, hash: asBlockHashHex('00'.repeat(32)) } })).toBe('rebuild');
  expect(plan({ tip: { ...tip, height: asHeight(7) } })).toBe('rebuild');
  expect(plan({ tip: null })).toBe('rebuild');
  expect(plan({ sequence: 2 })).toBe('rebuild');
  expect(plan({ sequence: 99 })).toBe('rebuild');
});

test('a step takes as many blocks as fit, one at least, and one alone where it may be taken back', () => {
  const history = new History();
  for (const count of [3, 3, 20, 1, 5, 5, 5, 5, 5, 5]) history.apply(count);
  const reached = (keysMax: number, appliedMax = 100): number | string => {
    const step = planStep(empty, history.position(empty, appliedMax), keysMax);
    return step.kind === 'advance' ? step.marker.nextKey : step.kind;
  };
  expect([1, 6, 25, 26, 1000].map((max) => reached(max))).toEqual([3, 6, 6, 26, 27]);
  expect(reached(1000, 9)).toBe(52);
  const near: Marker = { ...empty, sequence: 5, tip: history.tips[5]!, nextKey: 32 };
  const step = planStep(near, history.position(near, 100), 1000);
  expect(step).toMatchObject({ kind: 'advance', marker: { sequence: 6, nextKey: 37 } });
});
