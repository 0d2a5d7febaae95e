import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gitOutput } from '#scripts/forbid/git.ts';
import { selectTests, settings } from './select-tests.ts';

// Writes the test files that a change affects to stdout, one per line. Says on stderr what it chose.
//
// usage: node scripts/changed-tests/main.ts [REV]
// The change is everything since REV (default: HEAD), including uncommitted files.

/** Maximum sum of the chosen files' durations, in seconds. Two workers finish these files in less than two minutes. */
const secondsMax = 150;
/** Assumed duration of a file that has never run here, in seconds. Files with servers take longer. */
const usualSeconds = (test: string): number => (test.startsWith('test/unit/') ? 2 : 15);

const root = join(import.meta.dirname, '../..');
const [revision = 'HEAD'] = process.argv.slice(2);

function lines(...args: readonly string[]): string[] {
  const output = gitOutput(root, ...args);
  if (output === null) {
    console.error(
      `git ${args.join(' ')} failed: npm test -- --changed needs a checkout that has ${revision}`,
    );
    process.exit(2);
  }
  return output.split('\n').filter((line) => line !== '');
}

/** Durations of test files in seconds, which vitest keeps from earlier runs. */
function knownSeconds(): Map<string, number> {
  const known = new Map<string, number>();
  const folder = join(root, 'node_modules/.vite/vitest');
  const caches = existsSync(folder) ? readdirSync(folder) : [];
  for (const cache of caches) {
    const path = join(folder, cache, 'results.json');
    if (!existsSync(path)) continue;
    const { projects = {} } = JSON.parse(readFileSync(path, 'utf8')) as {
      projects?: Record<string, { files: Record<string, { duration: number }> }>;
    };
    for (const { files } of Object.values(projects))
      for (const [file, { duration }] of Object.entries(files)) known.set(file, duration / 1000);
  }
  return known;
}

const changed = [
  ...lines('diff', '--name-only', revision),
  ...lines('ls-files', '--others', '--exclude-standard'),
];
const tree = [...lines('ls-files', '*.ts'), ...lines('ls-files', '--others', '--exclude-standard', '*.ts')];
const known = knownSeconds();
const { imports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  imports: Record<string, string>;
};
// proofs take minutes, and have their own command
const isProof = (path: string): boolean => /^test\/(?:proofs|chaos)\/.*\.test\.ts$/u.test(path);
const { chosen: runs, leftOut } = selectTests(
  tree
    .filter((path) => existsSync(join(root, path)) && !isProof(path))
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') })),
  {
    changed,
    aliases: imports,
    seconds: (test) => known.get(test) ?? usualSeconds(test),
    secondsMax,
  },
);
const ofAll = changed.filter((path) => settings.has(path));
if (ofAll.length > 0) console.error(`${ofAll.join(', ')} changed, which touches every test: run npm test`);
console.error(
  `${changed.length} changed files since ${revision}: ${runs.length} test files run` +
    (leftOut.length === 0 ? '' : `, ${leftOut.length} others are left to npm test`),
);
if (runs.length === 0 && ofAll.length > 0) process.exit(2);
for (const path of runs) console.log(path);
