import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { madeOutputName } from '#kernel/satributes/provenance.ts';
import { countWithin, rangesWithin } from '#kernel/satributes/rule-ranges.ts';
import { listOf } from '#kernel/satributes/satribute.ts';
import { SatributeBook } from '#kernel/satributes/satribute-book.ts';
import { readSatributeFile } from '#kernel/satributes/satribute-file.ts';
import { satSupply } from '#kernel/sats/sat.ts';
import { type SatRange } from '#kernel/sats/sat-range.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

const txid = 'ab'.repeat(32);
const entry = { id: 'hitman', version: 1, origin: 'us', ranges: [[5, 10]] };
const read = (...entries: unknown[]) => {
  const file = readSatributeFile(JSON.stringify(entries));
  if (file.kind === 'wrong') throw new Error(file.wrong.join('\n'));
  return file.satributes;
};
const wrong = (...entries: unknown[]): readonly string[] => {
  const file = readSatributeFile(JSON.stringify(entries));
  return file.kind === 'wrong' ? file.wrong : [];
};

describe('a file of the operator', () => {
  test('gives ranges and outputs to satributes without a rule, on the network of the server', () => {
    const own = read(entry, {
      id: 'silkroad',
      version: 7,
      origin: 'a court',
      completeness: 'half of it',
      outputs: [`${txid}:0@100`, `${txid.toUpperCase()}:1@100`],
    });
    const book = new SatributeBook('signet', own);
    expect(book.findable.map(({ id }) => id)).toContain('hitman');
    expect(book.find('hitman')).toMatchObject({ version: 1, origin: 'us', title: 'Hitman' });
    expect(countWithin(book.find('hitman')!.rule, { start: 0, end: satSupply })).toBe(5);
    expect(book.find('silkroad')).toMatchObject({ version: 7, completeness: 'half of it' });
    expect(book.outputs.map(madeOutputName)).toEqual([`${txid}:0@100`, `${txid}:1@100`]);
    // the built-in definition of this version does not change
    expect(new SatributeBook('signet').find('hitman')!.rule.kind).toBe('unknown');
  });

  test('has sats of outputs once all of them are found', () => {
    const own = read({
      id: 'legacy',
      version: 1,
      origin: 'x',
      outputs: [`${txid}:0@100`, `${txid}:1@100`],
    });
    const one = { ranges: [{ start: 50, end: 60 }] };
    const two = {
      ranges: [
        { start: 20, end: 30 },
        { start: 60, end: 65 },
      ],
    };
    const part = new SatributeBook('regtest', own, new Map([[`${txid}:0@100`, one]]));
    expect(part.findable.map(({ id }) => id)).not.toContain('legacy');
    const whole = new SatributeBook(
      'regtest',
      own,
      new Map([
        [`${txid}:0@100`, one],
        [`${txid}:1@100`, two],
      ]),
    );
    expect(listOf(whole.find('legacy')!.rule)).toEqual([
      { start: 20, end: 30 },
      { start: 50, end: 65 },
    ]);
    const failed = new SatributeBook('regtest', own, new Map([[`${txid}:0@100`, { problem: 'pruned' }]]));
    expect(failed.find('legacy')!.rule).toMatchObject({
      sats: { why: `output ${txid}:0 of block 100 cannot be traced: pruned` },
    });
  });

  test.each<[string, unknown, string]>([
    ['an unknown id', { ...entry, id: 'gold' }, 'has an id that is not one of hitman, silkroad, legacy'],
    ['a name of an object', { ...entry, id: '__proto__' }, 'has an id that is not one of'],
    ['no entry', 5, 'has an id that is not one of'],
    ['pizza, which has a rule', { ...entry, id: 'pizza' }, 'has an id whose rule is built in'],
    ['uncommon, which has a rule', { ...entry, id: 'uncommon' }, 'has an id whose rule is built in'],
    ['an unknown field', { ...entry, range: [] }, 'has a field range'],
    ['no version', { ...entry, version: undefined }, 'needs a version'],
    ['version 0', { ...entry, version: 0 }, 'needs a version'],
    ['version 1.5', { ...entry, version: 1.5 }, 'needs a version'],
    ['no origin', { ...entry, origin: '' }, 'needs an origin'],
    ['a long origin', { ...entry, origin: 'x'.repeat(1_001) }, 'needs an origin'],
    ['a completeness that is no text', { ...entry, completeness: 5 }, 'has a completeness'],
    ['neither', { ...entry, ranges: undefined }, 'needs either ranges or outputs'],
    ['both', { ...entry, outputs: [] }, 'needs either ranges or outputs'],
    ['no ranges', { ...entry, ranges: [] }, 'has ranges that are not a list'],
    ['invalid ranges', { ...entry, ranges: [[1, 2], [3]] }, 'has a range 2 that is not [start, end]'],
    ['an empty range', { ...entry, ranges: [[5, 5]] }, 'has an empty range 1'],
    ['a range that ends before it begins', { ...entry, ranges: [[6, 5]] }, 'has an empty range 1'],
    ['a negative sat', { ...entry, ranges: [[-1, 5]] }, 'has a range 1 that is not two integers'],
    ['half a sat', { ...entry, ranges: [[0.5, 5]] }, 'has a range 1 that is not two integers'],
    ['a text', { ...entry, ranges: [['1', '5']] }, 'has a range 1 that is not two integers'],
    ['above the supply', { ...entry, ranges: [[0, satSupply + 1]] }, 'the supply of sats'],
    [
      'overlapping',
      {
        ...entry,
        ranges: [
          [1, 5],
          [4, 9],
        ],
      },
      'has a range 2 that begins before the end',
    ],
    [
      'unordered',
      {
        ...entry,
        ranges: [
          [6, 9],
          [1, 5],
        ],
      },
      'has a range 2 that begins before the end',
    ],
    [
      'too many ranges',
      { ...entry, ranges: Array.from({ length: 200_001 }, (_, at) => [at, at + 1]) },
      'has too many ranges, because a file may have at most 200000',
    ],
    ['no outputs', { ...entry, ranges: undefined, outputs: [] }, 'has outputs that are not a list'],
    ...[`${txid}:0`, `${txid}:0@0`, `${txid}:00@5`, `${txid}:0@05`, `ab:0@5`, `${txid}:4294967295@5`, 5].map(
      (output): [string, unknown, string] => [
        `output ${String(output).slice(-14)}`,
        { ...entry, ranges: undefined, outputs: [output] },
        'has an output 1 that is not <txid>:<vout>@<height>',
      ],
    ),
    [
      'an output twice',
      { ...entry, ranges: undefined, outputs: [`${txid}:0@5`, `${txid}:0@6`] },
      'has an output 2 that is already in the list',
    ],
    [
      'too many outputs',
      {
        ...entry,
        ranges: undefined,
        outputs: Array.from({ length: 101 }, (_, vout) => `${txid}:${vout}@5`),
      },
      'has too many outputs, because a file may have at most 100',
    ],
  ])('with %s is refused, and the entry is named', (_, given, words) => {
    const [line, ...others] = wrong({ ...entry, id: 'legacy' }, given);
    expect(others).toEqual([]);
    expect(line).toMatch(/^entry 2/u);
    expect(line).toContain(words);
  });

  test('with an id twice is refused', () => {
    expect(wrong(entry, entry)).toEqual(['entry 2 (hitman) is there twice']);
  });

  test.each(['', '{', '{}', 'null', '"x"'])('that is %s is refused', (text) => {
    expect(readSatributeFile(text)).toEqual({
      kind: 'wrong',
      wrong: ['it is not JSON with a list of satributes'],
    });
  });

  test('has the number of sats of any list of ranges, and the sats themselves', () => {
    const sizes = fc.tuple(fc.integer({ min: 0, max: 5 }), fc.integer({ min: 1, max: 9 }));
    const list = fc.array(sizes, { minLength: 1, maxLength: 40 }).map((parts) => {
      let at = 0;
      return parts.map(([gap, size]): [number, number] => {
        const start = at + gap;
        at = start + size;
        return [start, at];
      });
    });
    const bound = fc.integer({ min: 0, max: 300 });
    fc.assert(
      fc.property(list, bound, bound, (ranges, one, other) => {
        const { rule } = read({ ...entry, ranges })[0]!;
        const within: SatRange = { start: Math.min(one, other), end: Math.max(one, other) };
        const expected: number[] = [];
        for (let sat = within.start; sat < within.end; sat++)
          if (ranges.some(([start, end]) => start <= sat && sat < end)) expected.push(sat);
        expect(countWithin(rule, within)).toBe(expected.length);
        const found = [...rangesWithin(rule, within)].flatMap(({ start, end }) =>
          Array.from({ length: end - start }, (_, place) => start + place),
        );
        expect(found).toEqual(expected);
      }),
      { numRuns: propertyRuns(200) },
    );
  });
});
