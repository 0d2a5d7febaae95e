import { AppError } from '#kernel/errors/app-error.ts';
import { errorCodes } from '#kernel/errors/error-codes.ts';
import { systemFailure } from '#kernel/errors/system-failure.ts';
import { postgresFailure } from '#kernel/pg/postgres-failure.ts';
import { terminalLines } from '#kernel/text/terminal-text.ts';
import { UsageError } from '#src/app/command-context.ts';
import { EndWith, exitCodes } from './exit-codes.ts';

/** Prints to stderr what happened, what it means and what to do. Returns the exit code. */
export function report(thrown: unknown): number {
  if (thrown instanceof EndWith) return thrown.exitCode;
  const error = operatingFailure(thrown);
  if (error instanceof UsageError) {
    write(`satscribe: ${error.message}\n`);
    return exitCodes.usage;
  }
  if (error instanceof AppError) {
    const { meaning, action } = errorCodes[error.code];
    write(`satscribe: ${error.message}\n  ${error.code}: ${meaning}\n  What to do: ${action}\n`);
    return error.code === 'config_invalid' ? exitCodes.usage : exitCodes.failure;
  }
  const shown = error instanceof Error ? (error.stack ?? error.message) : String(error);
  write(`satscribe: unexpected error, please report it\n${shown}\n`);
  return exitCodes.failure;
}

/**
 * Writes text for people. Control characters are escaped, because messages contain texts of nodes, servers and files.
 */
const write = (text: string): boolean => process.stderr.write(terminalLines(text));

/**
 * Converts failures of the system and of Postgres that no other part has converted. Returns any other error unchanged.
 */
function operatingFailure(thrown: unknown): unknown {
  const failure = systemFailure(thrown);
  return failure === thrown ? postgresFailure(thrown) : failure;
}
