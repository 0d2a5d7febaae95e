import type pg from 'pg';
import { hardcodedRunes } from '#indexer/ledger/runes/rune-entry.ts';
import { TrackedOutputs } from '#indexer/ledger/tracked-outputs.ts';
import {
  type FingerprintKey,
  fingerprint,
  fingerprintOutpoint,
} from '#indexer/transaction/outpoint-fingerprint.ts';
import { readCopy } from '#kernel/pg/copy-read.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { maxHeight } from '#kernel/primitives/height.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import type { DerivedChain, DerivedMemory, UndoneOutpoints } from '../derived-table.ts';
import { RecentBlocks } from './recent-blocks.ts';
import { RecentRunes } from './recent-runes.ts';

const hashLength = 32;
const outpointLength = 36;
const rowBytes = 2 + (4 + hashLength) + (4 + 4);

/** The position after the last block with rows of runes. */
export interface RunePosition {
  /** Height of the last block; -1: no block. */
  readonly height: number;
  /** Whether all runes are known after it. */
  readonly anchored: boolean;
  readonly nextKey: number;
}

/** The position after the last block below a height. */
export async function readRunePosition(
  client: pg.ClientBase,
  below: number,
  { name }: NetworkParameters,
): Promise<RunePosition> {
  const { rows } = await client.query<{ height: number; anchored: boolean; next_key: number }>(
    'SELECT height, anchored, next_key FROM chain.rune_blocks WHERE height < $1 ORDER BY height DESC LIMIT 1',
    [below],
  );
  const [row] = rows;
  if (row === undefined) return { height: -1, anchored: false, nextKey: hardcodedRunes(name).length };
  return { height: row.height, anchored: row.anchored, nextKey: row.next_key };
}

/**
 * The writer's in-memory state of runes: fingerprints of unspent outputs with runes (15 bytes per rune and output), the
 * newest of those outputs, the number of runes, and the last blocks.
 */
export class RuneMemory implements DerivedMemory {
  readonly tracked = new TrackedOutputs();
  readonly recent = new RecentBlocks();
  readonly newest: RecentRunes;
  /** True if the indexes that questions need exist. */
  hasAskedIndexes = false;
  /** Null: it must be read again because blocks were taken back. */
  position: RunePosition | null = null;
  readonly #key: FingerprintKey;

  constructor({ fingerprintKey, cacheEntries }: Pick<DerivedChain, 'fingerprintKey' | 'cacheEntries'>) {
    this.#key = fingerprintKey;
    this.newest = new RecentRunes(cacheEntries);
  }

  /** Reads the state from the rows. Each row costs 8 bytes of memory here and 40 bytes in the connection. */
  static async open(client: pg.ClientBase, chain: DerivedChain): Promise<RuneMemory> {
    const memory = new RuneMemory(chain);
    const outpoint = Buffer.alloc(outpointLength);
    // read the whole table in its stored order: the session's settings would otherwise use an index
    const begin = 'BEGIN READ ONLY; SET LOCAL enable_seqscan = on; SET LOCAL enable_indexscan = off';
    const query = 'SELECT txid, vout FROM chain.rune_balances WHERE spent_height IS NULL';
    await withTransaction(
      client,
      (tx) =>
        readCopy(tx, query, rowBytes, (bytes, at) => {
          bytes.copy(outpoint, 0, at + 4, at + 4 + hashLength);
          outpoint.writeInt32LE(bytes.readInt32BE(at + 4 + hashLength + 4), hashLength);
          memory.#add(outpoint, 0);
        }),
      begin,
    );
    memory.position = await readRunePosition(client, maxHeight, chain.network);
    return memory;
  }

  unlearn({ made, spent }: UndoneOutpoints): void {
    for (let at = 0; at < made.length; at += outpointLength) {
      this.#fingerprint(made, at);
      this.tracked.remove(fingerprint.low, fingerprint.high);
    }
    for (let at = 0; at < spent.length; at += outpointLength) this.#add(spent, at);
    this.newest.forget();
    this.position = null;
  }

  #add(outpoints: Uint8Array, at: number): void {
    this.#fingerprint(outpoints, at);
    this.tracked.add(fingerprint.low, fingerprint.high);
  }

  #fingerprint(outpoints: Uint8Array, at: number): void {
    const { buffer, byteOffset, byteLength } = outpoints;
    fingerprintOutpoint(new DataView(buffer, byteOffset, byteLength), at, this.#key);
  }
}
