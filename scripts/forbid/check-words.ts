import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { offencesIn } from './plain-text.ts';

/** The findings of a check of the tree. */
export interface Outcome {
  /** Faults. If there is any, the check fails. */
  readonly faults: readonly string[];
  /** Notes, which are only shown. */
  readonly notes: readonly string[];
}

const texts = [
  '{src,indexer,search,bench,test,scripts,docs}/**/*.{ts,mjs,js,java,md,sh,py,css}',
  '*.{md,ts,mjs}',
  'Dockerfile',
  '*.yml',
];
/** Files that are not checked: the lists of words, generated files, and texts of others. */
const leftOut = /^(?:scripts\/forbid\/|test\/unit\/forbid\/|test\/fixtures\/|docs\/errors\.md$)/u;

/** Checks texts for banned words and banned starts of doc comments. Each is a fault with its file and line. */
export function checkWords(root: string): Outcome {
  const paths = globSync(texts, { cwd: root }).filter((path) => !leftOut.test(path));
  const faults = paths
    .toSorted((a, b) => (a < b ? -1 : 1))
    .flatMap((path) =>
      offencesIn(path, readFileSync(join(root, path), 'utf8')).map(
        ({ line, found, use }) => `  ${path}:${line}: "${found}": write ${use}`,
      ),
    );
  const rule = 'words that make a reader stop (scripts/forbid/plain-words.ts):';
  return { faults: faults.length === 0 ? [] : [[rule, ...faults].join('\n')], notes: [] };
}
