import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { checkWords, readOffences, storedFile } from '#scripts/forbid/check-words.ts';
import { changesOf, countsOf, folderOf, storedText } from '#scripts/forbid/word-counts.ts';

describe('counts of banned words', () => {
  test.each([
    ['README.md', '.'],
    ['src/main.ts', 'src'],
    ['src/orders/order/order.store.ts', 'src/orders'],
    ['indexer/ledger/sats/sat-state.ts', 'indexer/ledger'],
    ['test/unit/http/ord/transactions/decode.test.ts', 'test/unit/http'],
    ['test/unit/cli.test.ts', 'test/unit'],
    ['test/support/orders/order-world.ts', 'test/support'],
    ['docs/adr/0001-foundation.md', 'docs/adr'],
    ['scripts/supply-chain/check.ts', 'scripts'],
  ])('of %s belong to %s', (path, folder) => {
    expect(folderOf(path)).toBe(folder);
  });

  test('are compared folder by folder', () => {
    const stored = { a: { words: 2, starts: 1 }, b: { words: 0, starts: 3 }, c: { words: 1, starts: 1 } };
    const counted = { b: { words: 1, starts: 2 }, c: { words: 1, starts: 0 }, d: { words: 1, starts: 0 } };
    const { higher, lower } = changesOf(stored, counted);
    expect(higher.toSorted()).toEqual(['b', 'd']);
    expect(lower.toSorted()).toEqual(['a', 'c']);
    for (const counts of [stored, {}]) expect(JSON.parse(storedText(counts))).toEqual(counts);
  });
});

describe('the check of banned words', () => {
  let root: string;

  function write(path: string, text: string): void {
    const file = join(root, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  const store = (): void => write(storedFile, storedText(countsOf(readOffences(root))));
  function git(...args: readonly string[]): void {
    const name = ['-c', 'user.name=test', '-c', 'user.email=test@localhost', '-c', 'commit.gpgsign=false'];
    execFileSync('git', [...name, ...args], { cwd: root, stdio: 'ignore' });
  }
  function commit(): void {
    git('add', '.');
    git('commit', '--message=all');
  }

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'words-'));
    write('src/orders/a.ts', '/** Of orders. */\nexport const a = 1; // made anew\n');
    write('docs/a.md', 'It goes\nhome.\n');
    store();
  });

  afterEach(() => rmSync(root, { recursive: true }));

  test('finds nothing in the tree that was counted', () => {
    for (const isStrict of [false, true])
      expect(checkWords(root, isStrict)).toEqual({ faults: [], notes: [] });
  });

  test('names file, line and plain word of a new one', () => {
    git('init');
    commit();
    write('docs/a.md', 'It goes\nhome.\n\nIt was delivered lately.\n');
    const { faults } = checkWords(root, false);
    expect(faults).toEqual([
      'words that make a reader stop in docs (banned words: 2, stored are 1):\n  docs/a.md:4: "lately": write recently',
    ]);
  });

  test('names all of the folder in an archive, which has no history', () => {
    write('src/orders/b.ts', '/** What b is. */\n');
    const { faults } = checkWords(root, false);
    expect(faults).toHaveLength(1);
    expect(faults[0]).toContain('src/orders/a.ts:1: "/** Of"');
    expect(faults[0]).toContain('src/orders/b.ts:1: "/** What"');
    expect(faults[0]).not.toContain('anew');
  });

  test('asks for lower counts to be stored, and insists in CI', () => {
    write('docs/a.md', 'It returns.\n');
    const { faults, notes } = checkWords(root, false);
    expect(faults).toEqual([]);
    expect(notes).toMatchObject([expect.stringMatching(/docs: run npm run words:store/u)]);
    expect(checkWords(root, true)).toEqual({ faults: notes, notes: [] });
  });

  test('lets files move between folders until CI asks for the new counts', () => {
    git('init');
    commit();
    mkdirSync(join(root, 'src/http'));
    renameSync(join(root, 'src/orders/a.ts'), join(root, 'src/http/a.ts'));
    git('add', '.');
    const { faults, notes } = checkWords(root, false);
    expect(faults).toEqual([]);
    expect(notes).toMatchObject([expect.stringContaining('src/orders'), expect.stringContaining('src/http')]);
    expect(checkWords(root, true).faults).toEqual(notes);
    store();
    expect(checkWords(root, true)).toEqual({ faults: [], notes: [] });
  });

  test('is not paid for by another folder', () => {
    git('init');
    commit();
    write('docs/a.md', 'It returns.\n');
    write('src/http/b.ts', '// made anew\n');
    git('add', '.');
    expect(checkWords(root, false).faults).toMatchObject([expect.stringContaining('src/http/b.ts:1')]);
  });

  test('lets lines move to a file that stands, and no others with them', () => {
    write('src/http/b.ts', 'export const b = 2;\n');
    git('init');
    commit();
    const [first, second] = readFileSync(join(root, 'src/orders/a.ts'), 'utf8').split('\n');
    write('src/orders/a.ts', `${second}\n`);
    write('src/http/b.ts', `  ${first}\nexport const b = 2;\n`);
    expect(checkWords(root, false)).toMatchObject({ faults: [], notes: [{}, {}] });
    write('src/http/b.ts', `  ${first}\n/** What b is. */\nexport const b = 2;\n`);
    write('docs/a.md', 'It returns.\n');
    expect(checkWords(root, false).faults).toMatchObject([expect.stringContaining('src/http/b.ts:2')]);
  });
});
