import { posix } from 'node:path';

/** A file of the tree with what it says. */
export interface TreeFile {
  readonly path: string;
  readonly text: string;
}

export interface SelectedTests {
  /** Test files, those nearest to the change first. */
  readonly chosen: readonly string[];
  /** Test files that reach the change too, and had no room in the time. */
  readonly leftOut: readonly string[];
}

export interface SelectOptions {
  /** Paths that changed. */
  readonly changed: readonly string[];
  /** `imports` of package.json: `#room/*` to `./folder/*`. */
  readonly aliases: Readonly<Record<string, string>>;
  /** Seconds of a test file when it last ran. */
  readonly seconds: (test: string) => number;
  /** Sum of seconds that chosen files may take; changed tests are always chosen. */
  readonly secondsMax: number;
}

const isTest = (path: string): boolean => path.endsWith('.test.ts');
const sourceRoots = /^(?:src\/|test\/(?:unit|integration|proofs)\/)/u;
/** A change of these is a change of every test. */
const settings = new Set(['package.json', 'package-lock.json', 'vitest.config.ts', 'tsconfig.json']);

/**
 * Selects the tests that a change touches: changed tests, tests in the folders that mirror changed sources, tests that
 * name a changed file in their text, and tests that import it, by the length of the way. Pure.
 */
export function selectTests(files: readonly TreeFile[], options: SelectOptions): SelectedTests {
  const { changed, seconds, secondsMax } = options;
  const code = files.filter(({ path }) => path.endsWith('.ts'));
  const tests = code.filter(({ path }) => isTest(path));
  const distances = importDistances(code, changed, options.aliases);
  const named = [...changed].filter((path) => !settings.has(path));
  for (const { path, text } of tests) {
    if (named.some((name) => text.includes(name) || isNamedByFolder(text, name))) set(distances, path, 1);
    if (named.some((name) => mirrors(path, name))) set(distances, path, 1);
  }
  const ranked = tests
    .map(({ path }) => ({ path, distance: distances.get(path) ?? Number.POSITIVE_INFINITY }))
    .filter(({ distance }) => distance < Number.POSITIVE_INFINITY)
    .sort(
      (a, b) => a.distance - b.distance || seconds(a.path) - seconds(b.path) || (a.path < b.path ? -1 : 1),
    );
  const chosen: string[] = [];
  const leftOut: string[] = [];
  let sum = 0;
  for (const { path, distance } of ranked) {
    const fits = sum + seconds(path) <= secondsMax;
    // a changed test always runs
    if (distance > 0 && !fits) {
      leftOut.push(path);
      continue;
    }
    sum += seconds(path);
    chosen.push(path);
  }
  return { chosen, leftOut };
}

function set(distances: Map<string, number>, path: string, distance: number): void {
  distances.set(path, Math.min(distance, distances.get(path) ?? Number.POSITIVE_INFINITY));
}

/** Whether a text names the folder of a file that is not code: migrations, fixtures, samples, scripts of a shell. */
function isNamedByFolder(text: string, path: string): boolean {
  if (path.endsWith('.ts')) return false;
  const folder = posix.dirname(path);
  return folder !== '.' && folder !== 'docs' && text.includes(`'${folder}`);
}

/** Whether a test has the name of a source and is in the folder that mirrors the source's. */
function mirrors(test: string, source: string): boolean {
  if (!source.endsWith('.ts') || isTest(source)) return false;
  const folder = posix.dirname(test).replace(sourceRoots, '');
  const own = posix.dirname(source).replace(sourceRoots, '');
  const name = posix.basename(source, '.ts').split('.')[0];
  return folder === own && posix.basename(test, '.test.ts').split('.')[0] === name;
}

/** Steps of imports from each file to the nearest changed one; absent where there is no way. */
function importDistances(
  code: readonly TreeFile[],
  changed: readonly string[],
  aliases: Readonly<Record<string, string>>,
): Map<string, number> {
  const importers = new Map<string, string[]>();
  for (const { path, text } of code) {
    for (const target of importsOf(path, text, aliases)) {
      const known = importers.get(target) ?? [];
      known.push(path);
      importers.set(target, known);
    }
  }
  const distances = new Map(changed.map((path) => [path, 0]));
  let reached = [...changed];
  for (let distance = 1; reached.length > 0; distance++) {
    const next = reached.flatMap((path) => importers.get(path) ?? []).filter((path) => !distances.has(path));
    for (const path of next) distances.set(path, distance);
    reached = [...new Set(next)];
  }
  return distances;
}

/** Paths of our own files that a module imports, types too: a changed type changes what a test checks. */
export function importsOf(path: string, text: string, aliases: Readonly<Record<string, string>>): string[] {
  const found: string[] = [];
  for (const [, name = ''] of text.matchAll(/(?:\bfrom|\bimport\(?)\s*'([^']+)'/gu)) {
    if (name.startsWith('.')) found.push(posix.join(posix.dirname(path), name));
    const [prefix, folder] =
      Object.entries(aliases).find(([alias]) => name.startsWith(alias.slice(0, -1))) ?? [];
    if (prefix !== undefined && folder !== undefined)
      found.push(posix.normalize(folder.replace('*', name.slice(prefix.length - 1))));
  }
  return found;
}
