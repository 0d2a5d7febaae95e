import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { exportInscriptions } from '#chain/inscriptions/export-inscriptions.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { follow } from '#indexer/follow/follow.ts';
import { openFolderSource } from '#indexer/source/folder-source.ts';
import type { StartCounters } from '#kernel/contracts/block-source.ts';
import { networks } from '#kernel/primitives/network.ts';
import { GoldenChain } from '#test/support/chain/golden/golden-chain.ts';
import { charmsShown, LedgerStore, satpointOf } from '#test/support/chain/ledger-store.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { parseThreads } from '#test/support/parse-threads.ts';

/**
 * Chains with gaps in the database. An export must equal the ledger's results for the islands one after another. If an
 * island spends an output of an earlier island, nothing in between spent it, because an output is spent once.
 */
interface TestIsland {
  readonly from: number;
  readonly to: number;
  readonly start?: StartCounters;
  /** Heights without spent outputs. */
  readonly withoutSpent?: (height: number) => boolean;
}

let cleanUps: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.reverse()) await cleanUp();
  cleanUps = [];
});

function writeIslands(chain: GoldenChain, islands: readonly TestIsland[]): string {
  const dir = mkdtempSync(join(tmpdir(), 'satscribe-gaps-'));
  cleanUps.push(() => rmSync(dir, { recursive: true }));
  chain.writeFolder(dir);
  const headers = islands.flatMap(({ from, to }) => chain.chain.headers.slice(from, to + 1));
  for (const { from, to, withoutSpent } of islands) {
    for (const { height, hash } of chain.chain.headers.slice(from, to + 1)) {
      if (withoutSpent?.(height) !== true) continue;
      rmSync(join(dir, 'spent', `${String(height).padStart(7, '0')}-${hash}.bin`));
    }
  }
  const starts = islands.flatMap(({ from, start }) => (start === undefined ? [] : [{ height: from, start }]));
  const file = { network: 'regtest', gaps: true, headers, islands: starts };
  writeFileSync(join(dir, 'chain.json'), JSON.stringify(file));
  return dir;
}

async function exported(dir: string): Promise<Record<string, unknown>[]> {
  const database = await createTestDatabase();
  cleanUps.push(() => database.drop());
  const source = await openFolderSource(dir);
  await follow({
    source,
    pool: database.pool,
    signal: new AbortController().signal,
    threads: parseThreads(),
  });
  let text = '';
  await withSnapshot(
    database.pool,
    async ({ client }) => {
      for await (const lines of exportInscriptions(client, {})) text += lines;
    },
    null,
  );
  const lines = text.split('\n').slice(0, -1);
  return lines.map((line) => {
    const { id, number, sequence, curse, satpoint, charms, fee, parents, claimedParents } = JSON.parse(
      line,
    ) as Record<string, unknown>;
    return { id, number, sequence, curse: curse !== null, satpoint, charms, fee, parents, claimedParents };
  });
}

/** The ledger's results for the islands, one after another. */
function ofIslands(chain: GoldenChain, islands: readonly TestIsland[]): Record<string, unknown>[] {
  const store = new LedgerStore(networks.regtest, 0);
  for (const { from, to, start, withoutSpent } of islands) {
    store.enterIsland(from, start ?? {});
    for (const header of chain.chain.headers.slice(from, to + 1)) {
      const { bytes, spent } = chain.block(header);
      store.apply(header.height, bytes, withoutSpent?.(header.height) === true ? null : spent);
    }
  }
  return store.inscriptions.map((inscription) => ({
    id: inscription.id,
    number: inscription.number,
    sequence: inscription.sequence,
    curse: (inscription.curse ?? 0) !== 0,
    satpoint: satpointOf(inscription),
    charms: charmsShown(inscription),
    fee: inscription.fee,
    parents: inscription.parents?.map((key) => store.inscriptions[key]?.id) ?? null,
  }));
}

const transfers = new GoldenChain('transfers-1');
const families = new GoldenChain('families-1');

test.each([
  [
    'with all spent outputs',
    transfers,
    [
      { from: 0, to: 120 },
      { from: 125, to: 140 },
      { from: 150, to: 168 },
    ],
  ],
  [
    'without any spent outputs',
    families,
    [
      { from: 0, to: 115, withoutSpent: () => true },
      { from: 120, to: 152, withoutSpent: () => true },
    ],
  ],
  [
    'with some spent outputs and proven totals',
    families,
    [
      { from: 20, to: 112, start: { sequence: 0, blessed: 0, cursed: 0 } },
      {
        from: 114,
        to: 152,
        start: { sequence: 5000, blessed: 4000, unbound: 3, lostSats: 7 },
        withoutSpent: (height: number) => height % 7 === 0,
      },
    ],
  ],
] as const)('islands %s are exported as the ledger has them one after another', async (_, chain, islands) => {
  const lines = await exported(writeIslands(chain, islands));
  expect(lines.map(({ claimedParents: _claimed, ...line }) => line)).toEqual(ofIslands(chain, islands));
  // nothing is guessed: parents are known if no parents are claimed
  for (const { parents, claimedParents } of lines) {
    if ((claimedParents as string[]).length === 0) expect(parents).toEqual([]);
  }
});
