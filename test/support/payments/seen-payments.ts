import type pg from 'pg';
import { expect } from 'vitest';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import type { RpcTransaction } from '#test/support/node/rpc-transaction.ts';

/** Chain and mempool of a node, read with calls that the product does not use. */
export interface ScannedNode {
  readonly tip: string;
  readonly transactions: readonly {
    readonly tx: RpcTransaction;
    readonly height: number | null;
    readonly hash: string | null;
  }[];
}

/** Reads all blocks and the complete mempool of a node, at one moment. */
export async function scanNode(rpc: NodeRpc, known: Map<string, RpcTransaction[]>): Promise<ScannedNode> {
  for (;;) {
    const tip = await rpc.call<string>('getbestblockhash');
    const transactions: ScannedNode['transactions'][number][] = [];
    const pool = await rpc.call<string[]>('getrawmempool');
    for (const txid of pool) {
      const tx = await rpc.call<RpcTransaction>('getrawtransaction', [txid, 1]);
      transactions.push({ tx, height: null, hash: null });
    }
    const count = await rpc.call<number>('getblockcount');
    for (let height = 1; height <= count; height++) {
      const hash = await rpc.call<string>('getblockhash', [height]);
      let txs = known.get(hash);
      if (txs === undefined) {
        txs = (await rpc.call<{ tx: RpcTransaction[] }>('getblock', [hash, 2])).tx;
        known.set(hash, txs);
      }
      for (const tx of txs) transactions.push({ tx, height, hash });
    }
    if ((await rpc.call<string>('getbestblockhash')) === tip) return { tip, transactions };
  }
}

interface SeenRow {
  readonly txid: Buffer;
  readonly vout: number;
  readonly script: Buffer;
  readonly value: number;
  readonly height: number | null;
  readonly hash: Buffer | null;
  readonly gone: boolean;
  readonly replaced_by: Buffer | null;
}

const line = (
  txid: string,
  vout: number,
  script: string,
  value: number,
  height: number | null,
  hash: string | null,
) => `${txid}:${vout} ${script} ${value} ${height ?? 'mempool'} ${hash ?? ''}`;

/** Throws unless the tables equal a scan of the node for the watched scripts. */
export async function expectSeen(
  pool: pg.Pool,
  rpc: NodeRpc,
  known: Map<string, RpcTransaction[]>,
): Promise<{ readonly there: number; readonly gone: number; readonly replaced: number }> {
  const { tip, transactions } = await scanNode(rpc, known);
  const offset = await pool.query<{ hash: Buffer }>('SELECT hash FROM service.payments_offset');
  expect(offset.rows.map(({ hash }) => displayHash(hash))).toEqual([tip]);
  const watches = await pool.query<{ script: Buffer; since: number }>(
    'SELECT script, min(since_height) AS since FROM service.watched_scripts GROUP BY script',
  );
  const since = new Map(watches.rows.map((row) => [row.script.toString('hex'), row.since]));
  const expected = transactions.flatMap(({ tx, height, hash }) =>
    tx.vout.flatMap(({ n, value, scriptPubKey: { hex } }) => {
      const from = since.get(hex);
      if (from === undefined || (height !== null && height < from)) return [];
      return [line(tx.txid, n, hex, Math.round(value * 1e8), height, hash)];
    }),
  );
  const { rows } = await pool.query<SeenRow>(
    `SELECT txid, vout, script, value, height, hash, gone_at IS NOT NULL AS gone, replaced_by FROM service.payments_seen`,
  );
  const there = rows
    .filter(({ gone }) => !gone)
    .map(({ txid, vout, script, value, height, hash }) =>
      line(
        displayHash(txid),
        vout,
        script.toString('hex'),
        value,
        height,
        hash === null ? null : displayHash(hash),
      ),
    );
  expect(there.toSorted()).toEqual(expected.toSorted());
  const gone = rows.filter((row) => row.gone);
  await expectReplaced(pool, gone, transactions);
  return {
    there: there.length,
    gone: gone.length,
    replaced: gone.filter((row) => row.replaced_by !== null).length,
  };
}

/**
 * Checks that a gone payment is neither in the chain nor in the mempool. It must name the transaction that spent its
 * inputs, if there is one.
 */
async function expectReplaced(
  pool: pg.Pool,
  gone: readonly SeenRow[],
  transactions: ScannedNode['transactions'],
): Promise<void> {
  const here = new Set(transactions.map(({ tx }) => tx.txid));
  const spent = new Set(transactions.flatMap(({ tx }) => tx.vin.map(({ txid, vout }) => `${txid}:${vout}`)));
  for (const { txid, replaced_by: replacedBy } of gone) {
    expect(here).not.toContain(displayHash(txid));
    const { rows } = await pool.query<{ outpoints: Buffer }>(
      'SELECT outpoints FROM service.payment_inputs WHERE txid = $1 AND spender = $1',
      [txid],
    );
    expect(rows).toHaveLength(1);
    // a coinbase spends no outputs
    const outpoints = rows[0]?.outpoints ?? Buffer.alloc(0);
    for (let at = 0; at < outpoints.length; at += 36) {
      const outpoint = `${displayHash(outpoints.subarray(at, at + 32))}:${outpoints.readUInt32LE(at + 32)}`;
      if (spent.has(outpoint)) expect(replacedBy, `${displayHash(txid)} spends ${outpoint}`).not.toBeNull();
    }
  }
}
