import { setTimeout as sleep } from 'node:timers/promises';

/** Result of work, and how long the answers beside it took, in ms. */
export interface AskedBeside<Result> {
  readonly result: Result;
  readonly times: readonly number[];
}

/**
 * Asks repeatedly while work runs. The asking ends with the work, even if the work fails, because a question to a
 * stopped service would fail too and hide the first failure. Throws the first failure of the work or of a question.
 *
 * @param everyMs time from one question to the next, if answers take less than `atOnce` times as long
 * @param ask asks one question, and settles when it is answered
 * @param atOnce maximum number of questions without an answer
 */
export async function askedBeside<Result>(
  { everyMs, atOnce }: { readonly everyMs: number; readonly atOnce: number },
  ask: (place: number) => Promise<unknown>,
  work: () => Promise<Result>,
): Promise<AskedBeside<Result>> {
  const times: number[] = [];
  let isStopped = false;
  let place = 0;
  const asker = async (firstMs: number): Promise<void> => {
    if (firstMs > 0) await sleep(firstMs);
    while (!isStopped) {
      const at = performance.now();
      await ask(place++);
      const elapsedMs = performance.now() - at;
      times.push(elapsedMs);
      await sleep(Math.max(0, everyMs * atOnce - elapsedMs));
    }
  };
  // askers that began together would ask together for as long as the work runs
  const asking = Array.from({ length: atOnce }, (_, nth) => asker(nth * everyMs));
  const failed = new Promise<never>((_resolve, reject) => {
    for (const each of asking) each.catch(reject);
  });
  try {
    return { result: await Promise.race([work(), failed]), times };
  } finally {
    isStopped = true;
    await Promise.allSettled(asking);
  }
}
