import { createInterface } from 'node:readline/promises';
import type { Readable, Writable } from 'node:stream';
import { AppError } from '#kernel/errors/app-error.ts';
import { UsageError } from '#src/app/command-context.ts';

/** The terminal of the process, where a person can answer a question. */
export interface Asking {
  readonly input: Readable & { readonly isTTY?: boolean };
  readonly output: Writable;
  readonly signal: AbortSignal;
}

/**
 * Asks a person on a terminal whether to continue. Throws `not_confirmed` for any answer except `yes`. Throws
 * `UsageError` if there is no terminal; scripts use `--yes`.
 */
export async function confirm(question: string, { input, output, signal }: Asking): Promise<void> {
  if (input.isTTY !== true) {
    throw new UsageError(
      `${question}\nThe command cannot ask, because there is no terminal. Repeat the command with --yes.`,
    );
  }
  const lines = createInterface({ input, output });
  // Ctrl-D closes the input, so there is no answer
  const closed = new Promise<string>((resolve) => lines.once('close', () => resolve('')));
  try {
    const answer = await Promise.race([
      lines.question(`${question} Type yes to continue: `, { signal }),
      closed,
    ]);
    if (answer.trim().toLowerCase() === 'yes') return;
    throw new AppError('not_confirmed', 'Nothing was changed.');
  } finally {
    lines.close();
  }
}
