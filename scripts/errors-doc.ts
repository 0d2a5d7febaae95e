/** Makes docs/errors.md from the table of error codes; with --check only tests whether the file is up to date. */
import { readFileSync, writeFileSync } from 'node:fs';
import { type ErrorCodeEntry, errorCodes } from '#kernel/errors/error-codes.ts';

const file = 'docs/errors.md';
const again = {
  never: 'no',
  soon: 'soon',
  always: 'soon, without an end',
  anew: 'anew',
  few: 'five times, then once a minute',
  minute: 'once a minute',
} as const;
const only = { node: '; of a folder: no', cookieFile: ', with a cookie file; else no' } as const;
const retryOf = ({ retry, retryOnly }: ErrorCodeEntry): string =>
  `${again[retry]}${retryOnly === undefined ? '' : only[retryOnly]}`;
const rows = Object.entries(errorCodes)
  .toSorted(([a], [b]) => a.localeCompare(b))
  .map(([code, e]) => `| \`${code}\` | ${e.meaning} | ${e.action} | ${retryOf(e)} |`);

const text = `# Errors

Made by \`npm run errors:doc\` from \`src/kernel/errors/error-codes.ts\`.

An operating failure is an \`AppError\` with one of the codes below; its message says what happened, with the height, the
file or the setting concerned. On the command line it ends the command with exit code 1 (a wrong flag: 2); over HTTP the
forms are those of \`docs/http.md\`. A broken invariant is no operating failure: it is an assertion and ends the process.

"Again" is the one retry policy (\`docs/adr/0024-one-retry-policy.md\`), for everybody who can try again: the followers of chain and mempool,
the search sync, the connection to the node, reads, bulk writes, the restart of the embedded Postgres, and the header
\`Retry-After\`.

- *no*: somebody, or something, has to change first.
- *soon*: the same call is repeated, with pauses that double from some tenths of a second to ten seconds (the mempool: thirty). A
  command that somebody waits for gives up after a minute.
- *anew*: the same call would fail again; it is looked where things stand now, and gone on from there, as soon.
- *once a minute*: a person has to mend a server, and a service goes on with what it has; \`Retry-After\` is 60 instead of 2. A command
  that somebody waits for ends with the error.

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
