import { spawnSync } from 'node:child_process';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { isExecutable, orSayWhy } from '#test/support/find-program.ts';

/**
 * The bitcoind for a suite: Bitcoin Core, else Knots; `null` if the machine has neither. Then one line says so, and
 * with CI=true it is a failure, so that tests of the node are never skipped unnoticed.
 */
export const bitcoindForTests = (): string | null =>
  orSayWhy(
    findBitcoind(),
    'bitcoind is missing: the tests of the node are skipped (scripts/install-bitcoind.sh)',
  );

/**
 * A bitcoind whose mempool accepts inscriptions by default, which is Bitcoin Core. `null` if the machine has none, like
 * `bitcoindForTests`.
 */
export function bitcoindThatRelaysReveals(): string | null {
  const found = bitcoindForTests();
  return orSayWhy(
    found !== null && isKnots(found) ? null : found,
    'Bitcoin Core is missing, and Knots does not relay inscriptions: the tests of the mempool are skipped (scripts/install-bitcoind.sh)',
  );
}

/** Bitcoin Knots, for the tests of its differences. `null` if the machine has none, like `bitcoindForTests`. */
export const knotsForTests = (): string | null =>
  orSayWhy(findKnots(), 'Bitcoin Knots is missing: its tests are skipped (scripts/install-knots.sh)');

/**
 * Finds the bitcoind that BITCOIND names, one on the path, or the installation of scripts/install-bitcoind.sh. `null`
 * if there is none.
 */
export function findBitcoind(): string | null {
  const given = process.env['BITCOIND'];
  if (given !== undefined && given !== '') return given;
  const onPath = (process.env['PATH'] ?? '').split(delimiter);
  const programs = [...onPath, join(cache(), 'bitcoin-core/bin')].map((folder) => join(folder, 'bitcoind'));
  return programs.find(isExecutable) ?? findKnots();
}

function findKnots(): string | null {
  const given = process.env['KNOTS_BITCOIND'];
  if (given !== undefined && given !== '') return given;
  const program = join(cache(), 'bitcoin-knots/bin/bitcoind');
  return isExecutable(program) ? program : null;
}

const cache = (): string => join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'satscribe');

export const isKnots = (executable: string): boolean =>
  spawnSync(executable, ['--version']).stdout.toString().includes('Knots');
