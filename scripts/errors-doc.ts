/** Makes docs/errors.md from the table of error codes. With --check it only tests whether the file is up to date. */
import { readFileSync, writeFileSync } from 'node:fs';
import { type ErrorCodeEntry } from '#kernel/errors/error-code-entry.ts';
import { errorCodes } from '#kernel/errors/error-codes.ts';

const file = 'docs/errors.md';
const again = {
  never: 'no',
  soon: 'soon',
  always: 'soon, without limit',
  replan: 'replan',
  few: 'five times, then once a minute',
  minute: 'once a minute',
} as const;
const only = { node: '; for a folder: no', cookieFile: ', with a cookie file; else no' } as const;
const retryOf = ({ retry, retryOnly }: ErrorCodeEntry): string =>
  `${again[retry]}${retryOnly === undefined ? '' : only[retryOnly]}`;
const rows = Object.entries(errorCodes)
  .toSorted(([a], [b]) => a.localeCompare(b))
  .map(([code, e]) => `| \`${code}\` | ${e.meaning} | ${e.action} | ${retryOf(e)} |`);

const text = `# Errors

Made by \`npm run errors:doc\` from \`src/kernel/errors/error-codes.ts\`.

An operating failure is an \`AppError\` with one of the codes below. Its message says what happened, with the height, file
or setting. On the command line it ends the command with exit code 1 (a wrong flag: 2); over HTTP it takes the forms of
\`docs/http.md\`. A broken invariant is not an operating failure: it is an assertion and ends the process.

The column "retry" is the one retry policy (\`docs/adr/0024-one-retry-policy.md\`). The followers of chain and mempool,
the search sync, the connection to the node, reads, bulk writes, the restart of the embedded Postgres and the header
\`Retry-After\` all obey it.

- *no*: a person, or the server's state, must change first.
- *soon*: the same call is repeated, with pauses that double from a few tenths of a second to ten seconds (mempool:
  thirty). A command that a user waits for gives up after a minute.
- *replan*: the same call would fail again. The program looks at the current state and continues from there, with the same
  pauses.
- *once a minute*: a person must repair a server. A service continues with what it has; \`Retry-After\` is 60 instead of
  2 s. A command that a user waits for ends with the error.

| code | meaning | what to do | retry |
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
