import { wrongPayoutConfirmations, wrongTestPay } from '#config/order-settings.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { NetworkName } from '#kernel/primitives/network.ts';
import type { CommandContext } from '#src/app/command-context.ts';

/** Throws `config_invalid` where payouts of this network would be made for deliveries that are not deep enough. */
export function requirePayoutDepth(config: CommandContext['config'], network: NetworkName): void {
  const wrong = wrongPayoutConfirmations(config, network);
  if (wrong.length > 0) throw new AppError('config_invalid', wrong.join('\n'), { wrong });
}

/** Throws `config_invalid` where test payments are on, and the network is mainnet. */
export function requireTestNetwork(config: CommandContext['config'], network: NetworkName): void {
  const wrong = wrongTestPay(config, network);
  if (wrong.length > 0) throw new AppError('config_invalid', wrong.join('\n'), { wrong });
}
