import { AppError } from '#kernel/errors/app-error.ts';
import type { NetworkName } from '#kernel/primitives/network.ts';
import { type AskNode, type ShownFunds, showFunds } from '#orders/operator/operator-funds.ts';
import { isUnspent } from '#orders/sending/unspent-output.ts';
import type { CommandContext } from '#src/app/command-context.ts';
import { proveFree } from '#src/app/ordering/bump-parts.ts';
import { withWalletDatabase } from '#src/app/ordering/wallet.ts';
import { linkedNode } from '#src/app/sources/node.ts';
import { requirePublicWallet } from '#wallet/public-wallet.ts';

/** Shows the address to which the operator sends coins, and the coins at that address. */
export async function fund(context: CommandContext): Promise<void> {
  await withWalletDatabase(context, 'existing', async ({ pool }) => {
    const wallet = await requirePublicWallet(pool);
    const shown = await showFunds(pool, wallet, proveFree(pool), () => nodeOf(context, wallet.network));
    const { flags, print } = context;
    await print(flags['json'] === undefined ? textOf(shown) : `${JSON.stringify(shown)}\n`);
  });
}

/**
 * Connects to the node of the settings. Returns `null` if the node does not answer; a line on stderr then says what is
 * unknown.
 */
async function nodeOf(context: CommandContext, network: NetworkName): Promise<AskNode | null> {
  try {
    const { rpc } = await linkedNode(context, network);
    return (coin, where) => isUnspent(rpc, coin, where);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    process.stderr.write(
      `the node could not be asked (${error.code}), so coins that another wallet with the same seed has spent are shown as unspent\n`,
    );
    return null;
  }
}

const textOf = ({ address, funds, free }: ShownFunds): string =>
  `address      ${address}
free coins   ${free} sats, including revenue
${funds.map(({ output, sats, state }) => `${state.padEnd(15)}  ${String(sats).padStart(14)} sats  ${output}\n`).join('')}`;
