import { readFile, writeFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { gunzipSync, gzipSync } from 'node:zlib';
import type pg from 'pg';
import { from, to } from 'pg-copy-streams';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import { connectClient } from '#kernel/pg/pool.ts';
import { allowChanges } from '../service-rows.ts';
import type { MadeOrder } from './orders-in-every-state.ts';

/** A stopped service: its rows, its wallet and its chain. */
export interface SavedService {
  /** The service's clock when it was saved, in milliseconds since 1970. */
  readonly savedAt: number;
  /** Migrations of schema `service` that had run when the rows were saved. */
  readonly migrations: readonly string[];
  /** Rows of each table in the format of COPY, and the names of its columns. */
  readonly tables: readonly { readonly name: string; readonly columns: string; readonly rows: string }[];
  readonly sequences: readonly { readonly name: string; readonly last: string; readonly called: boolean }[];
  /** Contents of the seed file, and the file's mark. */
  readonly seed: string;
  readonly mark: string;
  /** Blocks of the node from height 1 on, and its mempool. Each transaction comes after its inputs. In hex. */
  readonly blocks: readonly string[];
  readonly mempool: readonly string[];
  readonly orders: Readonly<Record<string, MadeOrder>>;
}

/** Reads a service whose processes are stopped. Its database and its node must run. */
export async function saveService(
  { superuserUrl, rpc, seedFile }: { superuserUrl: string; rpc: NodeRpc; seedFile: string },
  orders: SavedService['orders'],
): Promise<SavedService> {
  const client = await connectClient(superuserUrl);
  try {
    const { rows: migrations } = await client.query<{ name: string }>(
      'SELECT name FROM service.migrations ORDER BY id',
    );
    const tables = [];
    for (const { name, columns } of await tablesOf(client)) {
      const out = client.query(to(`COPY service.${name} (${columns}) TO STDOUT`));
      tables.push({ name, columns, rows: (await buffer(out)).toString('utf8') });
    }
    const { rows: sequences } = await client.query<{ name: string }>(
      `SELECT relname AS name FROM pg_class WHERE relnamespace = 'service'::regnamespace AND relkind = 'S' ORDER BY 1`,
    );
    const counted = [];
    for (const { name } of sequences) {
      const { rows } = await client.query<{ last: string; called: boolean }>(
        `SELECT last_value::text AS last, is_called AS called FROM service.${name}`,
      );
      counted.push({ name, ...rows[0]! });
    }
    return {
      savedAt: Date.now(),
      migrations: migrations.map(({ name }) => name),
      tables,
      sequences: counted,
      seed: await readFile(seedFile, 'utf8'),
      mark: await readFile(`${seedFile}.mark`, 'utf8'),
      ...(await chainOf(rpc)),
      orders,
    };
  } finally {
    await client.end();
  }
}

async function tablesOf(client: pg.Client): Promise<{ name: string; columns: string }[]> {
  const { rows } = await client.query<{ name: string; columns: string }>(
    `SELECT c.relname AS name, string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) AS columns
       FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
            AND a.attgenerated = ''
      WHERE c.relnamespace = 'service'::regnamespace AND c.relkind = 'r' AND c.relname <> 'migrations'
      GROUP BY c.relname ORDER BY c.relname`,
  );
  return rows;
}

async function chainOf(rpc: NodeRpc): Promise<Pick<SavedService, 'blocks' | 'mempool'>> {
  const tip = await rpc.call<number>('getblockcount');
  const blocks = [];
  for (let height = 1; height <= tip; height++) {
    const hash = await rpc.call<string>('getblockhash', [height]);
    blocks.push(await rpc.call<string>('getblock', [hash, 0]));
  }
  const entries = await rpc.call<Record<string, { ancestorcount: number }>>('getrawmempool', [true]);
  const ordered = Object.entries(entries).toSorted(([, a], [, b]) => a.ancestorcount - b.ancestorcount);
  const mempool = [];
  for (const [txid] of ordered) mempool.push(await rpc.call<string>('getrawtransaction', [txid]));
  return { blocks, mempool };
}

/**
 * Copies the rows into a database that has the same migrations of schema `service` and no rows. All times move forward,
 * as if the rows had just been saved.
 */
export async function loadRows(url: string, { tables, sequences, savedAt }: SavedService): Promise<void> {
  const client = await connectClient(url);
  try {
    // a real restore creates constraints and triggers only after the rows
    await client.query(`SET session_replication_role = 'replica'`);
    const refuseAgain = await allowChanges(client);
    for (const { name, columns, rows } of tables) {
      await client.query(`DELETE FROM service.${name}`);
      await pipeline(
        Readable.from([rows]),
        client.query(from(`COPY service.${name} (${columns}) FROM STDIN`)),
      );
    }
    for (const { name, columns } of await timesOf(client))
      await client.query(`UPDATE service.${name} SET ${columns}`, [Date.now() - savedAt]);
    await refuseAgain();
    for (const { name, last, called } of sequences)
      await client.query('SELECT setval($1, $2, $3)', [`service.${name}`, last, called]);
  } finally {
    await client.end();
  }
}

/** Tables that contain times, with SQL assignments that move these times forward by some milliseconds. */
async function timesOf(client: pg.Client): Promise<{ name: string; columns: string }[]> {
  const { rows } = await client.query<{ name: string; columns: string }>(
    `SELECT c.relname AS name,
            string_agg(format('%1$I = %1$I + $1 * interval ''1 millisecond''', a.attname), ', ') AS columns
       FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
      WHERE c.relnamespace = 'service'::regnamespace AND c.relkind = 'r' AND c.relname <> 'migrations'
        AND a.atttypid = 'timestamptz'::regtype AND a.attgenerated = ''
      GROUP BY c.relname`,
  );
  return rows;
}

/** Loads the chain into an empty node, and tries to send the mempool's transactions. */
export async function loadChain(rpc: NodeRpc, { blocks, mempool }: SavedService): Promise<void> {
  for (const block of blocks) {
    const refusal = await rpc.call<string | null>('submitblock', [block]);
    if (refusal !== null) throw new Error(`a saved block is refused: ${refusal}`);
  }
  // a refusal is ignored, because the service sends its own transactions again
  for (const made of mempool)
    await rpc.call('sendrawtransaction', [made, 0, 21_000_000]).catch(() => undefined);
}

export const writeSaved = (path: string, saved: SavedService): Promise<void> =>
  writeFile(path, gzipSync(JSON.stringify(saved), { level: 9 }));
export const readSaved = async (path: string): Promise<SavedService> =>
  JSON.parse(gunzipSync(await readFile(path)).toString('utf8')) as SavedService;
