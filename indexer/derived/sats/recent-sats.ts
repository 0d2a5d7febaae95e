import { strict as assert } from 'node:assert';
import type pg from 'pg';
import type { HeldSats } from '#indexer/ledger/sats/sat-state.ts';
import { copyBinary, encoderOf } from '#kernel/pg/copy-binary.ts';
import { maxHeight } from '#kernel/primitives/height.ts';
import type { DerivedChain, DerivedMemory } from '../derived-table.ts';
import { encodeHeld, satTargets, unpackNames, unpackOutputs } from './sat-encoding.ts';
import { SatMemory } from './sat-memory.ts';
import { readSatTotals } from './sat-question.ts';

/** Reads what the writer remembers: of a load that was interrupted, also the outputs that have no rows yet. */
export async function openSatMemory(
  client: pg.ClientBase,
  { cacheEntries }: Pick<DerivedChain, 'cacheEntries'>,
): Promise<SatMemory> {
  const { rows } = await client.query<RecentRow>(
    'SELECT height, written_below, made, spent FROM chain.recent_sats ORDER BY height',
  );
  const last = rows.at(-1);
  const memory = new SatMemory(last?.written_below ?? (await heightToCome(client)), cacheEntries);
  memory.totals = await readSatTotals(client, maxHeight);
  for (const row of rows) memory.learn(batchOf(row, memory.writtenBelow), memory.writtenBelow);
  return memory;
}

interface RecentRow {
  readonly height: number;
  readonly written_below: number;
  readonly made: Buffer;
  readonly spent: Buffer;
}

function batchOf({ height, made, spent }: RecentRow, writtenBelow: number) {
  const left = unpackOutputs(made).filter(({ held }) => held.height >= writtenBelow);
  return {
    left: left.map(({ name, held }): [string, HeldSats] => [name, held]),
    spent: unpackNames(spent),
    height,
    numbers: left.reduce((sum, { held }) => sum + held.pairs.length, 0),
  };
}

async function heightToCome(client: pg.ClientBase): Promise<number> {
  const { rows } = await client.query<{ height: number }>(
    'SELECT coalesce(tip_height, -1) + 1 AS height FROM chain.state',
  );
  return rows[0]?.height ?? 0;
}

/** A load has ended: the outputs that have no rows get them. */
export async function writeRecent(tx: pg.ClientBase, memory: DerivedMemory | null): Promise<void> {
  assert(memory instanceof SatMemory, 'the memory of sats');
  const out = encoderOf(satTargets.ranges);
  for (const [name, held] of memory.between(memory.writtenBelow, maxHeight)) encodeHeld(out, name, held);
  if (out.rows > 0) await copyBinary(tx, satTargets.ranges, out);
  await tx.query('DELETE FROM chain.recent_sats');
  memory.allWritten();
}
