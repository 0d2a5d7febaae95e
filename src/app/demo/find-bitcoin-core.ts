import { execFile } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
/** A program that says its version takes milliseconds; a broken one must not hold up the start. */
const versionMs = 5000;

/**
 * Bitcoin Core on this machine: BITCOIND, `bitcoind` on the path, or the one that scripts/install-bitcoind.sh
 * installed. Null: not found. Knots does not count: it relays no inscription.
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
