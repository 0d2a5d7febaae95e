import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  decodeMarker,
  emptyMarker,
  encodeMarker,
  type NextIds,
  noIds,
  type SearchMarker,
} from '#search/sync/marker.ts';
import type { OutboxRow } from '#search/sync/outbox-row.ts';
import { type AppliedBlock, type ChainPosition, planStep, type SyncStep } from '#search/sync/plan.ts';

const chainName = 'regtest-1';

/** A chain as a stack of blocks, its outbox, and what it was after each row. */
class History {
  readonly rows: OutboxRow[] = [];
  readonly blocks: AppliedBlock[] = [];
  /** Labels of the documents after each row, by sequence. */
  readonly documents: string[][] = [[]];
  undoEpoch = 0;

  apply(count: number): void {
    const sequence = this.rows.length + 1;
    const hash = createHash('sha256').update(`${sequence}`).digest();
    const row = { sequence, height: this.blocks.length, hash, cancels: null };
    const key = this.nextKey + count;
    this.rows.push(row);
    this.blocks.push({ row, next: { key, contentId: key, metadataId: 0 } });
    this.documents.push([
      ...this.labels,
      ...Array.from({ length: count }, (_, index) => `${sequence}.${index}`),
    ]);
  }

  undo(): void {
    const block = this.blocks.pop();
    if (block === undefined) return;
    const { height, hash, sequence: cancels } = block.row;
    this.rows.push({ sequence: this.rows.length + 1, height, hash, cancels });
    this.documents.push(this.labels.slice(0, this.nextKey));
    this.undoEpoch++;
  }

  get nextKey(): number {
    return this.blocks.at(-1)?.next.key ?? 0;
  }

  get labels(): string[] {
    return this.documents.at(-1)!;
  }

  /** What SQL reads, as its definitions say. */
  position(marker: SearchMarker, appliedMax: number): ChainPosition {
    const at = marker.row?.sequence ?? 0;
    const undone = this.rows.findLast(
      ({ cancels, sequence }) => cancels !== null && cancels <= at && sequence > at,
    );
    const applied = this.blocks.filter(({ row }) => row.sequence > at);
    return {
      chain: chainName,
      undoEpoch: this.undoEpoch,
      last: this.rows.at(-1) ?? null,
      atMarker: this.rows[at - 1] ?? null,
      undoSequences: this.rows
        .filter(({ cancels, sequence }) => cancels !== null && sequence > at)
        .map(({ sequence }) => sequence),
      undone: undone ?? null,
      left: this.blocks.findLast(({ row }) => row.sequence <= at) ?? null,
      applied: applied.slice(0, appliedMax),
      isAll: applied.length <= appliedMax,
    };
  }
}

/** An index: documents by their ids, whoever wrote them, and a marker. */
class Index {
  readonly documents: string[] = [];
  marker = emptyMarker(chainName);

  /** Works a step off; `written`: how many of its documents before it is cut off, null: all of it. */
  take(step: SyncStep, history: History, written: number | null): void {
    if (step.kind !== 'rewind' && step.kind !== 'advance') return;
    const { marker } = step;
    if (step.kind === 'advance') {
      const end =
        written === null ? marker.next.key : Math.min(marker.next.key, this.marker.next.key + written);
      for (let key = this.marker.next.key; key < end; key++) this.documents[key] = history.labels[key]!;
    }
    if (written === null) this.marker = decodeMarker(encodeMarker(marker))!;
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
      (moves, idsMax, appliedMax) => {
        const history = new History();
        const index = new Index();
        const step = (written: number | null): SyncStep => {
          const before = index.marker;
          const planned = planStep(index.marker, history.position(index.marker, appliedMax), idsMax);
          index.take(planned, history, written);
          const { row, next, tip, undoEpoch, rewinds } = index.marker;
          const sequence = row?.sequence ?? 0;
          expect(index.documents.slice(0, next.key)).toEqual(history.documents[sequence]);
          expect(undoEpoch).toBe(history.rows.slice(0, sequence).filter(({ cancels }) => cancels).length);
          expect(tip === null ? 0 : tip.height + 1).toBe(heightsAfter(history.rows.slice(0, sequence)));
          if (rewinds === before.rewinds) expect(next.key).toBeGreaterThanOrEqual(before.next.key);
          return planned;
        };
        for (const one of moves) {
          if (one.kind === 'apply') history.apply(one.count);
          else if (one.kind === 'undo') for (let depth = 0; depth < one.depth; depth++) history.undo();
          else step(one.written);
        }
        // as many steps as there are rows, and one to find that there is nothing left
        let left = history.rows.length + 1;
        while (step(null).kind !== 'nothing') expect(left--).toBeGreaterThan(0);
        expect(index.documents.slice(0, index.marker.next.key)).toEqual(history.labels);
        expect(index.marker.row?.sequence ?? 0).toBe(history.rows.length);
      },
    ),
    { numRuns: 500 },
  );
});

const heightsAfter = (rows: readonly OutboxRow[]): number =>
  rows.reduce((height, { cancels }) => (cancels === null ? height + 1 : height - 1), 0);

test('a marker of another database, of a row that is another one now, or that is not there, asks for a rebuild', () => {
  const history = new History();
  history.apply(2);
  history.apply(2);
  const marker: SearchMarker = { ...emptyMarker(chainName), row: history.rows[0]! };
  const plan = (changed: Partial<SearchMarker>): SyncStep['kind'] => {
    const asked = { ...marker, ...changed };
    return planStep(asked, history.position(asked, 10), 10).kind;
  };
  const row = history.rows[0]!;
  expect(plan({})).toBe('advance');
  expect(plan({ chain: 'regtest-2' })).toBe('rebuild');
  expect(plan({ row: { ...row, hash: Buffer.alloc(32) } })).toBe('rebuild');
  expect(plan({ row: { ...row, height: 7 } })).toBe('rebuild');
  expect(plan({ row: { ...row, cancels: 1 } })).toBe('rebuild');
  expect(plan({ row: { ...row, sequence: 99 } })).toBe('rebuild');
});

test('a step takes as many blocks as fit, and at least one', () => {
  const history = new History();
  for (const count of [3, 3, 20, 1]) history.apply(count);
  const marker = emptyMarker(chainName);
  const heights = (idsMax: number): NextIds | string => {
    const step = planStep(marker, history.position(marker, 100), idsMax);
    return step.kind === 'advance' ? step.marker.next : step.kind;
  };
  const upTo = (key: number): NextIds => ({ ...noIds, key, contentId: key });
  expect(heights(1)).toEqual(upTo(3));
  expect(heights(6)).toEqual(upTo(6));
  expect(heights(25)).toEqual(upTo(6));
  expect(heights(26)).toEqual(upTo(26));
  expect(heights(100)).toEqual(upTo(27));
});

test('a marker of a later format is none', () => {
  const marker = { ...emptyMarker(chainName), tip: { height: 1, hash: new Uint8Array(32).fill(7) } };
  expect(decodeMarker(encodeMarker(marker))).toEqual(marker);
  expect(decodeMarker(encodeMarker(marker).replace('"version":1', '"version":2'))).toBeNull();
});
