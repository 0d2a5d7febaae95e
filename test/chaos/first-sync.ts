import type pg from 'pg';
import { migrate } from '#kernel/pg/migrate.ts';
import { seams } from '#kernel/process/failpoint.ts';
import { freePort } from '#kernel/process/free-port.ts';
import { type Random, shuffled } from '#test/builders/random.ts';
import { compareDumps, differences } from './checks/compare.ts';
import type { ChaosDatabase } from './processes/chaos-database.ts';
import type { SeamArmed } from './processes/indexer-process.ts';
import { Supervisor } from './processes/supervisor.ts';

/** Some seams, each once, in random order. They are spread over a first sync of this number of batches. */
export function killsOfFirstSync(random: Random, batches: number, count: number): SeamArmed[] {
  // each start continues where the last start was killed, and the last load must be killed too
  const passesMax = Math.max(1, Math.floor(batches / (count + 2)));
  return shuffled(random, seams)
    .slice(0, count)
    .map((name) => ({ name, passes: 1 + random.below(passesMax), how: 'overlapped' }));
}

export interface FirstSync {
  /** Name of the database, and of the log. */
  readonly name: string;
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly kills: readonly SeamArmed[];
  readonly database: ChaosDatabase;
  /** An index of the same chain that was not killed. */
  readonly clean: pg.Pool;
  readonly caughtUp: () => Promise<void>;
}

/**
 * Runs a first sync that is killed at seams, and returns its differences from a clean index. Neither index has ever
 * taken blocks back.
 */
export async function killedFirstSync({
  name,
  folder,
  env,
  kills,
  database,
  clean,
  caughtUp,
}: FirstSync): Promise<{ readonly found: string[]; readonly killed: Supervisor }> {
  await database.create(name);
  await migrate(database.directUrl(name));
  const settings = { ...env, ...database.directSettings(name), PORT: String(await freePort()) };
  const killed = new Supervisor({ name, folder, env: settings }, kills);
  const pool = database.pool(name);
  try {
    await caughtUp();
    const found = await compareDumps(pool, clean);
    const missed = kills.filter(({ name: seam }) => killed.overlaps.get(seam) !== 1);
    found.push(...missed.map((kill) => `first sync: not killed at ${kill.name}`));
    found.push(...differences('outbox of a first sync', await outboxOf(pool), await outboxOf(clean)));
    return { found, killed };
  } finally {
    await killed.stop();
    await pool.end();
  }
}

async function outboxOf(pool: pg.Pool): Promise<string[]> {
  const { rows } = await pool.query<{ line: string }>(
    'SELECT ROW(sequence, height, block_hash, cancels, event_count, md5(events))::text AS line FROM chain.outbox',
  );
  return rows.map(({ line }) => line);
}
