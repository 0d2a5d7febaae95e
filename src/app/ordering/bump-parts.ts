import type pg from 'pg';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { asBlockHash, displayHash } from '#kernel/primitives/hash.ts';
import { asSats } from '#kernel/primitives/sats.ts';
import { type BumpFigures, revenueDays } from '#orders/bumping/budgets.ts';
import type { BumpPolicy } from '#orders/bumping/bump-round.ts';
import type { BumperParts } from '#orders/bumping/bumper.ts';
import type { CoinProof, ProveFree } from '#orders/funds/free-coins.ts';
import { reservedSats } from '#payouts/owed/reserved-sats.queries.ts';
import type { CommandContext } from '#src/app/command-context.ts';
import type { Database } from '#src/app/database/database.ts';
import type { OperationsParts } from '#src/app/reports/operations.ts';
import { type Holdings, heldByOutputs, isFree } from '#utxos/held-by-outputs.ts';

type Config = CommandContext['config'];

/** Parts of the fee bumper that come from the settings and the database. */
export const bumpParts = (
  config: Config,
  { readers }: Pick<Database, 'readers'>,
  metrics: OperationsParts['metrics'],
): Pick<BumperParts, 'policy' | 'proveFree' | 'reserved' | 'onFigures'> => ({
  policy: bumpPolicyOf(config),
  proveFree: proveFree(readers),
  reserved: reservedSats,
  onFigures: showBumpFigures(metrics),
});

export const bumpPolicyOf = (config: Config): BumpPolicy => ({
  maxSats: BigInt(config.orderBumpMaxSats),
  dayMaxSats: BigInt(config.orderBumpDayMaxSats),
  revenuePercent: BigInt(config.orderBumpRevenuePercent),
  afterMs: config.orderBumpAfterMinutes * 60_000,
});

/**
 * Finds the coins that the index proves to hold neither inscriptions nor runes. For all other coins it finds the
 * contents.
 */
export function proveFree(pool: pg.Pool): ProveFree {
  return async (coins) => {
    if (coins.length === 0) return [];
    const outputs = coins.map(({ txid, vout, value, script, height, hash }) => ({
      txid,
      vout,
      value: asSats(value),
      script,
      height,
      blockHash: displayHash(asBlockHash(hash)),
      blockTime: 0,
    }));
    const holdings = await withSnapshot(pool, (snapshot) => heldByOutputs(snapshot, outputs), null);
    return coins.map((_, place) => proofOf(holdings[place]));
  };
}

function proofOf(held: Holdings | undefined): CoinProof {
  if (held === undefined) return 'unknown';
  if (isFree(held)) return 'free';
  if ((held.inscriptions?.length ?? 0) > 0) return 'inscribed';
  return (held.runes?.length ?? 0) > 0 ? 'runic' : 'unknown';
}

/** Adds metrics of the costs of fee bumps. They are updated at each search for stuck transactions. */
function showBumpFigures(metrics: OperationsParts['metrics']): NonNullable<BumperParts['onFigures']> {
  let figures: BumpFigures | null = null;
  const gauge = (name: string, help: string, of: (figures: BumpFigures) => BumpFigures['cost']): void =>
    metrics.read({
      name,
      help,
      labels: ['over'],
      values: () => {
        if (figures === null) return [];
        const { day, revenue } = of(figures);
        return [
          { labels: { over: '1d' }, value: Number(day) },
          { labels: { over: `${revenueDays}d` }, value: Number(revenue) },
        ];
      },
    });
  gauge('satscribe_orders_bumps_sats', 'Sats that bumps of orders cost', ({ cost }) => cost);
  gauge(
    'satscribe_orders_bumps_budget_sats',
    'Maximum number of sats that bumps of orders may cost',
    ({ budget }) => budget,
  );
  return (found) => {
    figures = found;
  };
}
