import type pg from 'pg';
import { largest } from '#orders/inscribing/plan-amounts.ts';
import { sharesUnderWay } from '#payouts/payout/payout.store.ts';
import { heldByOwners } from '#purse/ledger/ledger.store.ts';
import { openRevenue } from './open-revenue.queries.ts';

/**
 * Sats of free coins that bumps and returns must leave: the debt to partners, deep or not, and revenue that payouts are
 * to take. A signed payout has coins of its own, which no other transaction can spend.
 */
export async function reservedSats(client: pg.Pool | pg.ClientBase): Promise<bigint> {
  // payouts before what they take: one that is signed meanwhile counts twice, never not at all
  const { unsigned } = await openRevenue(client);
  const owed = await heldByOwners(client);
  return largest(owed - (await sharesUnderWay(client)), 0n) + unsigned;
}
