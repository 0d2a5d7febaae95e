import fc from 'fast-check';
import { expect, test } from 'vitest';
import { propertyRuns } from '#test/support/property-runs.ts';
import { fileProblem, nameWords, takeFiles } from '#web/assets/script/order/file-checks.js';

const limits = { extensions: ['png', 'txt'], filesMax: 4, fileBytesMax: 1000, orderBytesMax: 2500 };

test.each([
  ['photo', 5, /has no extension/u],
  ['run.exe', 5, /files of \.exe cannot be inscribed here\. Use one of these: png, txt\./u],
  ['empty.txt', 0, /is empty: it has 0 bytes\. Choose another file\./u],
  ['large.PNG', 1001, /has 1\.0 kB, and one file may have at most 1\.0 kB: .*Make it smaller\./u],
])('%s of %i bytes is refused with advice', (name, size, words) => {
  expect(fileProblem({ name, size }, limits)).toMatch(words);
});

test('a stranger’s name cannot change the direction of other text, and a long one leaves room for the advice', () => {
  expect(nameWords('photo.png')).toBe('photo.png');
  expect(nameWords('\u202egnp.exe')).toBe('\u2068gnp.exe\u2069');
  expect(nameWords('שלום.png')).toBe('\u2068שלום.png\u2069');
  expect(nameWords('a\nb.txt')).toBe('\u2068a�b.txt\u2069');
  const long = nameWords(`${'😀'.repeat(200)}.png`);
  expect(Array.from(long)).toHaveLength(51);
  expect(long).toMatch(/\.png\u2069$/u);
  expect(fileProblem({ name: `a.${'\u202eb'.repeat(100)}`, size: 5 }, limits)).not.toContain('\u202e');
});

test('a file within bounds is accepted, with its extension in any case', () => {
  expect(fileProblem({ name: 'A.PNG', size: 1000 }, limits)).toBeNull();
});

test('files beyond the count and the bytes of an order are left out, with one message', () => {
  const files = Array.from({ length: 6 }, () => ({ name: 'a.txt', size: 10 }));
  const many = takeFiles(files, { count: 1, bytes: 0 }, limits);
  expect([many.taken.length, many.problems]).toEqual([
    3,
    ['3 of the files are left out: an order has at most 4. Order them separately.'],
  ]);
  const large = takeFiles([{ name: 'a.txt', size: 900 }], { count: 1, bytes: 2000 }, limits);
  expect([large.taken.length, large.problems[0]]).toEqual([0, expect.stringMatching(/at most 2\.5 kB/u)]);
});

test('accepted files fit, and each file is either accepted or refused with a message', () => {
  const file = fc.record({
    name: fc.constantFrom('a.png', 'b.txt', 'c', 'd.exe'),
    size: fc.nat({ max: 1200 }),
  });
  fc.assert(
    fc.property(fc.array(file, { maxLength: 12 }), (files) => {
      const { taken, problems } = takeFiles(files, { count: 0, bytes: 0 }, limits);
      expect(taken.length).toBeLessThanOrEqual(limits.filesMax);
      expect(taken.reduce((sum, { size }) => sum + size, 0)).toBeLessThanOrEqual(limits.orderBytesMax);
      expect(taken.length === files.length).toBe(problems.length === 0);
      for (const each of taken) expect(fileProblem(each, limits)).toBeNull();
    }),
    { numRuns: propertyRuns(200) },
  );
});
