import { accessSync, constants } from 'node:fs';

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Returns the program of a suite, or `null` if the machine has none. Then one line says so, and with CI=true it is a
 * failure, so that tests are never skipped unnoticed.
 */
export function orSayWhy(executable: string | null, missing: string): string | null {
  if (executable !== null) return executable;
  if (process.env['CI'] === 'true') throw new Error(missing);
  process.stderr.write(`${missing}\n`);
  return null;
}
