import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { auditPayouts } from '#payouts/audit/audit-payouts.ts';
import type { RegtestChain } from '#test/builders/regtest/regtest-chain.ts';
import type { ShownWithdrawal } from '#test/support/tokenpay/shop-withdrawals.ts';
import { bitcoin } from './order-model.ts';
import type { RuneChain } from './rune-chain.ts';
import { addUnits } from './rune-model.ts';
import type { TokenCustomers } from './token-customers.ts';
import { readBalances, readReserved } from './token-look.queries.ts';
import type { TokenPayments } from './token-payments.ts';
import type { TokenTakers } from './token-takers.ts';
import { balanceKey } from './tokens-verdict.ts';
import { takenBy, withdrawalEndFaults } from './withdrawal-model.ts';

interface EndedWithdrawals {
  readonly pool: pg.Pool;
  readonly chain: RegtestChain;
  readonly takers: TokenTakers;
  readonly customers: TokenCustomers;
  readonly payments: TokenPayments;
  readonly model: RuneChain;
  readonly say: (words: string) => void;
}

const roundsMax = 8;
const overWithinMs = 20_000;
const lookMs = 500;
/** Sats that cover an account's debts, and the prices of its later actions. */
const moreSats = 60_000;

/**
 * Pays accounts the units that their open withdrawals lack after reorganisations, and mines until these withdrawals
 * have ended. A withdrawal that still waits then is a difference.
 *
 * @param settle brings payments into blocks
 */
export async function coverWithdrawals(
  run: EndedWithdrawals,
  settle: () => Promise<readonly string[]>,
): Promise<string[]> {
  const { pool, chain, payments, customers, takers, say } = run;
  const waiting: string[] = [];
  for (let round = 0; round < roundsMax; round++) {
    if (await areOver(pool)) return waiting;
    const lacking = await lackingOf(pool);
    say(`withdrawals wait: ${lacking.size} balances lack something`);
    for (const account of takers.accounts) {
      const runes = payments.runes.filter(({ etching }) => lacking.has(balanceKey(account.name, etching)));
      // if only sats are missing, they are sent with units of any rune
      const paid = runes.length === 0 ? payments.runes.slice(0, 1) : runes;
      for (const rune of paid) {
        const units = lacking.get(balanceKey(account.name, rune.etching)) ?? 1n;
        const sats = lacking.get(balanceKey(account.name, bitcoin)) ?? 0n;
        await customers.payWhole({ account, rune, units, moreSats: moreSats + Number(sats) });
      }
    }
    waiting.push(...(await settle()));
    // a transaction whose input is gone is given up after this many blocks
    await chain.mineEmpty(givenUpBlocks);
    for (const until = Date.now() + overWithinMs; Date.now() < until; await delay(lookMs)) {
      if (await areOver(pool)) break;
      await chain.mineMempool();
    }
    waiting.push(...(await settle()));
  }
  return waiting;
}

/** Number of blocks after which a transaction is given up. It is more than PAYOUT_CONFIRMATIONS of a run. */
const givenUpBlocks = 16;

async function areOver(pool: pg.Pool): Promise<boolean> {
  const { rowCount } = await pool.query(
    `SELECT FROM service.withdrawals WHERE state IN ('pending', 'processing') LIMIT 1`,
  );
  return rowCount === 0;
}

/** Units that balances lack to cover their open withdrawals, or to reach zero. */
async function lackingOf(pool: pg.Pool): Promise<Map<string, bigint>> {
  const [balances, reserved] = [await readBalances(pool), await readReserved(pool)];
  const lacking = new Map<string, bigint>();
  for (const [key, amount] of balances) {
    const missing = (reserved.get(key) ?? 0n) - amount;
    if (missing > 0n) lacking.set(key, missing);
  }
  return lacking;
}

/**
 * Compares withdrawals of the service with the final chain. Returns the faults, and the units that withdrawals take
 * from accounts according to the model.
 */
export async function endsOfWithdrawals({ pool, chain, takers, model }: EndedWithdrawals): Promise<{
  readonly faults: readonly string[];
  readonly states: Readonly<Record<string, number>>;
  readonly taken: ReadonlyMap<string, bigint>;
}> {
  const best = await chain.rpc.call<string>('getbestblockhash');
  const { made } = await model.stateAt(best);
  const outputs = Map.groupBy(await model.outputsTo(best, takers.receivers), ({ script }) => script);
  const faults = takers.refused
    .filter((script) => outputs.has(script))
    .map((script) => `a withdrawal to ${script} was refused, but it was sent`);
  const taken = new Map<string, bigint>();
  const states = new Map<string, number>();
  for (const withdrawal of takers.all) {
    const { shop } = takers.accounts.find(({ name }) => name === withdrawal.account)!;
    const path = `/tokenpay/user/withdrawal/${withdrawal.id}`;
    const { state, reason } = (await shop.ask<ShownWithdrawal>(path, null)).body;
    states.set(state, (states.get(state) ?? 0) + 1);
    const received = (outputs.get(withdrawal.script) ?? []).map((output) => ({
      ...output,
      runes: made.get(output.outpoint) ?? new Map<string, bigint>(),
    }));
    const why = reason === null ? '' : ` (${reason})`;
    faults.push(...withdrawalEndFaults(withdrawal, state, received).map((words) => `${words}${why}`));
    if (state !== 'completed') continue;
    for (const [token, units] of takenBy(withdrawal))
      addUnits(taken, balanceKey(withdrawal.account, token), units);
  }
  const { rows } = await pool.query<{ count: number }>(
    'SELECT count(*)::integer AS count FROM service.withdrawals',
  );
  if (rows[0]?.count !== takers.all.length)
    faults.push(`${takers.all.length} withdrawals were answered, and ${rows[0]?.count} are stored`);
  for (const { payout, kind, ...rest } of await auditPayouts({ database: pool, node: chain.rpc }))
    faults.push(`audit: ${kind} of the payout ${payout}: ${JSON.stringify(rest)}`);
  return { faults, states: Object.fromEntries(states), taken };
}
