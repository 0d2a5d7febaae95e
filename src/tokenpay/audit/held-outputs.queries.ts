import { strict as assert } from 'node:assert';
import type pg from 'pg';
import { hasAddressIndex } from '#chain/outputs/address.queries.ts';
import { scriptToAddress } from '#kernel/bitcoin/address.ts';
import type { WalletKey } from '#kernel/contracts/transaction-plan.ts';
import type { Txid } from '#kernel/primitives/hash.ts';
import { networks } from '#kernel/primitives/network.ts';
import { outpointOf } from '#purse/transactions/outpoint.ts';
import { spentByMined } from '#purse/transactions/spent-by-mined.queries.ts';
import { readWallet } from '#wallet/wallet.store.ts';
import { leftByWithdrawals, type OutputOutcome, outcomeOf } from './rune-parts.queries.ts';

/** An unspent output of a block at the address of a charge, or change of a batch of withdrawals. */
export interface HeldOutput {
  readonly txid: Txid;
  readonly vout: number;
  readonly address: string;
  /** The key of the output's address in the wallet. */
  readonly key: WalletKey;
  readonly sats: bigint;
  readonly outcome: OutputOutcome;
}

/**
 * Reads unspent outputs of blocks at addresses of charges, and change of withdrawals. With the index of addresses, all
 * such outputs are found. Without this index, an output is treated as held until a transaction of the service that
 * spends it is in a block.
 */
export async function readHeldOutputs(client: pg.ClientBase): Promise<HeldOutput[]> {
  const { rows } = await client.query<HeldRow>(
    `SELECT p.*, p.value::text AS sats
       FROM (SELECT p.txid, p.vout, p.script, p.value, ${branchOf} AS branch, t.key_index, ${outcomeOf('c')} AS outcome
               FROM service.token_charges AS t
               JOIN service.payments_seen AS p ON p.script = t.script AND p.height IS NOT NULL
               LEFT JOIN service.token_credits AS c ON c.txid = p.txid AND c.vout = p.vout
             UNION ALL
             SELECT p.txid, p.vout, p.script, p.value, w.branch, w.key_index, 'credited'
               FROM ${leftByWithdrawals} AS w
               JOIN service.payments_seen AS p ON p.txid = w.txid AND p.vout = w.vout AND p.height IS NOT NULL) AS p
      WHERE NOT $1 OR EXISTS (
        SELECT FROM chain.outputs AS o
         WHERE chain.hash64(o.txid, o.vout) = chain.hash64(p.txid, p.vout) AND o.txid = p.txid AND o.vout = p.vout
           AND o.spent_height IS NULL)`,
    [await hasAddressIndex(client)],
  );
  const spent = await spentByMined(
    client,
    rows.map(({ txid }) => txid),
  );
  const gone = new Set(spent.map(outpointOf));
  const there = rows.filter((row) => !gone.has(outpointOf(row)));
  if (there.length === 0) return [];
  const wallet = await readWallet(client);
  assert(wallet !== null, 'a database with keys of the wallet has the wallet');
  const network = networks[wallet.network];
  return there.map(({ txid, vout, script, branch, key_index: index, sats, outcome }) => {
    const address = scriptToAddress(script, network);
    assert(address !== null, 'scripts of the wallet have addresses');
    return { txid, vout, address, key: { branch, index }, sats: BigInt(sats), outcome };
  });
}

interface HeldRow {
  readonly txid: Txid;
  readonly vout: number;
  readonly script: Buffer;
  readonly branch: WalletKey['branch'];
  readonly key_index: number;
  readonly sats: string;
  readonly outcome: OutputOutcome;
}

/** SQL: the wallet branch of a charge's key (src/tokenpay/creating). */
const branchOf = `CASE t.kind WHEN 'fee' THEN 3 ELSE 0 END`;

/**
 * Sats of base fees that shop orders paid. They are held until the order ends, and are revenue afterwards. Includes the
 * fees that accounts paid for withdrawals, less the operator's costs for withdrawals.
 */
export async function readTokenFees(client: pg.ClientBase): Promise<bigint> {
  const { rows } = await client.query<{ sats: string }>(
    `SELECT (coalesce(sum(amount) FILTER (WHERE to_account IN ('owed', 'service', 'operator')), 0)
           - coalesce(sum(amount) FILTER (WHERE from_account IN ('owed', 'service', 'operator')), 0))::text AS sats
       FROM service.ledger_entries WHERE subject_kind IN ('token-order', 'withdrawal') AND asset = 0`,
  );
  return BigInt(rows[0]?.sats ?? 0);
}
