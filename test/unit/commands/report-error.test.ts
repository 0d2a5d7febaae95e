import { afterEach, expect, test, vi } from 'vitest';
import { AppError } from '#kernel/errors/app-error.ts';
import { UsageError } from '#src/app/command-context.ts';
import { report } from '#src/commands/report-error.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

const thrown = (message: string, fields: object = {}): Error => Object.assign(new Error(message), fields);

function reported(error: unknown): { exitCode: number; text: string } {
  const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const exitCode = report(error);
  return { exitCode, text: write.mock.calls.map(([text]) => String(text)).join('') };
}

test.each<[string, unknown, RegExp]>([
  ['a lost server', thrown('Connection terminated unexpectedly'), /\n {2}postgres_lost: /u],
  [
    'a pooler',
    thrown('unsupported startup parameter: statement_timeout', { code: '08P01' }),
    /^satscribe: The connection to Postgres was lost: unsupported startup parameter/u,
  ],
  [
    'a dropped table',
    thrown('relation "chain.blocks" does not exist', { code: '42P01' }),
    /database_incomplete/u,
  ],
  [
    'a full disk',
    thrown('ENOSPC: no space left on device, write', { code: 'ENOSPC', syscall: 'write' }),
    /file_unusable/u,
  ],
  [
    'too few files',
    thrown('EMFILE: too many open files, open', { code: 'EMFILE', syscall: 'open' }),
    /system_limit/u,
  ],
  ['a failure with a code', new AppError('data_dir_busy', 'Process 7 works there.'), /data_dir_busy/u],
])('%s is reported with the next step', (_what, error, words) => {
  const { exitCode, text } = reported(error);
  expect(exitCode).toBe(1);
  expect(text).toMatch(words);
  expect(text).toContain('What to do: ');
});

test('wrong usage and settings have a code of their own', () => {
  expect(reported(new UsageError('missing command'))).toEqual({
    exitCode: 2,
    text: 'satscribe: missing command\n',
  });
  expect(reported(new AppError('config_invalid', 'PORT is wrong.')).exitCode).toBe(2);
});

test('a mistake of ours is shown with its place', () => {
  const { exitCode, text } = reported(new TypeError('x is not a function'));
  expect(exitCode).toBe(1);
  expect(text).toMatch(
    /^satscribe: unexpected error, please report it\nTypeError: x is not a function\n {4}at /u,
  );
});

test('no text of a node, a server or a file controls the terminal', () => {
  const texts = '\u001b[2J\u202ereversed\u009b1m\r\nnext';
  for (const error of [
    new AppError('collection_unreadable', `The server says ${texts}.`),
    new UsageError(`what is ${texts}?`),
    new TypeError(texts),
  ]) {
    const { text } = reported(error);
    expect(text).toContain('\\u001b[2J\\u202ereversed\\u009b1m\\u000d\nnext');
    expect(text).not.toMatch(/(?!\n)[\p{Cc}\p{Bidi_Control}]/u);
  }
});
