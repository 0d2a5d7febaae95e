import type pg from 'pg';
import { hexOf } from '#orders/ledger/settlements.ts';
import { fundsWatcher } from '#orders/watching/watchers.ts';
import { readPayments } from '#payments/payments.queries.ts';
import { nextBlock, watchScripts } from '#payments/store/watches.store.ts';

/** An address of the wallet to which the operator sends coins. */
export interface FundAddress {
  /** Index of the address's key in branch 1. */
  readonly ownIndex: number;
  readonly script: Buffer;
  readonly address: string;
}

/** Stores an address, and watches it from the next block on. The address must be committed before anyone sees it. */
export async function insertFundAddress(
  tx: pg.ClientBase,
  { ownIndex, script, address }: Omit<FundAddress, 'script'> & { readonly script: Uint8Array },
): Promise<void> {
  await tx.query('INSERT INTO service.fund_addresses (own_index, script, address) VALUES ($1, $2, $3)', [
    ownIndex,
    Buffer.from(script),
    address,
  ]);
  await watchScripts(tx, fundsWatcher, [{ script, sinceHeight: nextBlock }]);
}

/** Key indices of the addresses for funds, by script in hex. */
export async function readFundKeys(client: pg.ClientBase): Promise<ReadonlyMap<string, number>> {
  const { rows } = await client.query<{ own_index: number; script: Buffer }>(
    'SELECT own_index, script FROM service.fund_addresses',
  );
  return new Map(rows.map(({ own_index: index, script }) => [hexOf(script), index]));
}

/** The newest address without a payment; null if there is no such address. */
export async function unusedFundAddress(tx: pg.ClientBase): Promise<string | null> {
  const { rows } = await tx.query<{ script: Buffer; address: string }>(
    'SELECT script, address FROM service.fund_addresses ORDER BY created_at DESC, own_index DESC',
  );
  const paid = new Set((await readPayments(tx, fundsWatcher)).map(({ script }) => hexOf(script)));
  return rows.find(({ script }) => !paid.has(hexOf(script)))?.address ?? null;
}
