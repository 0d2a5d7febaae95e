import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { putProvenance } from '#chain/sats/provenance.store.ts';
import type { App } from '#http/server/routes/app-dependencies.ts';
import { openNodeSource } from '#indexer/source/node-source.ts';
import type { LiveBlockSource } from '#kernel/contracts/live-source.ts';
import { asBlockHashHex, parseTxid } from '#kernel/primitives/hash.ts';
import type { MadeOutputSats } from '#kernel/satributes/provenance.ts';
import { listFrom } from '#kernel/satributes/range-list.ts';
import { listOf, whyUnknown } from '#kernel/satributes/satribute.ts';
import { readSatributeFile } from '#kernel/satributes/satribute-file.ts';
import { unpackRanges } from '#kernel/sats/packed-ranges.ts';
import { type SatRange, satsIn } from '#kernel/sats/sat-range.ts';
import { type BitcoinNode, connectNode } from '#node/bitcoin-node.ts';
import { followProvenance } from '#sat-ranges/follow-provenance.ts';
import { NodeTraceSource } from '#sat-ranges/node-trace-source.ts';
import { SatributesInForce } from '#sat-ranges/satributes-in-force.ts';
import { addressOf, type Coin, transaction } from '#test/builders/regtest/regtest-transaction.ts';
import { buildCheckedApp } from '#test/support/http/checked-app.ts';
import { readerParts } from '#test/support/http/reader-parts.ts';
import { silentLogger } from '#test/support/http-app.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { type IndexedNode, startIndexedNode } from '#test/support/utxos/indexed-node.ts';
import { utxosOfIndex } from '#test/support/utxos/utxos-of-index.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const bitcoin = 100_000_000;
/** Owner of an output that begins with sats of the satribute and continues with other sats. */
const seller = 31;
const special = 50_000;

interface Shown {
  readonly version: number;
  readonly findable: boolean;
  readonly sats: number | null;
  readonly rule: { readonly kind: string; readonly outputs: readonly Coin[]; readonly why?: string };
  readonly ranges: readonly SatRange[];
  readonly explain: { readonly has: boolean; readonly range: SatRange | null };
}

// each test continues where the one above it ended
describe.skipIf(bitcoindForTests() === null)(
  'a satribute of the sats of an output',
  { shuffle: false },
  () => {
    let indexed: IndexedNode;
    let node: BitcoinNode;
    let source: LiveBlockSource;
    let inForce: SatributesInForce;
    let app: App;
    let wanted: Coin;
    let height: number;
    /** The ranges that the index had for `held` before the coin was spent. */
    let expected: readonly SatRange[];
    let held: Coin;
    let mixed: Coin;

    beforeAll(async () => {
      indexed = await startIndexedNode({ indexSats: true });
      const { chain, bitcoind, database } = indexed;
      const [first, , third, plain] = [
        await chain.coin(),
        await chain.coin(),
        await chain.coin(),
        await chain.coin(),
      ] as [Coin, Coin, Coin, Coin];
      const joined = transaction(
        [third, first],
        [{ value: 10 }, { value: 70 * bitcoin }, { value: 30 * bitcoin - 1_000 }],
      );
      await chain.mine([joined]);
      height = await chain.height();
      await indexed.atTip();
      wanted = joined.coin(1);
      expected = await indexedRanges(wanted);
      const spender = transaction(
        [wanted, plain],
        [
          { value: 70 * bitcoin - special },
          { value: 250_000, to: seller },
          { value: 50 * bitcoin + special - 251_000 },
        ],
      );
      [held, mixed] = [spender.coin(0), spender.coin(1)];
      await chain.mine([spender]);
      node = await connectNode(bitcoind.settings);
      source = openNodeSource(node);
      const file = readSatributeFile(
        JSON.stringify([
          {
            id: 'hitman',
            version: 3,
            origin: 'a test',
            outputs: [`${wanted.txid}:${wanted.vout}@${height}`],
          },
        ]),
      );
      if (file.kind === 'wrong') throw new Error(file.wrong.join());
      inForce = new SatributesInForce(database.readers, 'regtest', file.satributes);
      app = buildCheckedApp({
        ...readerParts(database.readers),
        node: node.rpc,
        satTracer: indexed.tracer,
        utxos: utxosOfIndex(database.readers, node.rpc, indexed.tracer),
        satributes: () => inForce.book,
      });
      await app.ready();
    });

    afterAll(async () => {
      await app.close();
      await source.close();
      await indexed.close();
    });

    async function indexedRanges({ txid, vout }: Coin): Promise<SatRange[]> {
      const { rows } = await indexed.database.pool.query<{ ranges: Buffer }>(
        'SELECT ranges FROM chain.sat_ranges WHERE txid = $1 AND vout = $2',
        [parseTxid(txid), vout],
      );
      return unpackRanges(rows[0]!.ranges);
    }

    /** Traces like a process that indexes, until a condition is true. */
    async function tracedUntil(isThere: () => boolean): Promise<void> {
      const controller = new AbortController();
      const ended = followProvenance({
        url: indexed.database.url,
        openSource: () => new NodeTraceSource(node.rpc, source),
        outputs: inForce.book.outputs,
        signal: controller.signal,
        log: silentLogger(),
      });
      const isKnown = waitUntil(async () => {
        await inForce.refresh();
        return isThere();
      });
      await Promise.race([isKnown, ended]);
      controller.abort();
      await Promise.all([isKnown, ended]);
    }

    /** Stores a result like a walk that ended too late. */
    async function note(found: MadeOutputSats): Promise<void> {
      const client = await indexed.database.pool.connect();
      try {
        await putProvenance(client, inForce.book.outputs[0]!, found);
      } finally {
        client.release();
      }
      await inForce.refresh();
    }

    const hitman = () => inForce.book.find('hitman')!;
    const shown = async (query = '') => {
      const answer = await app.inject({
        url: `/satributes/hitman${query}`,
        headers: { accept: 'application/json' },
      });
      return answer.json<Shown>();
    };
    const page = async () =>
      (await app.inject({ url: '/satributes/hitman', headers: { accept: 'text/html' } })).body;
    const outpoint = ({ txid, vout }: Coin): string => `${txid}:${vout}`;

    test('is unknown, and not without sats, until the output has a hundred blocks on top', async () => {
      await note({ kind: 'missing', reason: 'too early' });
      expect(await shown()).toMatchObject({
        version: 3,
        findable: false,
        sats: null,
        ranges: [],
        rule: { kind: 'provenance', outputs: [{ txid: wanted.txid, vout: wanted.vout, height }] },
      });
      expect((await shown()).rule.why).toContain('still being traced');
      expect(await page()).toContain(outpoint(wanted));
      const sat = await app.inject({ url: `/sat/${expected[0]!.start}/satributes` });
      expect(sat.json<{ unknown: { id: string }[] }>().unknown.map(({ id }) => id)).toEqual(['hitman']);
      const filtered = await app.inject({
        method: 'POST',
        url: '/satextractor/extract',
        payload: { ...extraction, filterSatributes: ['hitman'] },
      });
      expect(filtered.statusCode).toBe(400);
    });

    const extraction = {
      scanAddress: addressOf(seller),
      addressToSendSpecialSats: addressOf(seller + 1),
      addressToSendCommonSats: addressOf(seller + 2),
      feePerByte: 1,
    };

    test('has exactly the sats that the index had for it, also where it was spent long ago', async () => {
      await indexed.chain.mineEmpty(99);
      await indexed.atTip();
      await tracedUntil(() => whyUnknown(hitman().rule) === null);
      expect(expected).toHaveLength(2);
      expect(listOf(hitman().rule)).toEqual(listFrom(expected));
      expect(await shown(`?sat=${expected[1]!.start}`)).toMatchObject({
        findable: true,
        sats: 70 * bitcoin,
        ranges: listFrom(expected),
        explain: { has: true, range: expected[1] },
      });
      expect(await page()).toContain(`href="/block/${height}"`);
    });

    test('is found by the scanner and the extractor', async () => {
      const scanned = await app.inject({
        method: 'POST',
        url: '/satscanner/find-special-ranges-utxo',
        payload: { utxos: [outpoint(mixed)] },
      });
      const { result } = scanned.json<{
        result: { specialRanges: { size: number; satributes: string[] }[] };
      }>();
      const found = result.specialRanges.filter(({ satributes }) => satributes.includes('hitman'));
      expect(found.reduce((sum, { size }) => sum + size, 0)).toBe(special);
      // the other output has too many palindromes for a list of special ranges
      const counted = await app.inject({ url: `/outputs/${outpoint(held)}/sats` });
      expect(counted.json()).toMatchObject({ counts: { hitman: 70 * bitcoin - special } });
      const extracted = await app.inject({
        method: 'POST',
        url: '/satextractor/extract',
        payload: { ...extraction, filterSatributes: ['hitman'] },
      });
      const { specialRanges } = extracted.json<{
        specialRanges: { start: number; size: number; offset: number }[];
      }>();
      expect(specialRanges.reduce((sum, { size }) => sum + size, 0)).toBe(special);
      expect(specialRanges[0]).toMatchObject({ offset: 0 });
      const supported = await app.inject({ url: '/satscanner/supported-satributes' });
      expect(supported.json<{ result: string[] }>().result).toContain('hitman');
    });

    test('is seen by another process, and once more is found there is another book', async () => {
      const { readers } = indexed.database;
      const other = new SatributesInForce(readers, 'regtest', [hitman()]);
      await other.refresh();
      const { book } = other;
      expect(satsIn(listOf(book.find('hitman')!.rule)!)).toBe(70 * bitcoin);
      await other.refresh();
      expect(other.book).toBe(book);
    });

    test('keeps its sats where a walk ends that saw another block', async () => {
      const { book } = inForce;
      await note({ kind: 'found', blockHash: asBlockHashHex('00'.repeat(32)), ranges: [] });
      expect(inForce.book).toBe(book);
    });

    test('is unknown again where the block of the output is taken back, and says what is missing', {
      tags: ['proof'],
    }, async () => {
      const { chain } = indexed;
      await chain.takeBack(101);
      await chain.mineEmpty(102);
      await indexed.atTip();
      await inForce.refresh();
      expect(whyUnknown(hitman().rule)).toContain('still being traced');
      await tracedUntil(() => whyUnknown(hitman().rule)?.includes('cannot be traced') === true);
      expect(await shown()).toMatchObject({ findable: false, sats: null, ranges: [] });
      expect((await shown()).rule.why).toContain('has no transaction');
    });
  },
);
