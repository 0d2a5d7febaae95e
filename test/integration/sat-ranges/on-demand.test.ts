import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { App } from '#http/server/routes/app-dependencies.ts';
import { follow } from '#indexer/follow/follow.ts';
import { openFolderSource } from '#indexer/source/folder-source.ts';
import { openNodeSource } from '#indexer/source/node-source.ts';
import type { LiveBlockSource } from '#kernel/contracts/live-source.ts';
import { displayHash, parseTxid } from '#kernel/primitives/hash.ts';
import { networks } from '#kernel/primitives/network.ts';
import { connectNode } from '#node/bitcoin-node.ts';
import { NodeTraceSource } from '#sat-ranges/node-trace-source.ts';
import { SatTracer } from '#sat-ranges/sat-tracer.ts';
import { openSatTracer } from '#src/app/sats/sat-tracer.ts';
import { GoldenChain } from '#test/support/chain/golden/golden-chain.ts';
import { sizeOf } from '#test/support/chain/sats/sat-chain.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { buildCheckedApp } from '#test/support/http/checked-app.ts';
import { readerParts } from '#test/support/http/reader-parts.ts';
import { type Bitcoind, startBitcoind } from '#test/support/node/bitcoind.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { parseThreads } from '#test/support/parse-threads.ts';
import { sampleStep } from '#test/support/property-runs.ts';
import { utxosOfIndex } from '#test/support/utxos/utxos-of-index.ts';

/** The golden chains that a real node gets. A run with all chains takes minutes. */
const chains = (process.env['GOLDEN_NODE_CHAINS'] ?? 'sats-1,transfers-1').split(',');

type Pair = [start: number, end: number];
interface Scan {
  readonly inscriptions: readonly { output: string; inscriptions: readonly string[] }[];
  readonly ranges: readonly { output: string; start: number; end: number; rarity: string }[];
  readonly specialRanges: readonly { output: string; start: number; satributes: readonly string[] }[];
  readonly unknown: readonly { output: string; reason: string }[];
}

/** Whether this is the output of block 0, which begins with sat 0. */
const isFirst = ({ ranges: [range] }: { readonly ranges: readonly { readonly start: number }[] }): boolean =>
  range?.start === 0;

/** The outpoint under which ord lists lost sats. The chain has no such output. */
const lost = `${'0'.repeat(64)}:4294967295`;

describe.skipIf(bitcoindForTests() === null).each(chains)(
  'the sats of outputs of the golden chain %s',
  (name) => {
    const golden = new GoldenChain(name);
    const [best] = golden.tips();
    const recorded = golden
      .satAnswers<Pair[]>(best!, 'output-ranges')
      // lost sats and unbound inscriptions are not in outputs of the chain
      .filter(({ key }) => !key.startsWith('0'.repeat(64)))
      .map(({ key, value }) => ({ key, ranges: value!.map(([start, end]) => ({ start, end })) }));
    const folder = mkdtempSync(join(tmpdir(), 'satscribe-sats-'));
    let bitcoind: Bitcoind;
    let source: LiveBlockSource;
    let database: TestDatabase;
    /** A tracer without the index of sats, and one with this index. */
    let tracer: SatTracer;
    let fromIndex: SatTracer;
    let app: App;

    beforeAll(async () => {
      golden.writeFolder(folder);
      bitcoind = await startBitcoind({ zmq: [] });
      for (const header of golden.chain.headers.slice(1)) {
        const block = Buffer.from(golden.block(header).bytes).toString('hex');
        expect(await bitcoind.rpc.call('submitblock', [block])).toBeNull();
      }
      const node = await connectNode(bitcoind.settings);
      source = openNodeSource(node);
      tracer = new SatTracer(new NodeTraceSource(node.rpc, source));
      database = await createTestDatabase();
      const { pool, readers } = database;
      const { signal } = new AbortController();
      await follow({
        source: await openFolderSource(folder),
        pool,
        signal,
        threads: parseThreads(),
        indexAddresses: true,
        indexSats: true,
      });
      fromIndex = openSatTracer(readers, node.rpc, source);
      app = buildCheckedApp({
        ...readerParts(readers, networks[golden.chain.network]),
        node: node.rpc,
        satTracer: tracer,
        utxos: utxosOfIndex(readers, node.rpc, tracer),
      });
      await app.ready();
    });

    afterAll(async () => {
      await app.close();
      await source.close();
      await database.drop();
      await bitcoind.remove();
      rmSync(folder, { recursive: true });
    });

    const get = async (url: string) => app.inject({ url, headers: { accept: 'application/json' } });
    const scan = async (utxos: readonly string[]) =>
      app.inject({ method: 'POST', url: '/satscanner/find-special-ranges-utxo', payload: { utxos } });

    test('are those of ord’s index, for every unspent output and every unspendable one', async () => {
      const asked = recorded.filter((_, place) => place % sampleStep(5) === 0);
      expect(asked.length).toBeGreaterThan(100);
      let ofFees = 0;
      for (const { key, ranges } of asked) {
        const [txid = '', vout = ''] = key.split(':');
        const traced = await tracer.trace({ txid: displayHash(parseTxid(txid)!), vout: Number(vout) });
        expect({ key, ...traced }).toMatchObject({ key, state: 'known', ranges });
        if (ranges.length > 1) ofFees++;
        expect(sizeOf(ranges)).toBe(traced!.output.value);
      }
      // some outputs have sats from several inputs
      expect(ofFees).toBeGreaterThan(0);
    }, 300_000);

    test('come from the index of sats without a walk, and are walked back where it does not have them', async () => {
      const asked = recorded.filter((_, place) => place % sampleStep(5) === 0);
      const outpointOf = (key: string) => {
        const [txid = '', vout = ''] = key.split(':');
        return { txid: displayHash(parseTxid(txid)!), vout: Number(vout) };
      };
      for (const { key, ranges } of asked)
        expect({ key, ...(await fromIndex.trace(outpointOf(key))) }).toMatchObject({ key, steps: 0, ranges });
      const { key, ranges } = recorded.find((output) => output.ranges.length > 1)!;
      const { txid, vout } = outpointOf(key);
      const row = [parseTxid(txid), vout];
      const { rows } = await database.pool.query<{ ranges: Buffer }>(
        'SELECT ranges FROM chain.sat_ranges WHERE txid = $1 AND vout = $2',
        row,
      );
      const setTo = (packed: Buffer) =>
        database.pool.query('UPDATE chain.sat_ranges SET ranges = $3 WHERE txid = $1 AND vout = $2', [
          ...row,
          packed,
        ]);
      await setTo(Buffer.alloc(0));
      const walked = await fromIndex.trace({ txid, vout });
      expect(walked).toMatchObject({ state: 'known', ranges });
      expect(walked!.steps).toBeGreaterThan(0);
      await setTo(rows[0]!.ranges);
    });

    test('are answered with what is special about them', async () => {
      const { key, ranges } = recorded.find((output) => output.ranges.length > 1)!;
      const answer = (await get(`/outputs/${key}/sats`)).json<Record<string, unknown>>();
      expect(answer).toMatchObject({
        outpoint: key,
        state: 'known',
        reason: null,
        ranges,
      });
      const uncommon = recorded.find(
        (output) =>
          output.ranges.length === 1 && output.ranges[0]!.start % 5_000_000_000 === 0 && !isFirst(output),
      )!;
      const [{ start } = { start: 0 }] = uncommon.ranges;
      const special = (await get(`/outputs/${uncommon.key}/sats`)).json<{
        counts: Record<string, number>;
        special: { start: number; end: number; offset: number; satributes: string[] }[];
      }>();
      expect(special.counts).toMatchObject({ uncommon: 1, vintage: sizeOf(uncommon.ranges) });
      expect(special.special[0]).toMatchObject({ start, end: start + 1, offset: 0 });
      expect(special.special[0]!.satributes).toEqual(
        expect.arrayContaining(['uncommon', 'vintage', 'coin', 'alpha']),
      );
    });

    test('of the first block are known too, though a node does not count its output', async () => {
      expect((await get(`/outputs/${recorded.find(isFirst)!.key}/sats`)).json()).toMatchObject({
        state: 'known',
        height: 0,
        ranges: [{ start: 0, end: 5_000_000_000 }],
      });
    });

    test('are not those of an output that is spent or unknown', async () => {
      const spent = golden
        .answers<{ spent: boolean; script_pubkey: string }>(best!, 'output-empty')
        .find(({ value }) => value!.spent && !value!.script_pubkey.startsWith('6a'))!;
      for (const output of [spent.key, `${'ab'.repeat(32)}:0`, lost]) {
        const answer = await get(`/outputs/${output}/sats`);
        expect(answer.statusCode).toBe(404);
        expect(answer.json()).toMatchObject({
          code: 'not_found',
          error: `${output} is not an unspent output of the chain`,
        });
        const scanned = await scan([output]);
        expect(scanned.statusCode).toBe(404);
        expect(scanned.json()).toEqual({
          status: 'error',
          error: `${output} is not an unspent output of the chain`,
        });
      }
      expect((await get('/outputs/abc/sats')).statusCode).toBe(400);
    });

    test('are scanned in the form of the public scanner', async () => {
      const small = recorded.filter(({ ranges }) => sizeOf(ranges) < 100_000_000);
      const outputs = small.filter((_, place) => place % 10 === 0);
      const { result } = (await scan(outputs.map(({ key }) => key))).json<{ result: Scan }>();
      expect(result.unknown).toEqual([]);
      expect(result.ranges.map(({ output, start, end }) => ({ output, start, end }))).toEqual(
        outputs.flatMap(({ key, ranges }) => ranges.map((range) => ({ output: key, ...range }))),
      );
    });

    test('are not said to be all listed where they are not: early coinbases have thousands of palindromes', async () => {
      const { key, ranges } = recorded.find(
        (output) =>
          (output.ranges[0]?.start ?? 1) % 5_000_000_000 === 0 &&
          sizeOf(output.ranges) > 1e9 &&
          !isFirst(output),
      )!;
      const { result } = (await scan([key])).json<{ result: Scan }>();
      expect(result.ranges[0]).toMatchObject({ output: key, ...ranges[0], rarity: 'uncommon' });
      expect(result.specialRanges[0]!.satributes).toContain('uncommon');
      expect(result.specialRanges.length).toBeLessThanOrEqual(10_000);
      const { specialComplete, counts } = (await get(`/outputs/${key}/sats`)).json<{
        specialComplete: boolean;
        counts: Record<string, number>;
      }>();
      expect(result.unknown.map(({ output }) => output)).toEqual(specialComplete ? [] : [key]);
      expect(counts['number-palindrome']).toBeGreaterThan(0);
    });

    test('are scanned by address, with the inscriptions beside them', async () => {
      const held = golden
        .answers<{ address: string | null; spent: boolean; inscriptions: string[] }>(best!, 'output')
        .find(({ value }) => value?.address != null && !value.spent && value.inscriptions.length > 0)!;
      const { result } = (await get(`/satscanner/find-special-ranges?address=${held.value!.address}`)).json<{
        result: Scan;
      }>();
      expect(result.inscriptions).toContainEqual({
        output: held.key,
        inscriptions: held.value!.inscriptions,
      });
      const { ranges } = recorded.find(({ key }) => key === held.key)!;
      expect(
        result.ranges.filter(({ output }) => output === held.key).map(({ start, end }) => ({ start, end })),
      ).toEqual(ranges);
    });

    const unknown = (vout: number): string => `${'ab'.repeat(32)}:${vout}`;
    test.each<[string, object]>([
      ['no output', { utxos: [] }],
      ['a text in place of a list', { utxos: unknown(0) }],
      ['nothing', {}],
      ['what names no output', { utxos: ['abc:0'] }],
      ['an output twice', { utxos: [unknown(0), unknown(0).toUpperCase()] }],
      ['10,001 outputs', { utxos: Array.from({ length: 10_001 }, (_, vout) => unknown(vout)) }],
    ])('a scan of %s is refused in one sentence', async (_words, payload) => {
      const url = '/satscanner/find-special-ranges-utxo';
      const answer = await app.inject({ method: 'POST', url, payload });
      expect(answer.statusCode).toBe(400);
      expect(answer.json()).toEqual({ status: 'error', error: expect.any(String) as string });
    });

    test.each(['', 'address=bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4', 'address=nonsense'])(
      'a scan by “%s” is refused in one sentence',
      async (query) => {
        const answer = await get(`/satscanner/find-special-ranges?${query}`);
        expect(answer.statusCode).toBe(400);
        expect(answer.json()).toEqual({ status: 'error', error: expect.any(String) as string });
      },
    );
  },
);
