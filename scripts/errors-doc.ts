/** Makes docs/errors.md from the table of error codes; with --check says whether the file is still true. */
import { readFileSync, writeFileSync } from 'node:fs';
import { errorCodes } from '#kernel/errors/error-codes.ts';

const file = 'docs/errors.md';
const rows = Object.entries(errorCodes)
  .toSorted(([a], [b]) => a.localeCompare(b))
  .map(([code, e]) => `| \`${code}\` | ${e.meaning} | ${e.action} | ${e.retryable ? 'yes' : 'no'} |`);

const text = `# Errors

Made by \`npm run errors:doc\` from \`src/kernel/errors/error-codes.ts\`.

An operating failure is an \`AppError\` with one of the codes below; its message says what happened, with the height, the
file or the setting concerned. On the command line it ends the command with exit code 1 (a wrong flag: 2); over HTTP the
forms are those of \`docs/http.md\`. "Again" says whether the same call may succeed later with nothing changed by a person.
A broken invariant is no operating failure: it is an assertion and ends the process.

| code | what it means | what to do | again |
|---|---|---|---|
${rows.join('\n')}
`;

if (process.argv.includes('--check')) {
  if (readFileSync(file, 'utf8') !== text) {
    console.error(`${file} is not what the code says: run npm run errors:doc`);
    process.exitCode = 1;
  }
} else {
  writeFileSync(file, text);
}
