import type pg from 'pg';
import { largest } from '#orders/inscribing/plan-amounts.ts';
import { sharesUnderWay } from '#payouts/payout/payout.store.ts';
import { heldByOwners } from '#purse/ledger/ledger.store.ts';
import { openRevenue } from './open-revenue.queries.ts';

/**
 * Sats of free coins that bumps and returns must not use. These are the debt to partners, deep or not, and the revenue
 * that planned payouts will pay. The coins of signed payouts are not included, because no other transaction can spend
 * them.
 */
export async function reservedSats(client: pg.Pool | pg.ClientBase): Promise<bigint> {
  // payouts are read before the debt, so sats of a payout that is signed meanwhile are reserved twice, never zero times
  const { unsigned } = await openRevenue(client);
  const owed = await heldByOwners(client);
  return largest(owed - (await sharesUnderWay(client)), 0n) + unsigned;
}
