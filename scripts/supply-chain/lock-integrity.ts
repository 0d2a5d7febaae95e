/**
 * Requests the hashes that package-lock.json lacks from the registry, and writes those that it gets. Versions do not
 * change. Exits with 1 if a hash is still missing.
 */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { lockedPackages, readLock } from './lock-file.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');
const text = readLock(root);
const lock = JSON.parse(text) as { packages: Record<string, Record<string, unknown>> };
let missing = 0;
for (const { path, name, version } of lockedPackages(text).filter((found) => found.integrity === null)) {
  const integrity = await integrityOf(`${name}@${version}`);
  if (integrity === null) {
    console.error(`${name}@${version}: the registry has no such version`);
    missing++;
    continue;
  }
  // npm writes the hash after the version
  const { version: _, ...rest } = lock.packages[path]!;
  lock.packages[path] = { version, integrity, ...rest };
}
writeFileSync(join(root, 'package-lock.json'), `${JSON.stringify(lock, null, 2)}\n`);
if (missing > 0) process.exitCode = 1;

async function integrityOf(spec: string): Promise<string | null> {
  try {
    const { stdout } = await run('npm', ['view', '--json', spec, 'dist.integrity'], { cwd: root });
    const given: unknown = JSON.parse(stdout === '' ? 'null' : stdout);
    return typeof given === 'string' ? given : null;
  } catch {
    return null;
  }
}
