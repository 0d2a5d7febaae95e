import { strict as assert } from 'node:assert';
import type pg from 'pg';
import { outpointLength, outpointWords } from '#indexer/ledger/sats/sat-outputs.ts';
import { viewOf } from '#indexer/ledger/view-of.ts';
import type { FingerprintKey } from '#indexer/transaction/outpoint-fingerprint.ts';
import { copyBinary, encoderOf } from '#kernel/pg/copy-binary.ts';
import { maxHeight } from '#kernel/primitives/height.ts';
import { unpackPairs } from '#kernel/sats/packed-ranges.ts';
import type { DerivedChain, DerivedMemory } from '../derived-table.ts';
import { encodeHeld, packedOutputs, satTargets } from './sat-encoding.ts';
import { SatMemory } from './sat-memory.ts';
import { lowOf, readSatTotals } from './sat-question.ts';

/** Reads the writer's in-memory state. After an interrupted load, this includes the outputs without rows. */
export async function openSatMemory(
  client: pg.ClientBase,
  { cacheEntries, fingerprintKey }: Pick<DerivedChain, 'cacheEntries' | 'fingerprintKey'>,
): Promise<SatMemory> {
  const { rows } = await client.query<RecentRow>(
    'SELECT height, written_below, made, spent FROM chain.recent_sats ORDER BY height',
  );
  const last = rows.at(-1);
  const memory = new SatMemory(last?.written_below ?? (await heightToCome(client)), cacheEntries);
  memory.totals = await readSatTotals(client, maxHeight);
  for (const row of rows) recall(memory, row, fingerprintKey);
  return memory;
}

interface RecentRow {
  readonly height: number;
  readonly written_below: number;
  readonly made: Buffer;
  readonly spent: Buffer;
}

/** For outputs without rows: adds the outputs that a batch left and removes the outputs that it spent. */
function recall(memory: SatMemory, { made, spent }: RecentRow, key: FingerprintKey): void {
  const words = new Int32Array(outpointWords);
  const spends = viewOf(spent);
  for (let at = 0; at < spent.length; at += outpointLength) {
    const low = lowOf(spends, at, key, words);
    memory.spend(low, words);
  }
  const outputs = viewOf(made);
  for (const { at, height, count, rangesAt } of packedOutputs(outputs)) {
    if (height < memory.writtenBelow) continue;
    const low = lowOf(outputs, at, key, words);
    memory.make(low, words, height, { pairs: unpackPairs(made, rangesAt, count), first: 0, count });
  }
}

async function heightToCome(client: pg.ClientBase): Promise<number> {
  const { rows } = await client.query<{ height: number }>(
    'SELECT coalesce(tip_height, -1) + 1 AS height FROM chain.state',
  );
  return rows[0]?.height ?? 0;
}

/** Writes rows for outputs without rows, after the end of a load. */
export async function writeRecent(tx: pg.ClientBase, memory: DerivedMemory | null): Promise<void> {
  assert(memory instanceof SatMemory, 'the memory of sats');
  const out = encoderOf(satTargets.ranges);
  for (const row of memory.between(memory.writtenBelow, maxHeight)) encodeHeld(out, memory.outputs, row);
  if (out.rows > 0) await copyBinary(tx, satTargets.ranges, out);
  await tx.query('DELETE FROM chain.recent_sats');
  memory.allWritten();
}
