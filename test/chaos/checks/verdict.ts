import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { Random } from '#test/builders/random.ts';
import { compareDumps, differences, sampleIds, sampleSearches } from './compare.ts';
import { type EventReader, type Replay, readAllEvents } from './event-reader.ts';

/** One side of the comparison. */
export interface Side {
  readonly name: string;
  readonly origin: string;
  readonly pool: pg.Pool;
}

const idsSampled = 60;
const quietWithinMs = 20_000;
const askEveryMs = 250;

/** All differences between the surviving database and a clean index of the same chain. */
export async function verdictOf(
  survived: Side,
  clean: Side,
  reader: EventReader,
  random: Random,
  mempool: () => Promise<string[]>,
): Promise<string[]> {
  const found = await compareDumps(survived.pool, clean.pool);
  found.push(...(await compareEvents(survived, clean, reader)));
  found.push(...(await compareSearches(survived, clean, random)));
  for (const id of await sampleIds(clean.pool, idsSampled)) {
    const path = `/inscription/${id}`;
    const [a, b] = [await answer(survived.origin, path), await answer(clean.origin, path)];
    if (a !== b) found.push(`${path}: ${a} and not ${b}`);
  }
  found.push(...(await comparePending(survived, clean, mempool)));
  return found;
}

async function answer(origin: string, path: string): Promise<string> {
  const response = await fetch(`${origin}${path}`, { headers: { accept: 'application/json' } });
  const text = (await response.text()).replaceAll(/"createdat":"[^"]*"/gu, '"createdat":""');
  return `${response.status} ${text}`;
}

async function compareEvents(survived: Side, clean: Side, reader: EventReader): Promise<string[]> {
  const [whole, wanted] = [await readAllEvents(survived.origin), await readAllEvents(clean.origin)];
  const lines = wanted.lines();
  await until(async () => sameTip(reader.replay, wanted));
  return [
    ...reader.contradictions.map((words) => `event stream: ${words}`),
    ...differences('events read at the end', whole.lines(), lines),
    ...differences('events read along the way', reader.replay.lines(), lines),
  ];
}

function sameTip(a: Replay, b: Replay): boolean {
  const [x, y] = [a.blocks.at(-1), b.blocks.at(-1)];
  return x?.blockHash === y?.blockHash && x?.events.length === y?.events.length;
}

async function compareSearches(survived: Side, clean: Side, random: Random): Promise<string[]> {
  const found: string[] = [];
  for (const { needle, expected } of await sampleSearches(clean.pool, random)) {
    const path = `/search?phrase=1&text=${encodeURIComponent(needle)}`;
    const [a, b] = [await answer(survived.origin, path), await answer(clean.origin, path)];
    if (a !== b) found.push(`${path}: ${a.slice(0, 200)} and not ${b.slice(0, 200)}`);
    const total = /"totalItems":(\d+)/u.exec(a)?.[1];
    if (Number(total) !== expected) found.push(`${path}: ${String(total)} hits, a scan finds ${expected}`);
  }
  return found;
}

/**
 * Compares the pending reveals. When the mempool is quiet, both sides see the same reveals, those of the node's
 * mempool.
 */
async function comparePending(
  survived: Side,
  clean: Side,
  mempool: () => Promise<string[]>,
): Promise<string[]> {
  const path = '/mempool/inscriptions';
  let pair: [string, string] = ['', ''];
  await until(async () => {
    pair = [await answer(survived.origin, path), await answer(clean.origin, path)].map(withoutMoments) as [
      string,
      string,
    ];
    return pair[0] === pair[1];
  });
  // two mempools that were never read would also be equal
  if (pair[0] === pair[1] && pair[0].startsWith('200 ') && pair[0].length > 4) return [];
  return [`${path} (${(await mempool()).length} in the mempool): ${pair[0]} and not ${pair[1]}`];
}

/** The text in sorted order, without revisions and times of first sight, because these differ between the two sides. */
function withoutMoments(text: string): string {
  const status = text.slice(0, 3);
  if (status !== '200') return text;
  const ids = [...text.matchAll(/[0-9a-f]{64}i\d+/gu)].map(([id]) => id);
  return `${status} ${[...new Set(ids)].toSorted((a, b) => (a < b ? -1 : 1)).join(' ')}`;
}

async function until(question: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + quietWithinMs;
  while (!(await question()) && Date.now() < end) await delay(askEveryMs);
}
