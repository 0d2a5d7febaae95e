import type pg from 'pg';
import { indexedTip } from '#chain/blocks/index-tip.queries.ts';
import { dustOf } from '#kernel/bitcoin/transaction-size.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { type ProveFree, provenFree } from '#orders/funds/free-coins.ts';
import { readNodePolicy } from '#orders/sending/node-policy.store.ts';
import { openRevenue } from '#payouts/owed/open-revenue.queries.ts';
import { insertPayout, sharesUnderWay } from '#payouts/payout/payout.store.ts';
import { type RevenueFacts, type RevenueSum, revenueShares, revenueSum } from '#payouts/planning/revenue.ts';
import { readFreeCoins } from '#purse/coins/coins.store.ts';
import { readCoinsFill } from '#purse/coins/coins-fill.store.ts';
import { requireDestination } from '#purse/destinations/require-destination.ts';
import { heldByOwners, heldByService } from '#purse/ledger/ledger.store.ts';
import { type AskedPayouts, askUnderLock } from './ask-payouts.ts';

export interface RevenueParts {
  readonly proveFree: ProveFree;
  /** The setting PAYOUT_CONFIRMATIONS. */
  readonly confirmations: number;
}

/** Assumed fee rate in sats per 1,000 virtual bytes while no node has reported fee rates. */
export const usualRate = 10_000n;

async function readFacts(
  client: pg.ClientBase,
  { proveFree, confirmations }: RevenueParts,
): Promise<RevenueFacts> {
  if (!(await readCoinsFill(client)).isComplete)
    throw new AppError('payouts_nothing', 'Coins of earlier orders are still being listed. Try again later.');
  // payouts are read before coins; a payout that is signed or mined meanwhile may then be subtracted twice, but never
  // zero times
  const open = await openRevenue(client);
  const held = await heldByService(client);
  const ofOwners = await heldByOwners(client);
  const owed = ofOwners - (await sharesUnderWay(client));
  const deep = ((await indexedTip(client)) ?? 0) - confirmations + 1;
  const coins = await provenFree(
    client,
    (await readFreeCoins(client, null)).filter(({ height }) => height <= deep),
    proveFree,
  );
  const policy = await readNodePolicy(client);
  return {
    ...held,
    ...open,
    coins: coins.map(({ value }) => BigInt(value)),
    owed,
    feeRate: policy?.estimate ?? policy?.leastFeeRate ?? usualRate,
  };
}

/** Reads how much the operator can withdraw, and the reasons why the amount is not larger. */
export function readRevenue(pool: pg.Pool, parts: RevenueParts): Promise<RevenueSum> {
  return askUnderLock(pool, (tx) => readRevenueIn(tx, parts));
}

/** Does the work of `readRevenue` in a transaction with the lock of payouts. */
export async function readRevenueIn(tx: pg.ClientBase, parts: RevenueParts): Promise<RevenueSum> {
  return revenueSum(await readFacts(tx, parts));
}

export interface AskedRevenue extends RevenueParts {
  readonly script: Uint8Array;
  readonly address: string;
  /** Amount to withdraw, or null for everything that is available. */
  readonly sats: bigint | null;
  /** Whether nothing is stored, so that the call only shows the result. False if absent. */
  readonly isDryRun?: boolean;
}

/**
 * Stores a payout of revenue. The process with the seed then makes the transaction. It pays exactly the requested sats,
 * and the fee is extra. Throws `payouts_above_free` with both numbers, `payouts_nothing` and `destination_own`.
 */
export function askRevenue(pool: pg.Pool, asked: AskedRevenue): Promise<AskedPayouts> {
  return askUnderLock(pool, (tx) => askRevenueIn(tx, asked));
}

/** Does the work of `askRevenue` in a transaction with the lock of payouts. */
export async function askRevenueIn(tx: pg.ClientBase, asked: AskedRevenue): Promise<AskedPayouts> {
  const { script, address } = asked;
  const facts = await readFacts(tx, asked);
  const { takeable } = revenueSum(facts);
  const sats = asked.sats ?? takeable;
  if (sats > takeable)
    throw new AppError(
      'payouts_above_free',
      `${sats} sats are more than the ${takeable} sats that can be taken. satscribe payouts revenue shows why.`,
    );
  const dust = BigInt(dustOf(script));
  if (sats < dust) throw new AppError('payouts_nothing', dustReason(asked, sats, dust));
  await requireDestination(tx, { script, amount: sats }, `The address ${address}`);
  const shares = revenueShares(sats, facts, { script, address });
  const ids = asked.isDryRun === true ? [] : [await insertPayout(tx, 'revenue', shares)];
  return { ids, payouts: [shares] };
}

/** Explains why an amount below the dust limit is not paid. */
const dustReason = ({ sats, address }: AskedRevenue, few: bigint, dust: bigint): string =>
  sats === null
    ? `Only ${few} sats can be taken, which is below ${dust}, the dust limit of ${address}. satscribe payouts revenue shows why.`
    : `${few} sats are below ${dust}, the dust limit of ${address}. Take at least ${dust} sats.`;
