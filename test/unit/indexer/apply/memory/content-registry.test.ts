import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BloomFilter } from '#indexer/apply/memory/bloom-filter.ts';
import { ContentRegistry, unknownId } from '#indexer/apply/memory/content-registry.ts';
import type { HashTable } from '#indexer/apply/memory/hash-table.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

const hashOf = (content: number): Uint8Array => createHash('sha256').update(String(content)).digest();
const name = (content: number, variant: number): string => `${content}/${variant}`;

/** A model of the table and its pending rows. The registry must always agree with it. */
class Model {
  readonly committed = new Map<string, number>();
  readonly batches: { table: HashTable; added: Map<string, number> }[] = [];
  nextId = 0;
  asked = 0;
  readonly registry: ContentRegistry;

  constructor(entries: number, first?: number) {
    this.registry = new ContentRegistry(entries, 0, first);
  }

  known(content: number, variant: number): number | undefined {
    for (const { added } of this.batches) {
      const id = added.get(name(content, variant));
      if (id !== undefined) return id;
    }
    return this.committed.get(name(content, variant));
  }

  begin(contents: readonly (readonly [content: number, variant: number])[]): void {
    const answers = contents.map(([content, variant]) => {
      const id = this.registry.probe(hashOf(content), 0, variant);
      const known = this.known(content, variant);
      if (id >= 0) expect(id).toBe(known);
      if (id === unknownId.absent) expect(known).toBeUndefined();
      if (id !== unknownId.ask) return id;
      this.asked++;
      const row = this.committed.get(name(content, variant));
      // rows that are pending are never queried
      expect(row).toBe(known);
      return row ?? unknownId.absent;
    });
    const table = this.registry.begin();
    const added = new Map<string, number>();
    contents.forEach(([content, variant], index) => {
      if (answers[index]! >= 0 || added.has(name(content, variant))) return;
      expect(table.find(hashOf(content), 0, variant)).toBe(-1);
      table.add(hashOf(content), 0, variant, this.nextId);
      added.set(name(content, variant), this.nextId++);
    });
    this.batches.push({ table, added });
  }

  commit(): void {
    const batch = this.batches.shift();
    if (batch === undefined) return;
    this.registry.commit(batch.table);
    for (const [content, id] of batch.added) this.committed.set(content, id);
  }

  fail(): void {
    this.registry.rollback();
    this.batches.length = 0;
    this.nextId = this.committed.size;
  }
}

const content = fc.tuple(fc.nat(300), fc.constantFrom(0, 1, 8));
const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('begin' as const),
      contents: fc.array(content, { maxLength: 40 }),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('commit' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('fail' as const) }) },
);

describe('the registry of contents', () => {
  test.each([8, 64, 4096])(
    'with %i entries agrees with the table, through commits and failed transactions',
    (entries) => {
      fc.assert(
        fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
          const model = new Model(entries);
          for (const taken of steps) {
            if (taken.kind === 'begin') model.begin(taken.contents);
            else if (taken.kind === 'commit') model.commit();
            else model.fail();
          }
        }),
        { numRuns: propertyRuns(40) },
      );
    },
  );

  test('asks nothing while it holds all rows', () => {
    const model = new Model(1 << 14);
    for (let batch = 0; batch < 20; batch++) {
      model.begin(Array.from({ length: 100 }, (_, index) => [batch * 50 + index, 0] as const));
      model.commit();
    }
    expect(model.asked).toBe(0);
    expect(model.committed.size).toBe(1050);
  });

  test('grows as it learns, and asks nothing until it has its full size', () => {
    fc.assert(
      fc.property(fc.array(fc.array(content, { maxLength: 100 }), { maxLength: 20 }), (batches) => {
        const model = new Model(1 << 14, 8);
        for (const contents of batches) {
          model.begin(contents);
          model.commit();
        }
        model.begin(batches.flat());
        expect(model.asked).toBe(0);
      }),
      { numRuns: propertyRuns(40) },
    );
  });

  test('forgets rows that were taken back, before it has grown and after', () => {
    const model = new Model(1 << 14, 8);
    for (const count of [20, 400]) {
      model.begin(Array.from({ length: count }, (_, index) => [count * 10 + index, 0] as const));
      model.commit();
      const kept = model.nextId - count / 2;
      model.registry.forgetFrom(kept);
      for (const [known, id] of model.committed) if (id >= kept) model.committed.delete(known);
      model.nextId = kept;
    }
    for (let index = 0; index < 400; index++) {
      const id = model.registry.probe(hashOf(4000 + index), 0, 0);
      expect(id).toBe(model.known(4000 + index, 0) ?? unknownId.absent);
    }
  });

  test('asks about rows that it had to drop, and hardly ever about unknown ones', () => {
    const model = new Model(64);
    model.begin(Array.from({ length: 2000 }, (_, index) => [index, 0] as const));
    model.commit();
    model.asked = 0;
    model.begin(Array.from({ length: 2000 }, (_, index) => [index, 0] as const));
    expect(model.asked).toBeGreaterThan(1900);
    model.fail();
    model.asked = 0;
    model.begin(Array.from({ length: 2000 }, (_, index) => [10_000 + index, 0] as const));
    expect(model.asked).toBeLessThan(10);
  });
});

describe('the filter', () => {
  test('has no false negatives beyond its first part, and few false positives', () => {
    const filter = new BloomFilter();
    const count = 1_100_000;
    const hashes = new Uint8Array(32);
    const words = new Uint32Array(hashes.buffer);
    const fill = (seed: number): Uint8Array => {
      for (let word = 0; word < 8; word++)
        words[word] = Math.imul(seed * 8 + word + 1, 0x9e3779b1) ^ Math.imul(seed, 0x85ebca6b + word);
      return hashes;
    };
    for (let seed = 0; seed < count; seed++) filter.add(fill(seed), 0, 0);
    let missed = 0;
    for (let seed = 0; seed < count; seed += 7) if (!filter.mayHave(fill(seed), 0, 0)) missed++;
    expect(missed).toBe(0);
    let passed = 0;
    for (let seed = count; seed < count + 10_000; seed++) if (filter.mayHave(fill(seed), 0, 0)) passed++;
    expect(passed).toBeLessThan(400);
  });
});
