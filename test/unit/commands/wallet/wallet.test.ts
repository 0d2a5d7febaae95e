import { expect, test } from 'vitest';
import { loadConfig } from '#config/config.ts';
import { createLifecycle } from '#kernel/process/lifecycle.ts';
import { createHealth } from '#kernel/reports/health.ts';
import { parseCommandLine } from '#src/cli.ts';
import { walletCommand } from '#src/commands/wallet/wallet.ts';
import { silentLogger } from '#test/support/http-app.ts';

/** Runs the words like a command line, up to where it would need a database or a node. */
function run(words: readonly string[]): Promise<void> {
  const line = parseCommandLine(['wallet', ...words]);
  if (line.kind === 'help') throw new Error('the help was asked for');
  return walletCommand.run({
    config: loadConfig({ env: { WALLET_SEED_FILE: '/nowhere/wallet.seed' }, flags: line.settings }),
    flags: line.flags,
    words: line.words,
    lifecycle: createLifecycle(),
    health: createHealth(),
    logger: silentLogger(),
    print: () => Promise.reject(new Error('nothing is printed')),
  });
}

test.each<[string[], RegExp]>([
  [[], /missing subcommand; use satscribe wallet/u],
  [['make'], /unknown subcommand make; use/u],
  [['init', 'here'], /unexpected word here/u],
  [['recover', 'kit.json', 'more'], /unexpected word more/u],
  [['show', '--broadcast'], /--broadcast is not a flag of satscribe wallet show/u],
  [['init', '--first-index', '-1'], /must be a whole number/u],
  [['init', '--first-index', '2147483647'], /must be a whole number/u],
  [['skip', '--by', '2000000001'], /must be a whole number/u],
  [['skip', '--gap', '1'], /--gap is not a flag of satscribe wallet skip/u],
  [['restore', '--without-database'], /missing network/u],
  [['restore', '--to', 'bc1q'], /missing fee rate/u],
  [['restore', '--fee-rate', '2'], /--fee-rate needs --to/u],
  [['restore', '--broadcast'], /--broadcast needs --to/u],
  [['restore', '--gap', 'x'], /--gap x must be a whole number/u],
  [
    ['restore', '--without-database', '--network', 'regtest', '--to', 'foo', '--fee-rate', '2'],
    /--to foo cannot be used: the address/u,
  ],
  [['kit'], /missing order id/u],
  [['kit', 'nonsense'], /nonsense is not an order id/u],
  [['kit', '6f1c2b1e-5a0e-4c55-9d0c-0b8f7f0b9a11', '--reveal', 'x'], /--reveal x must be a whole/u],
  [['recover', '--fee-rate', '1'], /missing kit/u],
  [['recover', 'kit.json'], /missing fee rate/u],
  [['recover', 'kit.json', '--fee-rate', '0'], /must be above 0/u],
  [['recover', 'kit.json', '--fee-rate', '1.0001'], /three decimals/u],
  [['recover', 'kit.json', '--fee-rate', '10000.001'], /at most 10000/u],
  [['recover', '/nowhere/kit.json', '--fee-rate', '1'], /cannot be read \(ENOENT\)/u],
])('satscribe wallet %j is refused', async (words, reason) => {
  await expect(run(words)).rejects.toThrow(reason);
});
