import { setImmediate as nextTurn } from 'node:timers/promises';

/** Runs a step for each index below a count, and yields to other tasks after every `atOnce` steps. */
export async function inTurns(count: number, atOnce: number, each: (index: number) => void): Promise<void> {
  for (let index = 0; index < count; index++) {
    each(index);
    if (index % atOnce === atOnce - 1) await nextTurn();
  }
}
