import { existsSync, globSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { posix } from 'node:path';
import { describe, expect, test } from 'vitest';

const root = new URL('../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8');

const documents = [
  ...readdirSync(root).filter((name) => name.endsWith('.md')),
  ...readdirSync(new URL('docs/', root), { recursive: true })
    .map(String)
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

/** Rows of a document's tables that have another number of columns than the table's first row. */
function unevenRows(path: string): string[] {
  const uneven: string[] = [];
  let columns: number | null = null;
  let isCode = false;
  for (const [index, line] of read(path).split('\n').entries()) {
    if (line.startsWith('```')) isCode = !isCode;
    if (isCode || !line.startsWith('|')) {
      columns = null;
      continue;
    }
    const own = line.split(/(?<!\\)\|/u).length;
    columns ??= own;
    if (own !== columns) uneven.push(`${path}:${index + 1}`);
  }
  return uneven;
}

test('each row of a table has the columns of its table', () => {
  expect(documents).toContain('docs/ord-api.md');
  expect(documents.flatMap(unevenRows)).toEqual([]);
});

describe('README.md', () => {
  test('fits a few screens', () => {
    expect(read('README.md').split('\n').length).toBeLessThanOrEqual(181);
  });

  test.each(['light', 'dark'])('has a small picture of the pages in the %s', (scheme) => {
    const picture = `docs/pictures/pages-${scheme}.webp`;
    expect(read('README.md')).toContain(picture);
    expect(statSync(new URL(picture, root)).size).toBeLessThan(150_000);
  });
});

test('docs/README.md leads to every document', () => {
  const map = read('docs/README.md');
  const missing = documents
    .filter((path) => /^docs\/(?!README)[^/]+$/u.test(path))
    .filter((path) => !map.includes(`](${posix.basename(path)})`));
  expect(missing).toEqual([]);
});

/** The headings of a document. Code is skipped. */
function headingsOf(path: string): string[] {
  let isCode = false;
  return read(path)
    .split('\n')
    .flatMap((line) => {
      if (line.startsWith('```')) isCode = !isCode;
      const [, heading] = isCode ? [] : (/^#+ (.*)$/u.exec(line) ?? []);
      return heading === undefined ? [] : [heading.replaceAll('`', '')];
    });
}
const headings = new Map(documents.map((path) => [path, headingsOf(path)]));

/** The fragment with which GitHub links to a heading. */
const fragmentOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-');

/** Links in a document to files or headings that do not exist. */
function brokenLinks(path: string): string[] {
  return [...read(path).matchAll(/\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]*))?\)/gu)].flatMap(
    ([link, file = '', fragment]) => {
      const target = file === '' ? path : posix.join(posix.dirname(path), file);
      const found = headings.get(target);
      const isThere = existsSync(new URL(target, root));
      const isKnown =
        fragment === undefined || found === undefined || found.map(fragmentOf).includes(fragment);
      return isThere && isKnown ? [] : [`${path}: ${link}`];
    },
  );
}

test('each link of a document leads to a file and a heading', () => {
  expect(documents.flatMap(brokenLinks)).toEqual([]);
});

/** Documents and sections that a text names (`docs/search.md, "Filters"`) but that do not exist. */
function unknownSections(path: string): string[] {
  const names = /(?<![\w/])(docs\/(?:adr\/)?[\w-]+\.md)`?(?:,\s+(?:(?:\*|\/\/)\s+)?\\?"([^"\\]+))?/gu;
  return [...read(path).matchAll(names)].flatMap(([, document = '', section]) => {
    const name = section?.replaceAll(/\s+(?:(?:\*|\/\/)\s+)?/gu, ' ');
    const isKnown = name === undefined || headings.get(document)?.includes(name) === true;
    return headings.has(document) && isKnown ? [] : [`${path}: ${document} ${name ?? ''}`];
  });
}

test('texts name documents and sections that exist', () => {
  const folders = '{src,indexer,search,bench,test,scripts,docs}/**/*.{ts,mjs,js,sh,md}';
  const texts = globSync([folders, '*.md', '*.yml', 'Dockerfile', '.env.example'], { cwd: root.pathname });
  // the folders contain examples in tests, and the changelog is history
  const leftOut = /^(?:test\/unit\/(?:forbid|changed-tests)\/|CHANGELOG\.md$)/u;
  const named = texts.filter((path) => !leftOut.test(path));
  expect(named).toContain('src/config/config.ts');
  expect(named.flatMap(unknownSections)).toEqual([]);
});

describe('docs/dependencies.md', () => {
  const packages = JSON.parse(read('package.json')) as Record<
    'dependencies' | 'devDependencies',
    Readonly<Record<string, string>>
  >;
  const text = read('docs/dependencies.md');
  const namesIn = (part: string): string[] =>
    [...part.matchAll(/`((?:@[\w-]+\/)?[\w-]+)`/gu)].map(([, name]) => name ?? '');

  test('has a row for each package that the product needs, and for no other', () => {
    const [rows = ''] = text.split('\nFor development:');
    const named = rows.split('\n').flatMap((line) => namesIn(/^\| (`.*?) \|/u.exec(line)?.[1] ?? ''));
    expect(named.toSorted()).toEqual(Object.keys(packages.dependencies).toSorted());
  });

  test('names each package of development', () => {
    const development = text.split('\nFor development:')[1]?.split('\n\n')[0] ?? '';
    const named = new Set(namesIn(development));
    // documents name the package without the package of its types
    const needed = Object.keys(packages.devDependencies).filter((name) => !name.startsWith('@types/'));
    expect(needed.filter((name) => !named.has(name))).toEqual([]);
  });
});

describe('SECURITY.md', () => {
  const rows = read('SECURITY.md')
    .split('\n')
    .filter((line) => line.startsWith('|') && !/^\|(?: may try |-)/u.test(line));

  test('names a test that exists for each thing that somebody may try', () => {
    expect(rows.length).toBeGreaterThan(25);
    for (const row of rows) {
      const tests = [...row.matchAll(/`(test\/[^`]+)`/gu)].map(([, path]) => path!);
      expect(tests, row).not.toEqual([]);
      for (const path of tests) expect(existsSync(new URL(path, root)), path).toBe(true);
    }
  });

  test('names no other test that does not exist', () => {
    const named = [...read('SECURITY.md').matchAll(/`(test\/[^`]+)`/gu)].map(([, path]) => path!);
    expect(named.filter((path) => !existsSync(new URL(path, root)))).toEqual([]);
  });
});
