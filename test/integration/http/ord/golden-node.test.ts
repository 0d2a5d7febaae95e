import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { App } from '#http/server/routes/app-dependencies.ts';
import { follow } from '#indexer/follow/follow.ts';
import { openFolderSource } from '#indexer/source/folder-source.ts';
import { networks } from '#kernel/primitives/network.ts';
import { GoldenChain } from '#test/support/chain/golden/golden-chain.ts';
import { differences } from '#test/support/chain/golden/ord-golden.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { buildCheckedApp } from '#test/support/http/checked-app.ts';
import { readerParts } from '#test/support/http/reader-parts.ts';
import { type Bitcoind, startBitcoind } from '#test/support/node/bitcoind.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { parseThreads } from '#test/support/parse-threads.ts';
import { sampleStep } from '#test/support/property-runs.ts';

/** The chains fed to a real node. All of them take minutes. */
const chains = (process.env['GOLDEN_NODE_CHAINS'] ?? 'reorg-1,transfers-1').split(',');

const questions = ['output', 'decode', 'block', 'r-blockinfo', 'inscription'];

describe.skipIf(bitcoindForTests() === null)('with a node and no blocks of its own', () => {
  describe.each(chains)('ord’s API over the golden chain %s', (name) => {
    const golden = new GoldenChain(name);
    const [best] = golden.tips();
    const folder = mkdtempSync(join(tmpdir(), 'satscribe-ord-'));
    let node: Bitcoind;
    let database: TestDatabase;
    let app: App;

    beforeAll(async () => {
      golden.writeFolder(folder);
      node = await startBitcoind({ zmq: [] });
      for (const header of golden.chain.headers.slice(1)) {
        const block = Buffer.from(golden.block(header).bytes).toString('hex');
        expect(await node.rpc.call('submitblock', [block])).toBeNull();
      }
      database = await createTestDatabase();
      const { pool, readers } = database;
      const source = await openFolderSource(folder);
      await follow({ source, pool, signal: new AbortController().signal, threads: parseThreads() });
      await source.close();
      app = buildCheckedApp({
        ...readerParts(readers, networks[golden.chain.network]),
        node: node.rpc,
      });
      await app.ready();
    }, 120_000);

    afterAll(async () => {
      await app.close();
      await database.drop();
      await node.remove();
      rmSync(folder, { recursive: true });
    });

    test.each(questions)('%s', async (question) => {
      const { asked, different } = await differences(
        app,
        golden,
        best!,
        question,
        // without a node more of them are asked (golden.test.ts): here it is the node's transactions that count
        { step: sampleStep(8) },
      );
      expect(different).toEqual([]);
      expect(asked).toBeGreaterThan(0);
    });

    test('outputs that hold nothing', async () => {
      const { asked, different } = await differences(app, golden, best!, 'output-empty', {
        step: sampleStep(50),
      });
      expect(different).toEqual([]);
      expect(asked).toBeGreaterThan(0);
    }, 300_000);
  });
});
