import { wrongPayoutConfirmations, wrongTestPay } from '#config/order-settings.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { NetworkName } from '#kernel/primitives/network.ts';
import type { CommandContext } from '#src/app/command-context.ts';

/** Throws `config_invalid` if payouts would follow deliveries that are not deep enough on this network. */
export const requirePayoutDepth = (config: CommandContext['config'], network: NetworkName): void =>
  requireNone(wrongPayoutConfirmations(config, network));

/** Throws `config_invalid` if test payments are on and the network is mainnet. */
export const requireTestNetwork = (config: CommandContext['config'], network: NetworkName): void =>
  requireNone(wrongTestPay(config, network));

function requireNone(wrong: readonly string[]): void {
  if (wrong.length > 0) throw new AppError('config_invalid', wrong.join('\n'), { wrong });
}
