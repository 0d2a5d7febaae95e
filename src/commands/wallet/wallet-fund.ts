import { AppError } from '#kernel/errors/app-error.ts';
import { type ShownFunds, showFunds } from '#orders/operator/operator-funds.ts';
import type { CommandContext } from '#src/app/command-context.ts';
import { proveFree } from '#src/app/ordering/bump-parts.ts';
import { withWalletDatabase } from '#src/app/ordering/wallet.ts';
import { openPublicWallet } from '#wallet/public-wallet.ts';

/** Shows where the operator adds coins, and which are there. */
export async function fund(context: CommandContext): Promise<void> {
  await withWalletDatabase(context, 'existing', async ({ pool }) => {
    const wallet = await openPublicWallet(pool);
    if (wallet === null) throw new AppError('wallet_missing', 'The database has no wallet.');
    const shown = await showFunds(pool, wallet, proveFree(pool));
    const { flags, print } = context;
    await print(flags['json'] === undefined ? textOf(shown) : `${JSON.stringify(shown)}\n`);
  });
}

const textOf = ({ address, funds, free }: ShownFunds): string =>
  `address      ${address}
free coins   ${free} sats, with revenue
${funds.map(({ output, sats, state }) => `${state.padEnd(11)}  ${String(sats).padStart(14)} sats  ${output}\n`).join('')}`;
