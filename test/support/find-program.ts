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
 * The program of a suite. Null if the machine has none, which is said in one line, and is a failure with CI=true, so
 * that tests are never skipped unnoticed.
 */
export function orSayWhy(executable: string | null, missing: string): string | null {
  if (executable !== null) return executable;
  if (process.env['CI'] === 'true') throw new Error(missing);
  process.stderr.write(`${missing}\n`);
  return null;
}
