import type pg from 'pg';
import { checkDestinations } from '#kernel/bitcoin/destination.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { advisoryLocks } from '#kernel/pg/advisory-lock.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { networks } from '#kernel/primitives/network.ts';
import { failpoint } from '#kernel/process/failpoint.ts';
import { wakeOrders } from '#orders/order/order-wishes.store.ts';
import { readPartnerBalances } from '#payouts/owed/partner-balances.queries.ts';
import { insertPayout } from '#payouts/payout/payout.store.ts';
import type { PayoutShare } from '#payouts/payout/payout.ts';
import {
  type PartnerName,
  type PartnerPayout,
  type PartnerStanding,
  partnerStandings,
  payoutsOf,
} from '#payouts/planning/payable.ts';
import { ownScriptsAmong } from '#purse/destinations/own-scripts.ts';
import { type PartnerAccount, partnerAccounts } from '#purse/ledger/ledger.ts';
import { readWallet } from '#wallet/wallet.store.ts';

/** The partners whose debt is read: one partner, all partners of one account, or all partners (null). */
export type WantedPartners = PartnerName | { readonly account: PartnerAccount; readonly owner: null } | null;

/** Reads the debt to partners, and the part of this debt that the next payouts pay. */
export async function readPartners(
  client: pg.Pool | pg.ClientBase,
  confirmations: number,
  wanted: WantedPartners,
): Promise<PartnerStanding[]> {
  const wallet = await readWallet(client);
  const balances = await readPartnerBalances(client, {
    accounts: wanted === null ? partnerAccounts : [wanted.account],
    owner: wanted?.owner ?? null,
    confirmations,
    network: wallet === null ? null : networks[wallet.network],
  });
  const scripts = balances.flatMap(({ script }) => (script === null ? [] : [{ script, amount: null }]));
  const refused = await checkDestinations(scripts, (among) => ownScriptsAmong(client, among, wallet));
  return partnerStandings(
    balances,
    new Set(refused.map(({ destination }) => Buffer.from(destination.script).toString('hex'))),
  );
}

export interface AskedPartnerPayouts {
  /** The partner to pay, or null for all partners of both kinds. */
  readonly partner: PartnerName | null;
  /** The setting PAYOUT_CONFIRMATIONS. */
  readonly confirmations: number;
  /** Whether nothing is stored, so that the call only shows the result. */
  readonly isDryRun: boolean;
}

/** The requested payouts: their shares and ids. `ids` is empty if nothing was stored. */
export interface AskedPayouts {
  readonly ids: readonly string[];
  readonly payouts: readonly (readonly PayoutShare[])[];
}

/**
 * Stores payouts for everything that partners can be paid now. The process with the seed then makes the transactions.
 * Two calls at the same time run one after the other, so the second call pays only the sats that the first one left.
 * Throws `payouts_nothing`.
 */
export function askPartnerPayouts(pool: pg.Pool, asked: AskedPartnerPayouts): Promise<AskedPayouts> {
  return askUnderLock(pool, (tx) => askPartnerPayoutsIn(tx, asked));
}

/** Does the work of `askPartnerPayouts` in a transaction with the lock of payouts. */
async function askPartnerPayoutsIn(
  tx: pg.ClientBase,
  { isDryRun, ...asked }: AskedPartnerPayouts,
): Promise<AskedPayouts> {
  const payouts = await payablePayouts(tx, asked);
  const ids = isDryRun ? [] : await insertPayouts(tx, payouts);
  return { ids, payouts: payouts.map(({ shares }) => shares) };
}

/** The payouts of everything that partners can be paid now. Throws `payouts_nothing`. */
export async function payablePayouts(
  tx: pg.ClientBase,
  { partner, confirmations }: Omit<AskedPartnerPayouts, 'isDryRun'>,
): Promise<readonly PartnerPayout[]> {
  const standings = await readPartners(tx, confirmations, partner);
  const payouts = payoutsOf(standings);
  if (payouts.length === 0) throw nothingToPay(standings, partner);
  return payouts;
}

/** Stores exactly these payouts, in the transaction with the lock of payouts that read them. Returns their ids. */
export async function insertPayouts(
  tx: pg.ClientBase,
  payouts: readonly PartnerPayout[],
): Promise<readonly string[]> {
  const ids: string[] = [];
  for (const { kind, shares } of payouts) ids.push(await insertPayout(tx, kind, shares));
  return ids;
}

/** Runs a function while no other caller runs, and wakes the process with the seed after everything is stored. */
export async function askUnderLock<Asked>(
  pool: pg.Pool,
  ask: (tx: pg.ClientBase) => Promise<Asked>,
): Promise<Asked> {
  const asked = await withTransaction(pool, async (tx) => {
    await lockPayouts(tx);
    const made = await ask(tx);
    await wakeOrders(tx);
    return made;
  });
  failpoint('payout-asked');
  return asked;
}

/** Waits until no other transaction asks for payouts, and keeps others waiting until this transaction ends. */
export async function lockPayouts(tx: pg.ClientBase): Promise<void> {
  await tx.query('SELECT pg_advisory_xact_lock($1)', [advisoryLocks.payouts]);
}

function nothingToPay(standings: readonly PartnerStanding[], partner: PartnerName | null): AppError {
  const sum = (of: (standing: PartnerStanding) => bigint): bigint =>
    standings.reduce((all, standing) => all + of(standing), 0n);
  const parts = [
    [sum(({ shallow }) => shallow), 'from deliveries with too few confirmations'],
    [sum(({ dust }) => dust), 'below the dust limit of their addresses'],
    [sum(({ homeless }) => homeless), 'without an address that may be paid'],
    [sum(({ open }) => open), 'in payouts that are not in a block'],
  ] as const;
  const why = parts.filter(([sats]) => sats > 0n).map(([sats, words]) => `${sats} sats are ${words}`);
  const whom =
    partner === null ? 'No partner has anything' : `The ${nounOf(partner)} ${partner.owner} has nothing`;
  return new AppError(
    'payouts_nothing',
    `${whom} that can be paid now${why.length === 0 ? '' : `: ${why.join(', ')}`}.`,
  );
}

const nounOf = ({ account }: PartnerName): string => (account === 'referral' ? 'code' : 'creator');
