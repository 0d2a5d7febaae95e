import { utxosOf } from '#http/mempool/address-utxos.routes.ts';
import { satributesInForce } from '#http/sats/satributes-in-force.ts';
import type { AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { CoinParts } from '#psbts/coins/coin-parts.ts';

/** The parts of this server that read coins. Throws `utxo_source_missing` and `coins_unproven`. */
export function coinPartsOf(deps: AppDependencies): CoinParts {
  const { pool, network, node, orders } = deps;
  const utxos = utxosOf(deps);
  if (node == null)
    throw new AppError(
      'coins_unproven',
      'cannot prove that these coins are free of inscriptions and runes, because this server has no node that knows what the mempool spends',
    );
  return {
    pool,
    utxos,
    node,
    network,
    satributes: satributesInForce(deps),
    ownAmong: orders == null ? null : (scripts) => orders.ownScriptsAmong(scripts),
  };
}
