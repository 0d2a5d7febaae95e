import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ChangedLines, changedSince } from './added-lines.ts';
import { type Offence, offencesIn } from './plain-text.ts';
import {
  changesOf,
  countsOf,
  type FileOffences,
  type FolderCounts,
  folderOf,
  totalOf,
} from './word-counts.ts';

/** Findings of a check of the tree. */
export interface Outcome {
  /** Each is a failure. */
  readonly faults: readonly string[];
  /** Each is shown, and fails nothing. */
  readonly notes: readonly string[];
}

export const storedFile = 'scripts/forbid/word-counts.json';

const texts = [
  '{src,indexer,search,bench,test,scripts,docs}/**/*.{ts,mjs,js,java,md,sh,py,css}',
  '*.{md,ts,mjs}',
  'Dockerfile',
  '*.yml',
];
/** The lists of words themselves, generated files, and texts of others. */
const leftOut = /^(?:scripts\/forbid\/|test\/unit\/forbid\/|test\/fixtures\/|docs\/errors\.md$)/u;

export function readOffences(root: string): FileOffences[] {
  const paths = globSync(texts, { cwd: root }).filter((path) => !leftOut.test(path));
  return paths
    .toSorted((a, b) => (a < b ? -1 : 1))
    .map((path) => ({ path, offences: offencesIn(path, readFileSync(join(root, path), 'utf8')) }));
}

export function storedCounts(root: string): FolderCounts {
  return JSON.parse(readFileSync(join(root, storedFile), 'utf8')) as FolderCounts;
}

/**
 * Compares the counts of a tree with the stored ones. A folder with more is a fault, unless the lines were moved there.
 * Fewer are a note, because branches that work side by side would all change the stored file. With `isStrict` (CI) both
 * notes are faults: the stored counts of what is submitted are exact, and fall for good.
 */
export function checkWords(root: string, isStrict: boolean): Outcome {
  const files = readOffences(root);
  const [stored, counted] = [storedCounts(root), countsOf(files)];
  const faults = wordFaults(root, files, stored);
  const { higher, lower } = changesOf(stored, counted);
  const moved = faults.length > 0 ? [] : higher;
  const outdated = [
    { folders: lower, text: 'fewer banned words than stored in' },
    { folders: moved, text: 'moved files with banned words are in' },
  ]
    .filter(({ folders }) => folders.length > 0)
    .map(
      ({ folders, text }) =>
        `${text} ${folders.join(', ')}: run npm run words:store and commit ${storedFile}`,
    );
  return isStrict ? { faults: [...faults, ...outdated], notes: [] } : { faults, notes: outdated };
}

/** Faults that keep counts from being stored: folders with more, by lines that were not moved there. */
export function wordFaults(root: string, files: readonly FileOffences[], stored: FolderCounts): string[] {
  const counted = countsOf(files);
  const { higher } = changesOf(stored, counted);
  if (higher.length === 0) return [];
  const changed = changedSince(root, storedFile);
  const [before, now] = [totalOf(stored), totalOf(counted)];
  const isMore = now.words > before.words || now.starts > before.starts;
  return higher
    .map((folder) => riseOf(root, folder, files, stored, changed))
    .filter(({ recent }) => changed === null || isMore || recent.length > 0)
    .map(faultOf);
}

type Placed = Offence & { readonly path: string };

/** A folder with more banned words or more banned starts than stored. */
interface Rise {
  readonly folder: string;
  /** "banned words: 4, stored are 3". */
  readonly figures: string;
  /** All offences of the kinds that rise. */
  readonly all: readonly Placed[];
  /** The ones on lines that are newer than the stored counts, and were not moved. */
  readonly recent: readonly Placed[];
}

function riseOf(
  root: string,
  folder: string,
  files: readonly FileOffences[],
  stored: FolderCounts,
  changed: ChangedLines | null,
): Rise {
  const none = { words: 0, starts: 0 };
  const [before, now] = [stored[folder] ?? none, countsOf(files)[folder] ?? none];
  const kinds = (['words', 'starts'] as const).filter((kind) => now[kind] > before[kind]);
  const figures = kinds.map((kind) => `${names[kind]}: ${now[kind]}, stored are ${before[kind]}`).join('; ');
  const all = files
    .filter(({ path }) => folderOf(path) === folder)
    .flatMap(({ path, offences }) => offences.map((offence) => ({ path, ...offence })))
    .filter(({ kind }) => kinds.includes(kind));
  const recent = all.filter(
    ({ path, line }) =>
      changed?.added.get(path)?.has(line) === true && !changed.gone.has(lineOf(root, path, line)),
  );
  return { folder, figures, all, recent };
}

/** A line of a file without indentation; the first has number 1. */
const lineOf = (root: string, path: string, line: number): string =>
  readFileSync(join(root, path), 'utf8').split('\n')[line - 1]?.trim() ?? '';

const names = { words: 'banned words', starts: 'banned starts of doc comments' } as const;

/** Offences shown of a folder at most: the new ones are fewer. */
const shownMax = 40;

function faultOf({ folder, figures, all, recent }: Rise): string {
  const listed = recent.length > 0 ? recent : all;
  const lines = listed
    .slice(0, shownMax)
    .map(({ path, line, found, use }) => `  ${path}:${line}: "${found}": write ${use}`);
  if (listed.length > shownMax) lines.push(`  and ${listed.length - shownMax} more`);
  return [`words that make a reader stop in ${folder} (${figures}):`, ...lines].join('\n');
}
