/** Stores the counts of banned words, folder by folder. Refuses a total that is higher than the stored one. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkWords, readOffences, storedCounts, storedFile } from './check-words.ts';
import { countsOf, mayStore, storedText, totalOf } from './word-counts.ts';

const root = join(import.meta.dirname, '../..');
const counted = countsOf(readOffences(root));
const isFirst = !existsSync(join(root, storedFile));
const { words, starts } = totalOf(counted);
if (isFirst || mayStore(storedCounts(root), counted)) {
  writeFileSync(join(root, storedFile), storedText(counted));
  console.log(`stored: ${words} banned words, ${starts} banned starts of doc comments`);
} else {
  for (const fault of checkWords(root, false).faults) console.error(fault);
  console.error(`not stored: ${words} banned words and ${starts} banned starts are more than before`);
  process.exitCode = 1;
}
