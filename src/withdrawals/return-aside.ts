import type pg from 'pg';
import { AppError } from '#kernel/errors/app-error.ts';
import type { ProveFree } from '#orders/funds/free-coins.ts';
import { readNodePolicy } from '#orders/sending/node-policy.store.ts';
import { askUnderLock } from '#payouts/asking/ask-payouts.ts';
import { usualRate } from '#payouts/asking/ask-revenue.ts';
import { payoutCoins } from '#payouts/following/payout-coins.ts';
import { insertPayout } from '#payouts/payout/payout.store.ts';
import { type PlannedPayout, planPayout } from '#payouts/planning/plan-payout.ts';
import { readAsideCoin } from '#purse/coins/coins.store.ts';
import { requireDestination } from '#purse/destinations/require-destination.ts';
import { outpointOf } from '#purse/transactions/outpoint.ts';
import { insertDecision } from '#tokenpay/crediting/decisions.store.ts';
import { lockAside, type NamedAside, type OpenAside } from '#tokenpay/operator/decide-credit.ts';
import type { PublicWallet } from '#wallet/public-wallet.ts';

export interface AskedReturn extends NamedAside {
  readonly script: Uint8Array;
  readonly address: string;
  /** Sats per 1,000 virtual bytes. If it is `null`, the node's estimate is used. */
  readonly feeRate: bigint | null;
}

/**
 * Requests the return of an output that was set aside. In one transaction it stores the decision, and a payout that
 * sends the whole output to an address. The process with the seed makes the payout. The operator pays the fee. Throws
 * `tokenpay_unknown`, `tokenpay_refuses`, `destination_own` and `destination_refused`.
 *
 * @returns the id of the payout
 */
export function askReturn(pool: pg.Pool, asked: AskedReturn): Promise<string> {
  return askUnderLock(pool, (tx) => askReturnIn(tx, asked));
}

/** Does the work of `askReturn` in a transaction with the lock of payouts. */
export async function askReturnIn(
  tx: pg.ClientBase,
  { script, address, feeRate, ...named }: AskedReturn,
): Promise<string> {
  const { order, credit } = await lockAside(tx, named);
  const { txid, vout, sats } = credit;
  await requireDestination(tx, { script, amount: sats }, `The address ${address}`);
  const share = { account: 'outside', owner: null, script, address, sats } as const;
  const payout = await insertPayout(tx, 'return', [share], { spends: { txid, vout }, feeRate });
  const { by: decidedBy, reason } = named;
  const decision = { txid, vout, decidedBy, reason, payout, orderId: order.id, found: credit.aside } as const;
  if (!(await insertDecision(tx, { ...decision, kind: 'return' })))
    throw new AppError('tokenpay_refuses', `Meanwhile someone decided about ${outpointOf(named)}.`);
  return payout;
}

/** A return, as it would be made at this moment. */
export interface PreviewedReturn extends OpenAside {
  readonly planned: PlannedPayout;
}

/** Plans a return like `askReturn`, but stores nothing. Throws the same errors. */
export function previewReturn(
  pool: pg.Pool,
  asked: AskedReturn,
  parts: ReturnParts,
): Promise<PreviewedReturn> {
  return askUnderLock(pool, (tx) => previewReturnIn(tx, asked, parts));
}

/** The parts that plan a return. */
export interface ReturnParts {
  readonly wallet: PublicWallet;
  readonly proveFree: ProveFree;
}

/** Does the work of `previewReturn` in a transaction with the lock of payouts. */
export async function previewReturnIn(
  tx: pg.ClientBase,
  { script, address, feeRate, ...named }: AskedReturn,
  { wallet, proveFree }: ReturnParts,
): Promise<PreviewedReturn> {
  const open = await lockAside(tx, named);
  const { sats } = open.credit;
  await requireDestination(tx, { script, amount: sats }, `The address ${address}`);
  const whole = await readAsideCoin(tx, named);
  if (whole === null)
    throw new AppError('tokenpay_unknown', `No block has the output ${outpointOf(named)} now.`);
  const policy = await readNodePolicy(tx);
  const leastFeeRate = policy?.leastFeeRate ?? 0n;
  // any key will do, because the change output has the same size for every key
  const own = { key: { branch: 1, index: 0 }, leafScript: null } as const;
  const planned = planPayout(
    {
      whole,
      recipients: [{ script, sats }],
      kept: [],
      replaced: null,
      feeRate: feeRate ?? policy?.estimate ?? usualRate,
    },
    (await payoutCoins(tx, proveFree, 0)) ?? [],
    { script: wallet.addressOf(own).script, own },
    { mempoolMinFeeRate: leastFeeRate, incrementalFeeRate: 0n },
  );
  return { ...open, planned };
}
