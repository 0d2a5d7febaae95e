import { mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Block } from 'bitcoinjs-lib';
import { type Logger, pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openFolderSource } from '#indexer/source/folder-source.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { followPayments } from '#payments/follow/follow-payments.ts';
import { countUnscanned, watchScripts } from '#payments/store/watches.store.ts';
import { GoldenChain } from '#test/support/chain/golden/golden-chain.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const golden = new GoldenChain('reorg-1');
const [best, , long] = golden.tips();
const scriptBytesMax = 520;

interface Output {
  readonly script: Buffer;
  /** A line with outpoint, sats, and the block. */
  readonly line: string;
}

/** Every output of a chain that a test may watch. Another library reads them. */
function outputsOf(headers: (typeof golden.chain)['headers']): Output[] {
  return headers.flatMap((header) =>
    (Block.fromBuffer(Buffer.from(golden.block(header).bytes)).transactions ?? []).flatMap((tx) =>
      tx.outs.flatMap(({ script, value }, vout) =>
        script.length === 0 || script.length > scriptBytesMax
          ? []
          : [
              {
                script: Buffer.from(script),
                line: `${tx.getId()}:${vout} ${value} ${header.height} ${header.hash}`,
              },
            ],
      ),
    ),
  );
}

describe('payments in the blocks of a folder', () => {
  let dir: string;
  let database: TestDatabase;
  const logged: string[] = [];
  const log: Logger = pino({}, { write: (line: string) => void logged.push(line) });

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'satscribe-payments-'));
    golden.writeFolder(dir);
  });
  beforeEach(async () => {
    database = await createTestDatabase();
    return () => database.drop();
  });
  afterAll(() => rm(dir, { recursive: true, force: true }));

  const watch = (sinceHeight: number, scripts: readonly Buffer[]): Promise<void> =>
    withTransaction(database.pool, (tx) =>
      watchScripts(
        tx,
        'folder',
        scripts.map((script) => ({ script, sinceHeight: asHeight(sinceHeight) })),
      ),
    );

  /** Follows the chain that ends at a tip until a condition holds. */
  async function follow(tip: string, isDone: () => Promise<unknown>): Promise<void> {
    const stop = new AbortController();
    const source = await openFolderSource(dir, { tip });
    const following = followPayments({
      url: database.url,
      source,
      node: null,
      signal: stop.signal,
      log,
    });
    try {
      await waitUntil(async () => {
        await isDone();
        return true;
      });
    } finally {
      stop.abort();
      await following;
    }
  }

  async function seen(isGone: boolean): Promise<string[]> {
    const { rows } = await database.pool.query<{
      txid: Buffer;
      vout: number;
      value: number;
      height: number | null;
      hash: Buffer | null;
    }>('SELECT txid, vout, value, height, hash FROM service.payments_seen WHERE (gone_at IS NOT NULL) = $1', [
      isGone,
    ]);
    return rows
      .map(({ txid, vout, value, height, hash }) => {
        const block = hash === null ? '' : ` ${height} ${displayHash(hash)}`;
        return `${displayHash(txid)}:${vout} ${value}${block}`;
      })
      .toSorted();
  }
  const expectSeen = async (headers: (typeof golden.chain)['headers']): Promise<void> => {
    const lines = outputsOf(headers).map(({ line }) => line);
    expect(await seen(false)).toEqual(lines.toSorted());
  };
  const scriptsOf = (outputs: readonly Output[]): Buffer[] => {
    const distinct = new Map(outputs.map(({ script }) => [script.toString('hex'), script]));
    return [...distinct.values()];
  };

  test('are all that another library finds, on each branch that it is told to take', {
    tags: ['proof'],
  }, async () => {
    const [bestOutputs, longOutputs] = [outputsOf(best!.headers), outputsOf(long!.headers)];
    await watch(0, scriptsOf([...bestOutputs, ...longOutputs]));
    await follow(long!.tip, () => expectSeen(long!.headers));
    expect(await seen(true)).toEqual([]);
    await follow(best!.tip, () => expectSeen(best!.headers));
    // outputs that only the other branch has are in none of the blocks, and there is no mempool
    const outpointsOf = (outputs: readonly Output[]): Set<string> =>
      new Set(outputs.map(({ line }) => line.split(' ').slice(0, 2).join(' ')));
    const lost = outpointsOf(longOutputs).difference(outpointsOf(bestOutputs));
    expect(lost.size).toBeGreaterThan(0);
    await waitUntil(async () => {
      expect(await seen(true)).toEqual([...lost].toSorted());
      return true;
    });
  });

  test('that lacks a block are found after it, and in it as soon as it is there', async () => {
    const outputs = outputsOf(best!.headers);
    const scripts = scriptsOf(outputs);
    const lacking = best!.headers[60]!;
    const blocks = join(dir, 'blocks');
    const file = (await readdir(blocks)).find((name) => name.includes(lacking.hash))!;
    await rename(join(blocks, file), join(dir, file));
    try {
      await watch(40, scripts.slice(0, -1));
      await watch(61, scripts.slice(-1));
      await follow(best!.tip, async () => {
        expect(await countUnscanned(database.pool)).toBe(scripts.length - 1);
        const { rows } = await database.pool.query<{ next: number }>(
          'SELECT DISTINCT next_height AS next FROM service.watched_scripts WHERE next_height IS NOT NULL',
        );
        expect(rows).toEqual([{ next: lacking.height }]);
      });
      expect(logged.filter((line) => line.includes('block_unavailable'))).toHaveLength(1);
    } finally {
      await rename(join(dir, file), join(blocks, file));
    }
    const late = scripts.at(-1)!.toString('hex');
    const expected = outputs
      .filter(({ script, line }) => Number(line.split(' ')[2]) >= (script.toString('hex') === late ? 61 : 40))
      .map(({ line }) => line);
    await follow(best!.tip, async () => {
      expect(await seen(false)).toEqual(expected.toSorted());
      expect(await countUnscanned(database.pool)).toBe(0);
    });
  });
});
