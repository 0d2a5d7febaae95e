import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inLanes } from '#kernel/concurrency/in-lanes.ts';
import { insertCollection } from '#test/support/collections/collection-rows.ts';
import { clients } from '../clients.ts';
import { loopLag } from '../loop-lag.ts';
import { peakMegabytes, restartPeak } from '../process-peak.ts';
import type { Figure } from '../report.ts';
import { buyerAddress } from './buyers.ts';
import { deliverAll } from './delivered.ts';
import type { MintShop } from './mint-shop.ts';

const uploaded = 'uploaded';
const delivered = 'delivered';
const itemBytes = 20_000;
/** First keys of the inserted rows, far above all keys of the bench's chain. */
const firstKeys = { [uploaded]: 10_000_000, [delivered]: 20_000_000 };
const readings = 3;

/** Measures a collection of many files, from the operator's folder to the list that marketplaces read. */
export async function largeCollectionFigures(shop: MintShop, dir: string, items: number): Promise<Figure[]> {
  const folder = join(dir, uploaded);
  await writeItems(folder, items);
  await shop.made('/collection-create', {
    id: uploaded,
    name: 'Uploaded',
    description: 'Many files',
    creator: 'Ada',
    totalCount: items,
    'creator-address': buyerAddress(0),
  });
  const figures: Figure[] = [];
  const timed = async (name: string, words: readonly string[]): Promise<void> => {
    const startedAt = performance.now();
    const lines = await shop.progressOf(words);
    figures.push({ name: `${name}S`, value: (performance.now() - startedAt) / 1000, unit: 's' });
    // at the approval, no files are left to fetch
    if (name === 'upload') assert(lines > 0, `satscribe ${words.join(' ')} shows its progress`);
  };
  await timed('upload', ['mint', 'upload', uploaded, folder]);
  await rm(folder, { recursive: true });
  await timed('approve', ['mint', 'approve', uploaded]);
  await timed('show', ['mint', 'show', uploaded]);
  await deliverAll(shop.pool, uploaded, firstKeys[uploaded]);
  const { seconds } = await readItems(shop, uploaded, items);
  const all = figures.reduce((sum, { value }) => sum + value, seconds);
  return [
    ...figures,
    { name: 'readS', value: seconds, unit: 's' },
    { name: 'uploadToReadS', value: all, unit: 's', target: { most: 180 } },
  ];
}

async function writeItems(folder: string, items: number): Promise<void> {
  await mkdir(folder, { recursive: true });
  const numbers = Array.from({ length: items }, (_, item) => item + 1);
  await inLanes(numbers, clients, (item) => writeFile(join(folder, `${item}.png`), randomBytes(itemBytes)));
}

/**
 * Measures the list of a collection with the maximum number of delivered items: its time, the service's memory, and the
 * delays of the service's event loop.
 */
export async function deliveredFigures(shop: MintShop, items: number): Promise<Figure[]> {
  await insertCollection(shop.pool, { id: delivered, items });
  await deliverAll(shop.pool, delivered, firstKeys[delivered]);
  await readItems(shop, uploaded, null);
  await loopLag(shop.origin);
  const before = await restartPeak(shop.pid);
  let [slowest, bytes] = [0, 0];
  for (let nth = 0; nth < readings; nth++) {
    const read = await readItems(shop, delivered, items);
    slowest = Math.max(slowest, read.seconds);
    bytes = read.bytes;
  }
  const { longestMs } = await loopLag(shop.origin);
  return [
    { name: 'deliveredReadS', value: slowest, unit: 's' },
    { name: 'deliveredMB', value: bytes / 1e6, unit: 'MB' },
    { name: 'deliveredLoopMs', value: longestMs, unit: 'ms', target: { most: 50 } },
    {
      name: 'deliveredMemoryMB',
      value: (await peakMegabytes(shop.pid)) - before,
      unit: 'MB',
      target: { most: 64 },
    },
  ];
}

/** Reads the list of delivered items. Throws unless the list contains each item once. */
async function readItems(
  { origin }: MintShop,
  collection: string,
  items: number | null,
): Promise<{ readonly seconds: number; readonly bytes: number }> {
  const startedAt = performance.now();
  const answer = await fetch(`${origin}/get-collection-json?id=${collection}`);
  const text = await answer.text();
  const seconds = (performance.now() - startedAt) / 1000;
  assert(answer.status === 200, `the list was answered ${answer.status}: ${text.slice(0, 500)}`);
  const listed = JSON.parse(text) as readonly { readonly id: string }[];
  const ids = new Set(listed.map(({ id }) => id));
  if (items !== null)
    assert(ids.size === items && listed.length === items, `${listed.length} items are listed`);
  return { seconds, bytes: text.length };
}
