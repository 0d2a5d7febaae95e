import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { satsOfBitcoins } from '#kernel/bitcoin/amount.ts';
import { inLanes } from '#kernel/concurrency/in-lanes.ts';
import type { BatchRpc } from '#kernel/contracts/node.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { agreedTip } from './audit.queries.ts';
import type { Coin, Unspent } from './audited-order.ts';

/** The two sides that an audit compares: the database and the node. */
export interface ComparedParts {
  /** Connection with the right to read all tables of the schemas `chain` and `service`. */
  readonly database: pg.Pool | pg.ClientBase;
  readonly node: BatchRpc;
  readonly signal?: AbortSignal;
}

/**
 * Maximum number of attempts to find the index, the payments and the node at the same block, and the pause between
 * attempts in ms. They usually reach the same block within two seconds.
 */
const tipTries = 60;
const tipTryMs = 500;

export const snapshot = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY';

/**
 * Reads rows and asks the node about outputs, all at the same block. Throws `audit_impossible` if the index, the
 * payments and the node do not reach the same block in time.
 */
export async function atOneBlock<Read>(
  { database, node, signal }: ComparedParts,
  readRows: (tx: pg.ClientBase) => Promise<Read>,
  questions: (read: Read) => readonly string[],
): Promise<{ readonly read: Read; readonly unspent: Unspent }> {
  for (let tries = 0; tries < tipTries; tries++) {
    if (tries > 0) await sleep(tipTryMs, undefined, signal === undefined ? {} : { signal });
    const found = await withTransaction(database, (tx) => readAt(tx, readRows), snapshot);
    if (found === null) continue;
    const unspent = await unspentOf(node, questions(found.read), signal);
    // if the tip changed meanwhile, the rows and the node's answers may belong to different chains
    if ((await bestBlock(node)) === found.tip) return { read: found.read, unspent };
  }
  throw new AppError(
    'audit_impossible',
    'Orders cannot be compared with the chain, because the index, the payments and the node were never at the same block.',
  );
}

async function readAt<Read>(
  tx: pg.ClientBase,
  readRows: (tx: pg.ClientBase) => Promise<Read>,
): Promise<{ readonly tip: string; readonly read: Read } | null> {
  const tip = await agreedTip(tx);
  return tip === null ? null : { tip, read: await readRows(tx) };
}

/**
 * Maximum number of concurrent calls. A node before Bitcoin Core 29 processes only 4 calls at a time by default, and
 * other callers need it, too.
 */
const lanes = 2;
/**
 * Maximum number of outputs in one request. The node needs about 10 µs per output; separate requests would take 30
 * times as long.
 */
const askedAtOnce = 100;

/** Outputs that are unspent in the node's best chain. Transactions in the mempool are ignored. */
async function unspentOf(
  node: BatchRpc,
  outpoints: readonly string[],
  signal?: AbortSignal,
): Promise<ReadonlyMap<string, Coin>> {
  const starts = Array.from({ length: Math.ceil(outpoints.length / askedAtOnce) }, (_, n) => n * askedAtOnce);
  const found = await inLanes(starts, lanes, async (start): Promise<Coin[]> => {
    const asked = outpoints.slice(start, start + askedAtOnce);
    const calls = asked.map((outpoint) => {
      const [txid, vout] = outpoint.split(':');
      return { method: 'gettxout', parameters: [txid, Number(vout), false] };
    });
    const outputs = await node.batch<TxOut | null>(calls, signal === undefined ? {} : { signal });
    return asked.flatMap((outpoint, place): Coin[] => {
      const output = outputs[place] ?? null;
      if (output === null) return [];
      const { value, scriptPubKey } = output;
      return [{ outpoint, value: BigInt(satsOfBitcoins(value)), script: scriptPubKey.hex }];
    });
  });
  return new Map(found.flat().map((coin) => [coin.outpoint, coin]));
}

interface TxOut {
  /** In bitcoins. */
  readonly value: number;
  readonly scriptPubKey: { readonly hex: string };
}

const bestBlock = (node: BatchRpc): Promise<string> => node.call<string>('getbestblockhash');
