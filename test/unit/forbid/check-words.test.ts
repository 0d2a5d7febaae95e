import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { checkWords } from '#scripts/forbid/check-words.ts';

describe('the check of banned words', () => {
  let root: string;

  function write(path: string, text: string): void {
    const file = join(root, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'words-'));
    write('src/orders/a.ts', '/** Orders of a customer. */\nexport const a = 1;\n');
    write('docs/a.md', 'It returns.\n');
  });

  afterEach(() => rmSync(root, { recursive: true }));

  test('finds nothing in a tree without them', () => {
    expect(checkWords(root)).toEqual({ faults: [], notes: [] });
  });

  test('names the file, the line and the plain word of each', () => {
    write('src/orders/b.ts', '/** Of orders. */\nexport const b = 1; // made anew\n');
    write('docs/a.md', 'It returns.\n\nIt was delivered lately.\n');
    write('README.md', 'It goes\nhome.\n');
    expect(checkWords(root)).toEqual({
      faults: [
        [
          'words that make a reader stop (scripts/forbid/plain-words.ts):',
          '  README.md:1: "goes home": write return',
          '  docs/a.md:3: "lately": write recently',
          '  src/orders/b.ts:1: "/** Of": write start with the noun that it is, or with a verb',
          '  src/orders/b.ts:2: "anew": write again; "rebuild" for "make anew"',
        ].join('\n'),
      ],
      notes: [],
    });
  });

  test('leaves out the lists of words, fixtures and generated files', () => {
    for (const path of [
      'scripts/forbid/a.ts',
      'test/unit/forbid/a.ts',
      'test/fixtures/a.md',
      'docs/errors.md',
    ])
      write(path, 'made anew\n');
    expect(checkWords(root).faults).toEqual([]);
  });
});
