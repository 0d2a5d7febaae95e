import { createInterface } from 'node:readline/promises';
import type { Readable, Writable } from 'node:stream';
import { AppError } from '#kernel/errors/app-error.ts';
import { UsageError } from '#src/app/command-context.ts';

/** Where a question is asked: the terminal of the process. */
export interface Asking {
  readonly input: Readable & { readonly isTTY?: boolean };
  readonly output: Writable;
  readonly signal: AbortSignal;
}

/**
 * Asks a person on a terminal whether to go on. Throws `not_confirmed` for any answer but `yes`, and `UsageError`
 * where nobody can be asked: scripts say `--yes`.
 */
export async function confirm(question: string, { input, output, signal }: Asking): Promise<void> {
  if (input.isTTY !== true) {
    throw new UsageError(`${question}\nThere is no terminal to ask on: repeat the command with --yes.`);
  }
  const lines = createInterface({ input, output });
  // Ctrl-D answers nothing
  const closed = new Promise<string>((resolve) => lines.once('close', () => resolve('')));
  try {
    const answer = await Promise.race([
      lines.question(`${question} Type yes to continue: `, { signal }),
      closed,
    ]);
    if (answer.trim().toLowerCase() === 'yes') return;
    throw new AppError('not_confirmed', 'Nothing was done.');
  } finally {
    lines.close();
  }
}
