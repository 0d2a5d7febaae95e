/**
 * Stores the counts of banned words, folder by folder. Refuses a folder with more than stored, unless lines were moved
 * there. During a merge with a conflict in the stored file, that of HEAD is compared.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readOffences, storedCounts, storedFile, wordFaults } from './check-words.ts';
import { gitOutput } from './git.ts';
import { countsOf, type FolderCounts, storedText, totalOf } from './word-counts.ts';

const root = join(import.meta.dirname, '../..');
const files = readOffences(root);
const counted = countsOf(files);
const isFirst = !existsSync(join(root, storedFile));
const faults = isFirst ? [] : wordFaults(root, files, storedBefore());
if (faults.length === 0) {
  writeFileSync(join(root, storedFile), storedText(counted));
  const { words, starts } = totalOf(counted);
  console.log(`stored: ${words} banned words, ${starts} banned starts of doc comments`);
} else {
  for (const fault of faults) console.error(fault);
  console.error('not stored: a folder may only rise by lines that were moved there as they are');
  process.exitCode = 1;
}

function storedBefore(): FolderCounts {
  try {
    return storedCounts(root);
  } catch {
    return JSON.parse(gitOutput(root, 'show', `HEAD:${storedFile}`) ?? '{}') as FolderCounts;
  }
}
