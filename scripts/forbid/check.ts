/**
 * Checks of the tree that need more than a pattern: words, tables that SQL names, and subjects of commits. Exits with 1
 * if any check finds a fault.
 */
import { join } from 'node:path';
import { checkSchemaRooms } from './check-schema-rooms.ts';
import { checkWords } from './check-words.ts';
import { checkSubjects } from './commit-subjects.ts';

const root = join(import.meta.dirname, '../..');
const outcomes = [checkWords(root), checkSchemaRooms(root), checkSubjects(root)];
for (const { faults, notes } of outcomes) {
  for (const note of notes) console.log(note);
  for (const fault of faults) console.error(fault);
}
if (outcomes.some(({ faults }) => faults.length > 0)) process.exitCode = 1;
