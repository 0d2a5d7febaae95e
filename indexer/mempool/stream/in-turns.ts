import { setImmediate as nextTurn } from 'node:timers/promises';

/** Does something for each index below a count; others have their turn behind each `atOnce`. */
export async function inTurns(count: number, atOnce: number, each: (index: number) => void): Promise<void> {
  for (let index = 0; index < count; index++) {
    each(index);
    if (index % atOnce === atOnce - 1) await nextTurn();
  }
}
