import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { offencesIn } from '#scripts/forbid/plain-text.ts';
import { allowedTexts, bannedStarts, bannedWords } from '#scripts/forbid/plain-words.ts';

const found = (text: string, path = 'docs/orders.md'): string[] =>
  offencesIn(path, text).map((offence) => offence.found);

/** One use of each banned word, in the order of the list. */
const uses = [
  'the table is made anew',
  'delivered lately',
  'Whoever asks',
  'an output of nobody',
  'the fee comes behind the subsidy',
  'all but for the last',
  'so much is left',
  'the so manieth child',
  'two processes, of which one works',
  'a reveal is none',
  'events of no block',
  'cannot be had',
  'the parent goes home',
  'orders are brought on',
  'the client is told of it',
  'it comes to an end',
  'the pass goes on after a restart',
  'what was paid back',
  'the sat lies in output 1',
  'the row stands before it',
];

describe('banned words', () => {
  test('each have a plain word and a reason', () => {
    expect(uses).toHaveLength(bannedWords.length);
    for (const { use, why } of bannedWords) {
      expect(use).toMatch(/\S{3}/u);
      expect(why).toMatch(/\S+ \S+ \S+/u);
    }
  });

  test.each(uses.map((text, nth) => [text, bannedWords[nth]?.use]))('are found in "%s"', (text, use) => {
    expect(offencesIn('docs/orders.md', text)).toMatchObject([{ kind: 'words', line: 1, use }]);
  });

  test('are found in names, in capitals too, and not within other words', () => {
    expect(found('const ordersLatelyDelivered = readAnew(); nobody();')).toEqual([
      'Lately',
      'Anew',
      'nobody',
    ]);
    expect(found('noBody(); NOBODYETCHEDTHIS; relies; standard; beliefs; chronicle')).toEqual([]);
  });

  test('are found across the lines of a comment, at the line where they begin', () => {
    const text = 'first\n * It goes\n * home, and is\n// none of ours, but\n# for one\n';
    expect(offencesIn('src/a.ts', text)).toMatchObject([
      { line: 2, found: 'goes home' },
      { line: 3, found: 'is none' },
      { line: 4, found: 'but for' },
    ]);
  });

  test.each([
    'there are none',
    'a service behind a reverse proxy',
    'three blocks behind the tip',
    'the index is behind',
    'so many blocks were undone that it stops',
    'of no more than ten',
    'it goes on the wire',
    'the node lies to its clients',
    'another process stands by',
  ])('are not found in "%s"', (text) => {
    expect(found(text)).toEqual([]);
  });
});

describe('allowed texts', () => {
  const root = join(import.meta.dirname, '../../..');

  test.each(allowedTexts)('"$text" is allowed in $path, once and nowhere else', ({ path, text }) => {
    expect(offencesIn(path, text)).toEqual([]);
    expect(offencesIn('src/kernel/other.ts', text)).not.toEqual([]);
    expect(readFileSync(join(root, path), 'utf8').split(text)).toHaveLength(2);
  });

  test('leave other uses in the same file, at their lines', () => {
    const text = "const lastResort = 'nobody';\nconst other = 'nobody';\n";
    expect(offencesIn('src/embedded-postgres/server-account.ts', text)).toMatchObject([
      { line: 2, found: 'nobody' },
    ]);
  });
});

describe('banned starts of doc comments', () => {
  test.each(bannedStarts)('"$start" is found', ({ start, use }) => {
    const text = `x\n/**\n * ${start} a thing. */\n/** ${start} a thing. */`;
    expect(offencesIn('src/a.ts', text)).toEqual([
      { kind: 'starts', line: 3, found: `/** ${start}`, use },
      { kind: 'starts', line: 4, found: `/** ${start}`, use },
    ]);
  });

  test('are no part of a longer word, no other comment, and are not looked for in documents', () => {
    expect(
      found('/** Offset. */ /** Withdrawn. */ // Of a\n/* As a */ /** Outputs of What. */', 'a.ts'),
    ).toEqual([]);
    expect(found('/** Of a */')).toEqual([]);
    expect(found("'src/**/*.ts'\nWhat", 'a.ts')).toEqual([]);
  });
});
