import { setTimeout as delay } from 'node:timers/promises';
import { isOverlapped, type Seam, seams } from '#kernel/process/failpoint.ts';
import type { Parts } from './faults.ts';
import type { ChaosDatabase } from './processes/chaos-database.ts';

/** A seam of overlapped batches. The process kills itself there, or is held there while its database fails. */
export interface SeamAim {
  readonly name: Seam;
  readonly how: 'overlapped' | 'held';
}

export const seamAims: readonly SeamAim[] = seams.flatMap((name) => [
  { name, how: 'overlapped' as const },
  { name, how: 'held' as const },
]);

/** Number of batches of a load. The batch at the seam is in the first half. */
const batchesToCome = 12;
const hitWithinMs = 25_000;
const hitTriesMax = 4;
const lookEveryMs = 50;

/** Faults of the database while the process is held. Each function settles when the database works again. */
const faults: readonly ((database: ChaosDatabase, name: string, downMs: number) => Promise<void>)[] = [
  (database, name) => database.terminate(name),
  async (database) => database.proxy.cut(),
  (database, _, downMs) => database.restart(downMs),
  (database, _, downMs) => database.crash('SIGQUIT', downMs),
  (database, _, downMs) => database.crash('SIGKILL', downMs),
];

/**
 * Lets a load reach a seam while its next batch is decided, and fail there. Returns the fault in words; `null` if there
 * was no fault. Sometimes the load follows a reorganisation.
 */
export async function aimAtSeam(parts: Parts, aim: SeamAim, batchBlocks: number): Promise<string | null> {
  const { node, random, indexer } = parts;
  const blocks = batchBlocks * batchesToCome;
  for (let tries = 0; tries < hitTriesMax; tries++) {
    const depth = random.unit() < 0.4 ? 1 + random.below(Math.min(20, node.tip.height - 101)) : 0;
    const passes = 1 + random.below(batchesToCome / 2);
    const before = indexer.overlaps.get(aim.name) ?? 0;
    const mine = (): Promise<void> => (depth === 0 ? node.extend(blocks) : node.race(depth, blocks));
    await indexer.without(mine, { ...aim, passes });
    if (aim.how === 'held') {
      const batches = await indexer.held(hitWithinMs);
      if (batches === null) continue;
      await failWhileHeld(parts);
      return isOverlapped(aim.name, batches) ? null : `held at ${aim.name} with ${JSON.stringify(batches)}`;
    }
    for (const until = Date.now() + hitWithinMs; Date.now() < until; await delay(lookEveryMs)) {
      if ((indexer.overlaps.get(aim.name) ?? 0) > before) return null;
    }
  }
  return `no load reached ${aim.name}`;
}

/** Lets the process continue while its database is away, or after that. */
async function failWhileHeld({ database, name, random, indexer }: Parts): Promise<void> {
  const fault = faults[random.below(faults.length)]!;
  const [downMs, resumeMs] = [random.below(800), 300 + random.below(1200)];
  await Promise.all([fault(database, name, downMs), delay(resumeMs).then(() => indexer.resume())]);
}
