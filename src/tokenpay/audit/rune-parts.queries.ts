import type pg from 'pg';
import type { Txid } from '#kernel/primitives/hash.ts';
import { asRune } from '#kernel/runes/rune.ts';
import { formatSpacedRune } from '#kernel/runes/spaced-rune.ts';

/** State of an output at the address of a charge: not credited yet, set aside, or credited. */
export type OutputOutcome = 'waiting' | 'aside' | 'credited';

/** The parts of the units of a rune at addresses of charges, in base units. */
export interface RuneParts {
  readonly etching: Txid;
  /** Number in service.assets, or null if the rune was never credited. */
  readonly asset: number | null;
  /** Name of the rune with spacers. */
  readonly name: string;
  readonly divisibility: number;
  /** Sum of the account balances above 0. */
  readonly liabilities: bigint;
  /** Sum of the account balances below 0, as a positive number. */
  readonly debts: bigint;
  readonly aside: bigint;
  /** Units in a block that are not credited yet. */
  readonly waiting: bigint;
  /** Units in unspent outputs, according to the index. */
  readonly held: bigint;
}

/**
 * Units of a rune in an unspent output at the address of a charge, or in change of withdrawals, according to the index.
 */
export interface HeldRune {
  readonly txid: Txid;
  readonly vout: number;
  readonly etching: Txid;
  readonly amount: bigint;
}

/**
 * SQL: the outcome of an output. `credit` is the name of the output's row of service.token_credits, which may be
 * missing.
 */
export const outcomeOf = (credit: string): string =>
  `CASE WHEN ${credit}.txid IS NULL THEN 'waiting' WHEN ${credit}.aside IS NULL THEN 'credited' ELSE 'aside' END`;

/** SQL: change of batches of withdrawals that is held for accounts, with its keys. */
export const leftByWithdrawals = `(SELECT txid, vout, branch, key_index FROM service.wallet_coins
   WHERE kind = 'payout' AND held = 'accounts')`;

/**
 * SQL: runes in held outputs. Each charge and each change of withdrawals is looked up in the index, which takes a tenth
 * of a second for 10,000 orders.
 */
const heldRunes = `SELECT b.txid, b.vout, r.txid AS etching, r.rune, r.spacers, r.divisibility, b.amount, ${outcomeOf('c')} AS outcome
    FROM service.token_charges AS t
    JOIN chain.rune_balances AS b ON chain.hash32(b.script) = chain.hash32(t.script) AND b.script = t.script
     AND b.spent_height IS NULL
    JOIN chain.runes AS r ON r.key = b.rune_key
    LEFT JOIN service.token_credits AS c ON c.txid = b.txid AND c.vout = b.vout
  UNION ALL
  SELECT b.txid, b.vout, r.txid AS etching, r.rune, r.spacers, r.divisibility, b.amount, 'credited' AS outcome
    FROM ${leftByWithdrawals} AS w
    JOIN service.payments_seen AS p ON p.txid = w.txid AND p.vout = w.vout
    JOIN chain.rune_balances AS b ON chain.hash32(b.script) = chain.hash32(p.script) AND b.script = p.script
     AND b.txid = w.txid AND b.vout = w.vout AND b.spent_height IS NULL
    JOIN chain.runes AS r ON r.key = b.rune_key`;

/** Reads the parts of each rune that accounts or addresses of charges hold. The etching identifies the rune. */
export async function runeParts(client: pg.ClientBase): Promise<RuneParts[]> {
  const { rows } = await client.query<
    Pick<RuneParts, 'etching' | 'asset' | 'divisibility'> & {
      rune: string;
      spacers: number | null;
      name: string | null;
      liabilities: string;
      debts: string;
      aside: string;
      waiting: string;
      held: string;
    }
  >(
    `WITH held AS (
       SELECT etching, rune, spacers, divisibility, sum(amount) AS amount,
              sum(amount) FILTER (WHERE outcome = 'aside') AS aside,
              sum(amount) FILTER (WHERE outcome = 'waiting') AS waiting
         FROM (${heldRunes}) AS h GROUP BY etching, rune, spacers, divisibility
     ), ledger AS (
       SELECT a.etching, a.rune, a.id AS asset, sum(greatest(b.amount, 0)) AS liabilities, sum(greatest(-b.amount, 0)) AS debts
         FROM service.token_balances AS b JOIN service.assets AS a ON a.id = b.asset
        WHERE a.id <> 0 AND b.amount <> 0 GROUP BY a.etching, a.rune, a.id)
     SELECT etching, rune::text, held.spacers, ledger.asset, n.name,
            coalesce(held.divisibility, n.divisibility, 0)::integer AS divisibility,
            coalesce(ledger.liabilities, 0)::text AS liabilities, coalesce(ledger.debts, 0)::text AS debts,
            coalesce(held.aside, 0)::text AS aside, coalesce(held.waiting, 0)::text AS waiting,
            coalesce(held.amount, 0)::text AS held
       FROM held FULL JOIN ledger USING (etching, rune)
       LEFT JOIN service.token_runes AS n ON n.asset = ledger.asset
      ORDER BY rune, etching`,
  );
  return rows.map(({ etching, asset, divisibility, rune, spacers, name, ...amounts }) => ({
    etching,
    asset,
    divisibility,
    name:
      spacers === null && name !== null
        ? name
        : formatSpacedRune({ rune: asRune(BigInt(rune)), spacers: spacers ?? 0 }),
    liabilities: BigInt(amounts.liabilities),
    debts: BigInt(amounts.debts),
    aside: BigInt(amounts.aside),
    waiting: BigInt(amounts.waiting),
    held: BigInt(amounts.held),
  }));
}

/** Reads the units of each output. The sum for a rune is its `held`. */
export async function readHeldRunes(client: pg.ClientBase): Promise<HeldRune[]> {
  const { rows } = await client.query<Omit<HeldRune, 'amount'> & { amount: string }>(
    `SELECT txid, vout, etching, amount::text AS amount FROM (${heldRunes}) AS h`,
  );
  return rows.map(({ amount, ...row }) => ({ ...row, amount: BigInt(amount) }));
}
