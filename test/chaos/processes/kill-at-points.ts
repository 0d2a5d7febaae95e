import type { Failpoint } from '#kernel/process/failpoint.ts';
import type { Random } from '#test/builders/random.ts';
import type { Supervisor } from './supervisor.ts';

/** A point, and the processes that can pass it. */
export interface PointAim<Name extends Failpoint> {
  readonly name: Name;
  readonly processes: readonly Supervisor[];
}

const hitWithinMs = 30_000;
const hitTriesMax = 3;
/** Minimum number of turns of a try. On a loaded machine, one turn may take longer than the try's whole time. */
const hitTurnsMin = 8;

/**
 * Arms processes, and lets customers pass the failpoints, until a process was killed at each failpoint.
 *
 * @param live performs one turn of customers, who pass the failpoints that are not hit yet
 */
export async function killAtPoints<Name extends Failpoint>(
  aims: readonly PointAim<Name>[],
  random: Random,
  live: (open: readonly Name[]) => Promise<void>,
): Promise<void> {
  const before = new Map(aims.map(({ name, processes }) => [name, hitsOf(processes, name)]));
  const open = (): PointAim<Name>[] =>
    aims.filter(({ name, processes }) => hitsOf(processes, name) === before.get(name));
  for (let tries = 0; tries < hitTriesMax && open().length > 0; tries++) {
    const passes = 1 + random.below(2);
    await Promise.all(
      open().flatMap(({ name, processes }) =>
        processes.map((each) => each.kill({ name, passes, how: 'at once' })),
      ),
    );
    const until = Date.now() + hitWithinMs;
    for (let turns = 0; open().length > 0 && (turns < hitTurnsMin || Date.now() < until); turns++)
      await live(open().map(({ name }) => name));
  }
}

/** Number of kills at a failpoint. */
export const hitsOf = (processes: readonly Supervisor[], name: Failpoint): number =>
  processes.reduce((sum, { hits }) => sum + (hits.get(name) ?? 0), 0);

/** Number of kills, at failpoints and at other moments. */
export const killsOf = (processes: readonly Supervisor[]): number =>
  processes.reduce(
    (sum, { kills, hits }) => sum + kills + [...hits.values()].reduce((all, times) => all + times, 0),
    0,
  );
