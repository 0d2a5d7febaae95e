import { posix } from 'node:path';

/** A file of the tree and its text. */
export interface TreeFile {
  readonly path: string;
  readonly text: string;
}

export interface SelectedTests {
  /** Chosen test files. Those nearest to the change come first. */
  readonly chosen: readonly string[];
  /** Test files that the change affects too. The maximum time did not allow them. */
  readonly leftOut: readonly string[];
}

export interface SelectOptions {
  /** Paths that changed. */
  readonly changed: readonly string[];
  /** `imports` of package.json, which map `#room/*` to `./folder/*`. */
  readonly aliases: Readonly<Record<string, string>>;
  /** Returns the duration of a test file in its last run, in seconds. */
  readonly seconds: (test: string) => number;
  /** Maximum sum of the chosen files' durations, in seconds. Changed tests are always chosen. */
  readonly secondsMax: number;
}

const isTest = (path: string): boolean => path.endsWith('.test.ts');
const sourceRoots = /^(?:src\/|test\/(?:unit|integration|proofs)\/)/u;
/** Files that affect every test when they change. */
export const settings: ReadonlySet<string> = new Set([
  'package.json',
  'package-lock.json',
  'vitest.config.ts',
  'tsconfig.json',
]);

/**
 * Selects the tests that a change affects: changed tests, tests that mirror or name a changed file, and tests that
 * import a changed file. Tests of the same room come first, then tests with the shortest chain of imports. Without this
 * order, a file that every test imports would hide the tests of the room. Pure.
 */
export function selectTests(files: readonly TreeFile[], options: SelectOptions): SelectedTests {
  const { seconds, secondsMax } = options;
  const changed = options.changed.filter((path) => !settings.has(path));
  const code = files.filter(({ path }) => path.endsWith('.ts'));
  const tests = code.filter(({ path }) => isTest(path));
  const distances = importDistances(code, changed, options.aliases);
  for (const { path, text } of tests)
    if (changed.some((name) => isNamed(text, path, name) || mirrors(path, name))) set(distances, path, 1);
  const ranked = tests
    .map(({ path }) => ({
      path,
      seconds: seconds(path),
      distance: distances.get(path) ?? Number.POSITIVE_INFINITY,
      shared: Math.max(0, ...changed.map((name) => sharedRooms(path, name))),
    }))
    .filter(({ distance }) => distance < Number.POSITIVE_INFINITY)
    .sort(
      (a, b) =>
        Number(b.distance === 0) - Number(a.distance === 0) ||
        b.shared - a.shared ||
        a.distance - b.distance ||
        a.seconds - b.seconds ||
        (a.path < b.path ? -1 : 1),
    );
  const chosen: string[] = [];
  const leftOut: string[] = [];
  let sum = 0;
  for (const test of ranked) {
    // a changed test always runs
    const runs = test.distance === 0 || sum + test.seconds <= secondsMax;
    (runs ? chosen : leftOut).push(test.path);
    if (runs) sum += test.seconds;
  }
  return { chosen, leftOut };
}

function set(distances: Map<string, number>, path: string, distance: number): void {
  distances.set(path, Math.min(distance, distances.get(path) ?? Number.POSITIVE_INFINITY));
}

/**
 * Whether a test names a changed file, and therefore reads the file. For a file that is not code, the name of its
 * folder is enough.
 */
function isNamed(text: string, test: string, path: string): boolean {
  if (text.includes(path)) return true;
  if (path.endsWith('.ts')) return false;
  // this test reads every document
  if (path.endsWith('.md') && test === 'test/unit/docs.test.ts') return true;
  const folder = posix.dirname(path);
  return folder !== '.' && folder !== 'docs' && text.includes(`'${folder}`);
}

/**
 * Number of folders that the paths of a test and of a changed file have in common, for example `orders` and `pricing`
 * of `src/orders/pricing`.
 */
function sharedRooms(test: string, path: string): number {
  const rooms = new Set(posix.dirname(path).replace(sourceRoots, '').split('/'));
  return posix
    .dirname(test)
    .replace(sourceRoots, '')
    .split('/')
    .filter((room) => rooms.has(room)).length;
}

/** Whether a test has the name of a source file, in the folder that mirrors the source file's folder. */
function mirrors(test: string, source: string): boolean {
  if (!source.endsWith('.ts') || isTest(source)) return false;
  const folder = posix.dirname(test).replace(sourceRoots, '');
  const own = posix.dirname(source).replace(sourceRoots, '');
  const name = posix.basename(source, '.ts').split('.')[0];
  return folder === own && posix.basename(test, '.test.ts').split('.')[0] === name;
}

/** Number of import steps from each file to the nearest changed file. Files without such a chain are absent. */
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

/**
 * Paths of our own files that a module imports. Imports of types are included, because a changed type changes what a
 * test checks.
 */
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
