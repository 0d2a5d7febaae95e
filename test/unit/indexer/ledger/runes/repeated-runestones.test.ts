import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { RepeatedRunestones } from '#indexer/ledger/runes/repeated-runestones.ts';
import { encipher } from '#kernel/runes/runestone/encipher.ts';
import { smallU128 } from '#kernel/runes/u128.ts';
import { linesOf } from '#test/unit/indexer/parse/fixtures.ts';
import { read } from '#test/unit/kernel/runes/runestone/runestone-reader.ts';

/** A line of mainnet-runestones.ndjson.br (test/fixtures/runes/ORIGIN.md). */
interface Line {
  readonly height: number;
  readonly outputs: number;
  readonly script: string;
}

const fixture = join(import.meta.dirname, '../../../../fixtures/runes/mainnet-runestones.ndjson.br');

test('equal scripts of a block of mainnet share a runestone, which is that of each script', () => {
  const lines = linesOf(brotliDecompressSync(readFileSync(fixture)).toString()).map(
    (line) => JSON.parse(line) as Line,
  );
  let shared = 0;
  for (const height of new Set(lines.map((line) => line.height))) {
    const own = lines.filter((line) => line.height === height);
    const scripts = own.map(({ script }) => Buffer.from(script, 'hex'));
    const runestones = new RepeatedRunestones(Buffer.concat(scripts));
    let start = 0;
    const found = own.map(({ outputs }, at) => {
      const artifact = runestones.read(start, scripts[at]!.length, outputs);
      start += scripts[at]!.length;
      return artifact;
    });
    shared += found.length - new Set(found).size;
    expect(found).toEqual(own.map(({ outputs }, at) => read(scripts[at]!, outputs)));
  }
  // 27,365 runestones repeat one of their block; some of them are too long, or share a slot
  expect(shared).toBeGreaterThan(27_000);
});

test('a script is read again for another number of outputs', () => {
  const mint = { block: smallU128(840_000), tx: 1 };
  const script = encipher({ kind: 'runestone', edicts: [], etching: null, mint, pointer: 2 });
  const runestones = new RepeatedRunestones(Buffer.concat([script, script, script]));
  const first = runestones.read(0, script.length, 3);
  expect(first).toEqual({ kind: 'runestone', edicts: [], etching: null, mint, pointer: 2 });
  expect(runestones.read(script.length, script.length, 3)).toBe(first);
  // the pointer points to no output
  const fewer = runestones.read(2 * script.length, script.length, 2);
  expect(fewer).toEqual(read(script, 2));
  expect(fewer).not.toEqual(first);
});
