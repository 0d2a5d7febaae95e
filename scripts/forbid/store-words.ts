/**
 * Stores the counts of banned words, folder by folder. Refuses a total that is higher than the stored one. During a merge
 * with a conflict in the stored file, that of HEAD is compared.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkWords, readOffences, storedCounts, storedFile } from './check-words.ts';
import { gitOutput } from './git.ts';
import { countsOf, type FolderCounts, mayStore, storedText, totalOf } from './word-counts.ts';

const root = join(import.meta.dirname, '../..');
const counted = countsOf(readOffences(root));
const isFirst = !existsSync(join(root, storedFile));
const { words, starts } = totalOf(counted);
if (isFirst || mayStore(storedBefore(), counted)) {
  writeFileSync(join(root, storedFile), storedText(counted));
  console.log(`stored: ${words} banned words, ${starts} banned starts of doc comments`);
} else {
  for (const fault of checkWords(root, false).faults) console.error(fault);
  console.error(`not stored: ${words} banned words and ${starts} banned starts are more than before`);
  process.exitCode = 1;
}

function storedBefore(): FolderCounts {
  try {
    return storedCounts(root);
  } catch {
    return JSON.parse(gitOutput(root, 'show', `HEAD:${storedFile}`) ?? '{}') as FolderCounts;
  }
}
