import type pg from 'pg';
import { checkDestinations } from '#kernel/bitcoin/destination.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { advisoryLocks } from '#kernel/pg/advisory-lock.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { failpoint } from '#kernel/process/failpoint.ts';
import { ordersChannel } from '#orders/order/order-wishes.store.ts';
import { readReferralBalances } from '#payouts/owed/referral-balances.queries.ts';
import { insertPayout } from '#payouts/payout/payout.store.ts';
import type { PayoutShare } from '#payouts/payout/payout.ts';
import { payoutsOf, type ReferralStanding, referralStandings } from '#payouts/planning/payable.ts';
import { ownScriptsAmong } from '#purse/destinations/own-scripts.ts';

/** Reads what is owed to each code, and what of it the next payout pays. */
export async function readReferrals(
  client: pg.Pool | pg.ClientBase,
  confirmations: number,
  code: string | null = null,
): Promise<ReferralStanding[]> {
  const balances = await readReferralBalances(client, confirmations, code);
  const scripts = balances.flatMap(({ script }) => (script === null ? [] : [{ script, amount: null }]));
  const refused = await checkDestinations(scripts, (among) => ownScriptsAmong(client, among));
  return referralStandings(
    balances,
    new Set(refused.map(({ destination }) => Buffer.from(destination.script).toString('hex'))),
  );
}

export interface AskedReferralPayouts {
  /** Null: all codes. */
  readonly code: string | null;
  /** PAYOUT_CONFIRMATIONS */
  readonly confirmations: number;
  /** Nothing is stored. */
  readonly isDryRun: boolean;
}

/** Payouts that were asked for: their ids, or none where nothing was stored, and their shares. */
export interface AskedPayouts {
  readonly ids: readonly string[];
  readonly payouts: readonly (readonly PayoutShare[])[];
}

/**
 * Stores payouts of all that can be paid to partners now: the process with the seed makes their transactions. Two at the
 * same moment wait for each other, and the second finds what the first has left. Throws `payouts_nothing`.
 */
export async function askReferralPayouts(
  pool: pg.Pool,
  { code, confirmations, isDryRun }: AskedReferralPayouts,
): Promise<AskedPayouts> {
  return askUnderLock(pool, async (tx) => {
    const standings = await readReferrals(tx, confirmations, code);
    const payouts = payoutsOf(standings);
    if (payouts.length === 0) throw nothingToPay(standings, code);
    const ids: string[] = [];
    for (const shares of isDryRun ? [] : payouts) ids.push(await insertPayout(tx, 'referral', shares));
    return { ids, payouts };
  });
}

/** Has one caller at a time, and wakes the process with the seed once all is stored. */
export async function askUnderLock<Asked>(
  pool: pg.Pool,
  ask: (tx: pg.ClientBase) => Promise<Asked>,
): Promise<Asked> {
  const asked = await withTransaction(pool, async (tx) => {
    await tx.query('SELECT pg_advisory_xact_lock($1)', [advisoryLocks.payouts]);
    const made = await ask(tx);
    await tx.query(`SELECT pg_notify('${ordersChannel}', '')`);
    return made;
  });
  failpoint('payout-asked');
  return asked;
}

function nothingToPay(standings: readonly ReferralStanding[], code: string | null): AppError {
  const sum = (of: (standing: ReferralStanding) => bigint): bigint =>
    standings.reduce((all, standing) => all + of(standing), 0n);
  const parts = [
    [sum(({ shallow }) => shallow), 'not deep enough yet'],
    [sum(({ dust }) => dust), 'below the dust limit of their addresses'],
    [sum(({ homeless }) => homeless), 'without an address where they may go'],
    [sum(({ open }) => open), 'in payouts that no block has'],
  ] as const;
  const why = parts.filter(([sats]) => sats > 0n).map(([sats, words]) => `${sats} sats are ${words}`);
  const whom = code === null ? 'No partner has' : `The code ${code} has`;
  return new AppError(
    'payouts_nothing',
    `${whom} ${code === null ? 'anything' : 'nothing'} that can be paid now${why.length === 0 ? '' : `: ${why.join(', ')}`}.`,
  );
}
