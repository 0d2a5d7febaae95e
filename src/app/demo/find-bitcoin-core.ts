import { execFile } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
/**
 * How long a program may take to print its version, in ms. It usually takes milliseconds. A broken program must not
 * delay the start.
 */
const versionMs = 5000;

/**
 * Finds Bitcoin Core on this machine: BITCOIND, `bitcoind` on the path, or the one that scripts/install-bitcoind.sh
 * installed. Returns `null` if it is not found. Bitcoin Knots is not accepted, because it does not relay inscriptions.
 */
export async function findBitcoinCore(
  env: Readonly<Record<string, string | undefined>>,
): Promise<string | null> {
  const cache = join(env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'satscribe');
  const folders = [...(env['PATH'] ?? '').split(delimiter), join(cache, 'bitcoin-core/bin')];
  const named = env['BITCOIND'] ?? '';
  const programs = [...(named === '' ? [] : [named]), ...folders.map((folder) => join(folder, 'bitcoind'))];
  for (const program of programs) if (await isBitcoinCore(program)) return program;
  return null;
}

async function isBitcoinCore(program: string): Promise<boolean> {
  try {
    await access(program, constants.X_OK);
    const { stdout } = await run(program, ['--version'], { timeout: versionMs });
    return stdout.startsWith('Bitcoin Core') && !stdout.includes('Knots');
  } catch {
    return false;
  }
}
