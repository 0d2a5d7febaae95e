import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { App } from '#http/server/routes/app-dependencies.ts';
import { follow } from '#indexer/follow/follow.ts';
import { openFolderSource } from '#indexer/source/folder-source.ts';
import type { BlockSource } from '#kernel/contracts/block-source.ts';
import { networks } from '#kernel/primitives/network.ts';
import { GoldenChain } from '#test/support/chain/golden/golden-chain.ts';
import { differences, nullOutpoint } from '#test/support/chain/golden/ord-golden.ts';
import { withSats } from '#test/support/chain/golden/ord-golden-sats.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { exactJson } from '#test/support/exact-json.ts';
import { buildCheckedApp } from '#test/support/http/checked-app.ts';
import { faultsForOrdWallet, isRunic, walletQuestions } from '#test/support/http/ord-client.ts';
import { readerParts } from '#test/support/http/reader-parts.ts';
import { type Bitcoind, startBitcoind } from '#test/support/node/bitcoind.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { parseThreads } from '#test/support/parse-threads.ts';
import { sampleStep } from '#test/support/property-runs.ts';

/** The golden chains that a real node gets. All of them together take minutes. */
const chains = (process.env['GOLDEN_NODE_CHAINS'] ?? 'reorg-1').split(',');

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
      node = await startNode(golden);
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
    });

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
        // more responses are compared without a node (golden.test.ts); here only the node's transactions matter
        { step: sampleStep(8) },
      );
      expect(different).toEqual([]);
      expect(asked).toBeGreaterThan(0);
    });

    test('empty outputs', async () => {
      const { asked, different } = await differences(app, golden, best!, 'output-empty', {
        step: sampleStep(50),
      });
      expect(different).toEqual([]);
      expect(asked).toBeGreaterThan(0);
    }, 300_000);
  });

  const readIndexes = [
    ['no index of sats', { indexSats: false }, ['proof']],
    ['an index of sats', { indexSats: true }, []],
  ] as const;

  for (const [which, settings, tags] of readIndexes)
    describe(`outputs that hold runes, with ${which}`, { tags: [...tags] }, () => {
      const golden = new GoldenChain('runes-1');
      const [best] = golden.tips();
      const folder = mkdtempSync(join(tmpdir(), 'satscribe-ord-'));
      const expected = settings.indexSats ? { expected: withSats(golden, best!, 'output') } : {};
      let node: Bitcoind;
      let database: TestDatabase;
      let blocks: BlockSource;
      const apps = new Map<string, App>();

      beforeAll(async () => {
        golden.writeFolder(folder);
        node = await startNode(golden);
        database = await createTestDatabase();
        const { pool, readers } = database;
        blocks = await openFolderSource(folder);
        const { signal } = new AbortController();
        await follow({ source: blocks, pool, signal, threads: parseThreads(), ...settings });
        const sources = { 'a node': { node: node.rpc }, blocks: { blocks }, neither: {} };
        for (const [name, source] of Object.entries(sources))
          apps.set(
            name,
            buildCheckedApp({ ...readerParts(readers, networks[golden.chain.network]), ...source }),
          );
      });

      afterAll(async () => {
        for (const app of apps.values()) await app.close();
        await blocks.close();
        await database.drop();
        await node.remove();
        rmSync(folder, { recursive: true });
      });

      const runic = golden.answerLines(best!, 'output-empty').filter(isRunic);
      const keys = runic.map((line) => (exactJson(line) as { key: string }).key);
      const appWith = (name: string): App => apps.get(name)!;
      const ask = (name: string, url: string) =>
        appWith(name).inject({ url, headers: { accept: 'application/json' } });
      const askAll = async (name: string): Promise<unknown> => {
        const answer = await appWith(name).inject({ method: 'POST', url: '/outputs', payload: keys });
        expect(answer.statusCode, answer.body).toBe(200);
        return exactJson(answer.body);
      };

      test.each(['a node', 'blocks'])('are answered as in ord, with %s', async (name) => {
        expect(keys.length).toBeGreaterThan(250);
        for (const question of ['output', 'output-empty']) {
          const part = { only: isRunic, ...expected };
          const { asked, different } = await differences(appWith(name), golden, best!, question, part);
          expect(different).toEqual([]);
          expect(asked).toBeGreaterThan(0);
        }
        const alone = await Promise.all(
          keys.map(async (key) => exactJson((await ask(name, `/output/${key}`)).body)),
        );
        expect(await askAll(name)).toEqual(alone);
        const [key] = keys;
        const { inscriptions, runes, sat_ranges: ranges, value } = alone[0] as Record<string, unknown>;
        expect(exactJson((await ask(name, `/r/utxo/${key}`)).body)).toEqual({
          inscriptions,
          runes,
          sat_ranges: ranges,
          value,
        });
      });

      test('without a node or blocks, only facts of their transaction are null', async () => {
        const told = (await askAll('a node')) as Record<string, unknown>[];
        // the value comes from the index of sats; scripts of up to 128 bytes come from balances of runes
        const unknown = settings.indexSats ? {} : { value: null };
        expect(told.every(({ script_pubkey: script }) => String(script).length <= 256)).toBe(true);
        expect(await askAll('neither')).toEqual(told.map((fields) => ({ ...fields, ...unknown })));
        const [key] = keys;
        expect((await ask('neither', `/r/utxo/${key}`)).json()).toMatchObject(unknown);
      });

      test('a transaction is found by the runes in its outputs', async () => {
        const txid = keys[0]!.slice(0, 64);
        const answer = await ask('blocks', `/tx/${txid}`);
        expect(answer.statusCode).toBe(200);
        expect(answer.body).toBe((await ask('a node', `/tx/${txid}`)).body);
        expect((await ask('neither', `/tx/${txid}`)).json<{ error: string }>().error).toMatch(
          new RegExp(`^the bytes of block \\d+, which contains transaction ${txid}, are missing here`, 'u'),
        );
      });

      test('the answer for an unknown output names what is missing', async () => {
        const spent = golden
          .answerLines(best!, 'output-empty')
          .map((line) => exactJson(line) as { key: string; value: { indexed: boolean; spent: boolean } })
          .find(({ value }) => value.spent && !value.indexed)!;
        const answer = await ask('blocks', `/output/${spent.key}`);
        if (settings.indexSats) expect(answer.statusCode).toBe(200);
        else {
          expect(answer.statusCode).toBe(404);
          expect(answer.json()).toEqual({
            status: 'error',
            error: `output ${spent.key} holds neither inscriptions nor runes. Without a node or --index-addresses it is unknown whether the output is spent`,
          });
        }
        const bare = (await ask('neither', `/output/${spent.key}`)).json<{ error: string }>();
        expect(bare.error).toContain('leads to transaction');
      });

      test.runIf(settings.indexSats)(
        'an output of 0 sats, which the index of sats does not have',
        async () => {
          const [key] = keys;
          const before = (await ask('blocks', `/output/${key}`)).body;
          const where = 'WHERE txid = $1 AND vout = $2';
          const output = [Buffer.from(key!.slice(0, 64), 'hex').reverse(), Number(key!.slice(65))];
          await database.pool.query(`UPDATE chain.sat_ranges SET vout = -vout - 1 ${where}`, output);
          const { sat_ranges: _ranges, ...fields } = exactJson(before) as Record<string, unknown>;
          const after = (await ask('blocks', `/output/${key}`)).body;
          await database.pool.query(`UPDATE chain.sat_ranges SET vout = -vout - 1 ${where}`, [
            output[0],
            -Number(output[1]) - 1,
          ]);
          expect(exactJson(after)).toEqual({ ...fields, sat_ranges: [] });
        },
      );

      test.runIf(settings.indexSats)(
        'the lost outpoint has no list of sats where none are lost',
        async () => {
          const url = `/output/${nullOutpoint}`;
          const lost = (await ask('blocks', url)).json<{ sat_ranges: unknown[]; inscriptions: unknown[] }>();
          expect([lost.sat_ranges.length > 0, lost.inscriptions]).toEqual([true, []]);
          const { pool } = database;
          await pool.query('CREATE TABLE saved AS SELECT * FROM chain.lost_sats');
          let without: unknown;
          try {
            await pool.query('DELETE FROM chain.lost_sats');
            without = (await ask('blocks', url)).json<unknown>();
          } finally {
            // restore the rows, also for a second try
            await pool.query('INSERT INTO chain.lost_sats SELECT * FROM saved');
            await pool.query('DROP TABLE saved');
          }
          expect(without).toEqual({ ...lost, sat_ranges: null, value: 0 });
        },
      );

      test('the duration of the first sync is reported, and never changes', async () => {
        const syncTime = async (): Promise<{ secs: number; nanos: number }> =>
          (await ask('neither', '/status')).json<{ initial_sync_time: { secs: number; nanos: number } }>()
            .initial_sync_time;
        const first = await syncTime();
        expect(first.secs * 1e9 + first.nanos).toBeGreaterThan(1e6);
        expect(first.secs).toBeLessThan(120);
        const { pool } = database;
        await follow({ source: blocks, pool, signal: new AbortController().signal, ...settings });
        expect(await syncTime()).toEqual(first);
      });

      test('the wallet of ord can read all its answers', async () => {
        const questions = { ...walletQuestions(golden, best!), addresses: [] };
        expect(await faultsForOrdWallet(appWith('a node'), questions)).toEqual([]);
      });
    });
});

async function startNode(golden: GoldenChain): Promise<Bitcoind> {
  const node = await startBitcoind({ zmq: [] });
  for (const header of golden.chain.headers.slice(1)) {
    const block = Buffer.from(golden.block(header).bytes).toString('hex');
    expect(await node.rpc.call('submitblock', [block])).toBeNull();
  }
  return node;
}
