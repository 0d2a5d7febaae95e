import type pg from 'pg';
import { revenueSince } from '#purse/ledger/ledger.store.ts';
import { type BudgetFacts, type BumpBudgets, type BumpFigures, bumpFigures, revenueDays } from './budgets.ts';
import { familyCosts } from './bump.store.ts';

const daysBefore = (now: Date, days: number): Date => new Date(now.getTime() - days * 86_400_000);

/** Reads the costs of all bumps of the last `revenueDays`, and the revenue of these days. */
export async function readBumpCosts(
  client: pg.Pool | pg.ClientBase,
  now: Date,
): Promise<Pick<BudgetFacts, 'families' | 'revenue'>> {
  const since = daysBefore(now, revenueDays);
  const families = await familyCosts(client, since, daysBefore(now, 1));
  return { families, revenue: await revenueSince(client, since) };
}

/** Reads the costs of bumps and their limits, for operators. */
export const readBumpFigures = async (
  client: pg.Pool | pg.ClientBase,
  budgets: BumpBudgets,
  now: Date,
): Promise<BumpFigures> => bumpFigures(budgets, await readBumpCosts(client, now));
