import {
  type CoinHolder,
  type CoinSum,
  coinHolders,
  type ShownCoin,
  showCoins,
  sumsOfCoins,
} from '#orders/operator/operator-coins.ts';
import { readHold } from '#purse/holding/payment-hold.store.ts';
import { type CommandContext, UsageError } from '#src/app/command-context.ts';
import { withWalletDatabase } from '#src/app/ordering/wallet.ts';

/** Shows the coins of the wallet, and the holder of each. */
export async function coins(context: CommandContext): Promise<void> {
  const { flags, print } = context;
  const held = holderOf(flags['held']);
  await withWalletDatabase(context, 'existing', async ({ pool }) => {
    const { coins: shown, isComplete } = await showCoins(pool, held);
    if (!isComplete)
      process.stderr.write('the coins of earlier orders are still being listed, so some are missing here\n');
    if ((await readHold(pool)) !== null)
      process.stderr.write(
        'the database was restored from a backup, so some of these coins may be spent: satscribe payouts held names unknown transactions that spent them\n',
      );
    const sums = sumsOfCoins(shown);
    await print(
      flags['json'] === undefined
        ? textOf(shown, sums)
        : `${JSON.stringify({ isComplete, sums, coins: shown })}\n`,
    );
  });
}

function holderOf(name: string | undefined): CoinHolder | null {
  if (name === undefined) return null;
  const held = coinHolders.find((holder) => holder === name);
  if (held === undefined) throw new UsageError(`--held ${name}: must be one of ${coinHolders.join(', ')}`);
  return held;
}

function textOf(shown: readonly ShownCoin[], sums: readonly CoinSum[]): string {
  if (shown.length === 0) return 'no coins\n';
  const lines = shown.map(({ held, sats, height, branch, index, output, why, orderId }) =>
    [
      held.padEnd(8),
      String(sats).padStart(14),
      String(height ?? '-').padStart(8),
      ` ${branch}/${index ?? '-'}`.padEnd(12),
      output.padEnd(68),
      `${why}${orderId === null ? '' : `, order ${orderId}`}`,
    ].join(' '),
  );
  const totals = sums.map(
    ({ held, coins: count, sats }) =>
      `${held.padEnd(8)} ${String(sats).padStart(14)} sats, ${count} ${count === 1 ? 'coin' : 'coins'}`,
  );
  const head = `${'HELD'.padEnd(8)} ${'SATS'.padStart(14)} ${'HEIGHT'.padStart(8)} ${' KEY'.padEnd(12)} ${'OUTPUT'.padEnd(68)} WHY`;
  return `${[head, ...lines, '', ...totals].join('\n')}\n`;
}
