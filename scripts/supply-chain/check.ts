/**
 * Checks foreign packages against the lock, without network. Every package must have a hash and come from the registry,
 * its licence must be allowed, and its scripts at installation must be approved. Exits with 1 if anything fails.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { namedImages } from './images.ts';
import { licenseFaults } from './licenses.ts';
import { lockedPackages, lockFaults, mayLackHash, readLock } from './lock-file.ts';

const root = join(import.meta.dirname, '../..');
const packages = lockedPackages(readLock(root));
const { allowScripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  allowScripts: Readonly<Record<string, boolean>>;
};

const faults = [
  ...lockFaults(packages, new Set(Object.keys(allowScripts))),
  ...licenseFaults(root, packages),
];
const unhashed = packages.filter((found) => found.integrity === null && mayLackHash(found));
const byTag = new Set(namedImages(root).flatMap(({ name, isPinned }) => (isPinned ? [] : [name])));

for (const fault of faults) console.error(fault);
console.log(`supply chain: ${packages.length} packages, ${faults.length} faults`);
// printed each time, so that no one thinks it is done
if (unhashed.length > 0)
  console.log(
    `  without a hash, of development tools on other platforms: ${unhashed.length} (npm run lock:integrity)`,
  );
if (byTag.size > 0)
  console.log(`  images by tag, not by digest: ${[...byTag].join(', ')} (npm run images:pin)`);
if (faults.length > 0) process.exitCode = 1;
