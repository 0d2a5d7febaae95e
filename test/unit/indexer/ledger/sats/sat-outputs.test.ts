import { describe, expect, test } from 'vitest';
import { outpointWords, outputFates, SatOutputs } from '#indexer/ledger/sats/sat-outputs.ts';
import { type Random, seededRandom } from '#test/builders/random.ts';
import { pairsOf } from '#test/support/chain/sats/sat-store.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

interface Held {
  readonly name: string;
  readonly height: number;
  readonly pairs: Float64Array;
}

/** Makes outpoints of few transactions with even fewer fingerprints, so that most collide. */
class RandomOutpoints {
  readonly #random: Random;
  readonly #fingerprints: number;

  constructor(random: Random) {
    this.#random = random;
    this.#fingerprints = 1 + random.below(500);
  }

  next(): { readonly words: Int32Array; readonly fingerprint: number; readonly name: string } {
    const words = new Int32Array(outpointWords);
    words[0] = this.#random.below(300) - 150;
    words[outpointWords - 1] = this.#random.below(3);
    const fingerprint = ((words[0] * 31 + words[outpointWords - 1]!) % this.#fingerprints) * 0x10001;
    return { words, fingerprint, name: words.join(' ') };
  }

  ranges(): Float64Array {
    return Float64Array.from({ length: this.#random.below(5) * 2 }, () => this.#random.u32());
  }
}

/** The rows of a table, in order. */
function shown(outputs: SatOutputs): Held[] {
  const held: Held[] = [];
  for (let row = 0; row < outputs.size; row++) {
    if (outputs.fateOf(row) === outputFates.gone) continue;
    const words = Array.from({ length: outpointWords }, (_, word) => outputs.wordOf(row, word));
    const { pairs, first, count } = outputs.rangesOf(row);
    held.push({
      name: words.join(' '),
      height: outputs.heightOf(row),
      pairs: Float64Array.from(pairsOf(pairs, first, count).flat()),
    });
  }
  return held;
}

describe('a table of outputs', () => {
  test('equals a map, while rows are added, forgotten and added again', () => {
    for (let run = 0; run < propertyRuns(40); run++) {
      const random = seededRandom(`outputs ${run}`);
      const outpoints = new RandomOutpoints(random);
      const outputs = new SatOutputs(1 + random.below(70));
      const other = new SatOutputs(1);
      const map = new Map<string, Held>();
      for (let height = 0; height < 1500; height++) {
        const { words, fingerprint, name } = outpoints.next();
        const row = outputs.find(fingerprint, words);
        expect(row >= 0).toBe(map.has(name));
        if (row >= 0) {
          const { pairs, first, count } = outputs.rangesOf(row);
          expect(outputs.heightOf(row)).toBe(map.get(name)!.height);
          expect(pairs.slice(first * 2, (first + count) * 2)).toEqual(map.get(name)!.pairs);
          outputs.remove(row);
          map.delete(name);
          continue;
        }
        const pairs = outpoints.ranges();
        if (random.below(3) > 0) outputs.reserve(1, pairs.length);
        const ranges = { pairs: Float64Array.of(1, 2, ...pairs, 3), first: 1, count: pairs.length / 2 };
        const from = other.add(fingerprint, words, -1);
        other.give(from, height, ranges);
        if (random.below(2) === 0) outputs.addAs(other, from);
        else outputs.give(outputs.add(fingerprint, words, height), height, ranges);
        map.set(name, { name, height, pairs });
      }
      expect(shown(outputs)).toEqual([...map.values()]);
      expect(outputs.left).toBe(map.size);
      expect(outputs.numbers).toBe([...map.values()].reduce((sum, { pairs }) => sum + pairs.length, 0));
    }
  });

  test('finds the newest of several rows of an outpoint first, and then the older ones', () => {
    for (let run = 0; run < propertyRuns(20); run++) {
      const random = seededRandom(`twins ${run}`);
      const outpoints = new RandomOutpoints(random);
      const outputs = new SatOutputs(1);
      const rows = new Map<string, number[]>();
      for (let height = 0; height < 1000; height++) {
        const { words, fingerprint, name } = outpoints.next();
        const own = rows.get(name) ?? [];
        own.unshift(outputs.add(fingerprint, words, height));
        rows.set(name, own);
        const found: number[] = [];
        for (let row = outputs.find(fingerprint, words); row >= 0; row = outputs.older(row)) found.push(row);
        expect(found).toEqual(own);
      }
    }
  });

  test('releases memory after a peak, and has the same rows then', () => {
    const random = seededRandom('peak');
    const outputs = new SatOutputs();
    const words = new Int32Array(outpointWords);
    const fingerprintOf = (name: number): number => Math.imul(name, 0x9e3779b1);
    for (let name = 0; name < 300_000; name++) {
      words[0] = name;
      const pairs = Float64Array.of(name, name + 1, name + 2, name + 3, name + 4, name + 5);
      outputs.give(outputs.add(fingerprintOf(name), words, name), name, { pairs, first: 0, count: 3 });
    }
    outputs.shrink();
    expect(outputs.size).toBe(300_000);
    const kept: number[] = [];
    for (let name = 0; name < 300_000; name++) {
      words[0] = name;
      if (random.below(100) === 0) kept.push(name);
      else outputs.remove(outputs.find(fingerprintOf(name), words));
    }
    const before = shown(outputs);
    outputs.shrink();
    expect(shown(outputs)).toEqual(before);
    expect(before.map(({ height }) => height)).toEqual(kept);
    expect(outputs.size).toBe(kept.length);
    expect(outputs.pairs.length).toBeLessThanOrEqual(1 << 18);
    for (const name of kept) {
      words[0] = name;
      expect(outputs.heightOf(outputs.find(fingerprintOf(name), words))).toBe(name);
    }
  });

  test('has room for at most twice of what is left in it', () => {
    const random = seededRandom('room');
    const outputs = new SatOutputs();
    const words = new Int32Array(outpointWords);
    const batch = 1000;
    for (let added = 0, oldest = 0; added < 40 * batch; ) {
      outputs.reserve(batch, batch * 4);
      for (let last = added + batch; added < last; added++) {
        words[0] = added;
        const row = outputs.add(Math.imul(added, 0x9e3779b1), words, added);
        outputs.give(row, added, { pairs: new Float64Array(4), first: 0, count: 2 });
      }
      for (; outputs.left > 8000 - random.below(2000); oldest++) {
        words[0] = oldest;
        outputs.remove(outputs.find(Math.imul(oldest, 0x9e3779b1), words));
      }
    }
    expect(outputs.pairs.length).toBeLessThanOrEqual(2 * (8000 + batch) * 4);
    expect(outputs.size).toBeLessThanOrEqual(2 * (8000 + batch));
  });
});
