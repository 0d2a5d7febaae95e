import { execFileSync } from 'node:child_process';
import { realpathSync } from 'node:fs';

/** The output of a git command in a folder, or null if it failed. */
export function gitOutput(folder: string, ...args: readonly string[]): string | null {
  try {
    return execFileSync('git', args, {
      cwd: folder,
      encoding: 'utf8',
      maxBuffer: 256 * 1024 * 1024,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  } catch {
    return null;
  }
}

/**
 * Whether a folder is the top of a checkout that has a commit. An unpacked archive is not, even inside another
 * checkout.
 */
export function isCheckout(folder: string): boolean {
  const top = gitOutput(folder, 'rev-parse', '--show-toplevel')?.trimEnd();
  if (top === undefined || realpathSync(top) !== realpathSync(folder)) return false;
  return gitOutput(folder, 'rev-parse', '--verify', '--quiet', 'HEAD') !== null;
}
