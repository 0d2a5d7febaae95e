import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { App } from '#http/server/routes/app-dependencies.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { formatInscriptionId } from '#kernel/primitives/inscription-id.ts';
import { OutgoingHttp } from '#outgoing/outgoing-http.ts';
import { premined } from '#test/builders/regtest/etching.ts';
import { addressOf, type Coin, scriptOf, transaction } from '#test/builders/regtest/regtest-transaction.ts';
import { testAsker } from '#test/support/http/asker.ts';
import { buildCheckedApp } from '#test/support/http/checked-app.ts';
import { readerParts } from '#test/support/http/reader-parts.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { regtestSatributes } from '#test/support/regtest-satributes.ts';
import { type EsploraServer, startEsploraServer } from '#test/support/utxos/esplora-server.ts';
import { type IndexedNode, startIndexedNode } from '#test/support/utxos/indexed-node.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import { EsploraSource } from '#utxos/esplora-source.ts';
import { isFree } from '#utxos/held-by-outputs.ts';
import { IndexSource } from '#utxos/index-source.ts';
import { ScanSource } from '#utxos/scan-source.ts';
import type { Owner, Utxo, UtxoSourceName } from '#utxos/utxo.ts';
import { UtxoReader } from '#utxos/utxo-reader.ts';

const ownerOf = (owner: number): Owner => ({ script: scriptOf(owner), address: addressOf(owner) });
const shown = ({ txid, vout }: { readonly txid: Uint8Array; readonly vout: number }): string =>
  `${displayHash(txid as Utxo['txid'])}:${vout}`;
const outpoint = ({ txid, vout }: Coin): string => `${txid}:${vout}`;

/** Owner of an ordinary output, an output that the mempool spends, an inscription, and runes. */
const customer = 7;
/** Owner of a coinbase. */
const miner = 8;
const unpaid = 9;

describe.skipIf(bitcoindForTests() === null)('unspent outputs', () => {
  let indexed: IndexedNode;
  let esplora: EsploraServer;
  let outgoing: OutgoingHttp;
  let plain: Coin;
  let spentByMempool: Coin;
  let inscribed: Coin;
  let inscriptionId: string;
  let runic: Coin;
  let spender: string;

  beforeAll(async () => {
    indexed = await startIndexedNode();
    const { chain, bitcoind } = indexed;
    const split = await chain.split(2, 40_000, customer);
    [plain, spentByMempool] = [split.coin(0), split.coin(1)];
    const inscription = await chain.inscribe({ contentType: 'text/plain', body: 'held' }, { to: customer });
    [inscribed, inscriptionId] = [inscription.reveal.coin(0), inscription.reveal.id()];
    const runestone = premined(500);
    const coin = await chain.coin();
    const etched = transaction(
      [coin],
      [
        { value: 20_000, to: customer },
        { value: 0, outputScript: runestone },
        { value: coin.value - 40_000 },
      ],
    );
    runic = etched.coin(0);
    await chain.mine([split, ...inscription.transactions, etched]);
    const script = Buffer.from(scriptOf(miner)).toString('hex');
    await bitcoind.rpc.call('generatetodescriptor', [1, `raw(${script})`]);
    const spend = transaction([spentByMempool], [{ value: 30_000, to: customer }]);
    spender = spend.txid;
    await chain.broadcast(spend);
    esplora = await startEsploraServer(bitcoind.rpc);
    esplora.unconfirmed.push({ txid: spend.txid, vout: 0, value: 30_000 });
    outgoing = new OutgoingHttp({ own: [esplora.url] });
    await indexed.atTip();
  });

  afterAll(async () => {
    await outgoing.close();
    esplora.close();
    await indexed.close();
  });

  beforeEach(() => {
    esplora.instead = null;
  });

  function reader(choice: UtxoSourceName | 'auto', options: { readonly node?: null } = {}): UtxoReader {
    const { bitcoind, database, tracer } = indexed;
    const node = options.node === null ? null : bitcoind.rpc;
    const others = [
      new EsploraSource(outgoing, esplora.url),
      ...(node === null ? [] : [new ScanSource(node)]),
    ];
    const index = new IndexSource(database.readers);
    return new UtxoReader({
      pool: database.readers,
      network: 'regtest',
      index,
      others,
      choice,
      node,
      tracer: node === null ? null : tracer,
    });
  }

  const sources = ['index', 'esplora', 'node'] as const;

  describe.each(sources)('from the source %s', (name) => {
    test('are those of a script, in the order of the chain, with their blocks', async () => {
      const height = await indexed.chain.height();
      const { utxos, source, tipHeight } = await reader(name).unspent([ownerOf(customer)], testAsker());
      expect({ source, tipHeight }).toEqual({ source: name, tipHeight: height });
      expect(new Set(utxos.map(shown))).toEqual(
        new Set([plain, spentByMempool, inscribed, runic].map(outpoint)),
      );
      expect(utxos.map(({ height: of }) => of)).toEqual(utxos.map(() => height - 1));
      const blockHash = await indexed.bitcoind.rpc.call<string>('getblockhash', [height - 1]);
      const { time } = await indexed.bitcoind.rpc.call<{ time: number }>('getblockheader', [blockHash]);
      for (const utxo of utxos) {
        expect(Buffer.from(utxo.script)).toEqual(Buffer.from(scriptOf(customer)));
        expect(utxo).toMatchObject({ blockHash, blockTime: time, isImmature: false });
      }
      expect(utxos.find((utxo) => shown(utxo) === outpoint(runic))?.value).toBe(20_000);
      const ids = utxos.map(({ txid, vout }) => `${Buffer.from(txid).toString('hex')} ${vout}`);
      expect(ids).toEqual(ids.toSorted());
    });

    test('are the largest of them where not all are asked for', async () => {
      const all = await reader(name).listed([ownerOf(customer)], testAsker());
      const byValue = all.outputs.map(({ value }) => value).toSorted((a, b) => b - a);
      const one = await reader(name).largest(ownerOf(customer), 1, testAsker());
      const values = one.outputs.map(({ value }) => value);
      // the other sources must list all outputs before they know the largest ones
      expect([values, one.isAll]).toEqual(
        name === 'index' ? [byValue.slice(0, 1), false] : [all.outputs.map(({ value }) => value), true],
      );
      const many = await reader(name).largest(ownerOf(customer), 100, testAsker());
      expect(many.isAll).toBe(true);
      expect(many.outputs.map(shown).toSorted()).toEqual(all.outputs.map(shown).toSorted());
      expect((await reader(name).largest(ownerOf(miner + 1), 1, testAsker())).outputs).toEqual([]);
    });

    test('tell which of them the mempool spends', async () => {
      const { utxos } = await reader(name).unspent([ownerOf(customer)], testAsker());
      const spent = utxos.filter((utxo) => utxo.spender !== 'none');
      expect(spent.map((utxo) => [shown(utxo), utxo.spender])).toEqual([[outpoint(spentByMempool), spender]]);
    });

    test('tell which coinbase is too young to be spent', async () => {
      const { utxos } = await reader(name).unspent([ownerOf(miner)], testAsker());
      expect(utxos.map(({ isImmature }) => isImmature)).toEqual([true]);
      const { utxos: old } = await reader(name).unspent([ownerOf(1000)], testAsker());
      const height = await indexed.chain.height();
      expect(old.length).toBeGreaterThan(100);
      let immature = 0;
      for (const utxo of old) {
        const parameters = [displayHash(utxo.txid), utxo.vout];
        const { coinbase } = await indexed.bitcoind.rpc.call<{ coinbase: boolean }>('gettxout', parameters);
        expect({ of: utxo.height, isImmature: utxo.isImmature }).toEqual({
          of: utxo.height,
          isImmature: coinbase && utxo.height > height - 99,
        });
        if (utxo.isImmature === true) immature++;
      }
      expect(immature).toBeGreaterThan(90);
    });

    test('of several scripts come together, and of a script without any there are none', async () => {
      const both = await reader(name).unspent([ownerOf(customer), ownerOf(miner)], testAsker());
      expect(both.utxos).toHaveLength(5);
      expect((await reader(name).unspent([ownerOf(unpaid)], testAsker())).utxos).toEqual([]);
    });

    test('hold what the index proves', async () => {
      const utxos = reader(name);
      const { utxos: listed } = await utxos.unspent([ownerOf(customer)], testAsker());
      const holdings = await utxos.holdings(listed, testAsker());
      const byOutpoint = new Map(listed.map((utxo, place) => [shown(utxo), holdings[place]!]));
      expect(
        byOutpoint
          .get(outpoint(inscribed))!
          .inscriptions!.map(({ txid, index }) => formatInscriptionId(txid, index)),
      ).toEqual([inscriptionId]);
      expect(byOutpoint.get(outpoint(runic))!.runes).toMatchObject([{ amount: 500 }]);
      expect(isFree(byOutpoint.get(outpoint(plain))!)).toBe(true);
      for (const each of [inscribed, runic]) expect(isFree(byOutpoint.get(outpoint(each))!)).toBe(false);
      for (const { unproven } of holdings) expect(unproven).toEqual([]);
    });

    test('have sats', async () => {
      const utxos = reader(name);
      const { utxos: listed } = await utxos.unspent([ownerOf(miner)], testAsker());
      const [sats] = await utxos.sats(listed, testAsker(), regtestSatributes().findable);
      const height = await indexed.chain.height();
      expect(sats).toMatchObject({
        state: 'known',
        ranges: [{ start: height * 5_000_000_000, end: height * 5_000_000_000 + listed[0]!.value }],
      });
      expect(sats?.state === 'known' && sats.special.counts.get('uncommon')).toBe(1);
    });
  });

  test('come from the first source that there is', async () => {
    const { source } = await reader('auto').unspent([ownerOf(unpaid)], testAsker());
    expect(source).toBe('index');
    const { database } = indexed;
    const none = new UtxoReader({
      pool: database.readers,
      network: 'regtest',
      index: new IndexSource(database.readers),
      others: [],
      choice: 'node',
      node: null,
      tracer: null,
    });
    await expect(none.unspent([ownerOf(unpaid)], testAsker())).rejects.toMatchObject({
      code: 'utxo_source_missing',
    });
  });

  test('without a node: it is not known who spends them, nor their sats', async () => {
    const utxos = reader('esplora', { node: null });
    const { utxos: listed } = await utxos.unspent([ownerOf(miner)], testAsker());
    expect(listed).toMatchObject([{ spender: 'unknown', isImmature: null }]);
    expect(await utxos.sats(listed, testAsker(), regtestSatributes().findable)).toMatchObject([
      { state: 'unknown' },
    ]);
  });

  test('of blocks that are not indexed, or on another branch, hold nothing that could be proven', async () => {
    const utxos = reader('index');
    const { utxos: listed } = await utxos.unspent([ownerOf(miner)], testAsker());
    const [utxo] = listed;
    const other = { ...utxo!, blockHash: '00'.repeat(32) as Utxo['blockHash'] };
    const later = { ...utxo!, height: (utxo!.height + 1) as Utxo['height'] };
    expect(await utxos.holdings([other, later], testAsker())).toMatchObject([
      {
        inscriptions: null,
        runes: null,
        unproven: [expect.stringContaining('not part of the indexed chain')],
      },
      { inscriptions: null, runes: null, unproven: [expect.stringContaining('not indexed yet')] },
    ]);
  });

  describe('of a server that', () => {
    test.each([
      ['is overloaded', 503, 'no', 'utxo_source_unreachable'],
      ['limits', 429, 'no', 'utxo_source_unreachable'],
      ['does not know the path', 404, 'no', 'utxo_source_invalid'],
      ['redirects', 302, '', 'utxo_source_invalid'],
      ['gives a page', 200, '<html>', 'utxo_source_invalid'],
    ])('%s: %i is %3$s', async (_words, status, body, code) => {
      esplora.instead = { status, body };
      await expect(reader('esplora').unspent([ownerOf(customer)], testAsker())).rejects.toMatchObject({
        code,
      });
    });

    test('refuses long lists: the address is too large', async () => {
      esplora.instead = { status: 400, body: 'Too many unspent transaction outputs (>500).' };
      await expect(reader('esplora').unspent([ownerOf(customer)], testAsker())).rejects.toMatchObject({
        code: 'address_too_large',
      });
    });
  });

  describe('by a scan of the node', () => {
    test('are found once for all who ask for the same script at once', async () => {
      let scans = 0;
      const { rpc } = indexed.bitcoind;
      const source = new ScanSource({
        url: rpc.url,
        call: (method, ...rest) => {
          if (method === 'scantxoutset') scans++;
          return rpc.call(method, ...rest);
        },
      });
      const [first, second] = await Promise.all([
        source.list([ownerOf(customer)], testAsker()),
        source.list([ownerOf(customer)], testAsker('another')),
      ]);
      expect(second).toEqual(first);
      await source.list([ownerOf(customer)], testAsker());
      expect(scans).toBe(1);
    });

    test('are refused to who asks for another script meanwhile, and to who has waited long enough', async () => {
      const { promise, resolve } = Promise.withResolvers<undefined>();
      const { rpc } = indexed.bitcoind;
      const source = new ScanSource(
        {
          url: rpc.url,
          call: async (method, ...rest) => {
            if (method === 'scantxoutset') await promise;
            return rpc.call(method, ...rest);
          },
        },
        50,
      );
      const first = source.list([ownerOf(customer)], testAsker());
      await waitUntil(() => Promise.resolve(source.scanning.length === 1));
      await expect(source.list([ownerOf(unpaid)], testAsker())).rejects.toMatchObject({
        code: 'utxo_scan_busy',
      });
      await expect(first).rejects.toMatchObject({ code: 'utxo_scan_busy' });
      resolve(undefined);
      // the scan continued, and a later request finds its result
      await waitUntil(() => Promise.resolve(source.scanning.length === 0));
      expect((await source.list([ownerOf(customer)], testAsker())).outputs).toHaveLength(4);
    });
  });

  describe('in the form of public clients', () => {
    let app: App;

    beforeAll(async () => {
      const { bitcoind, database, tracer } = indexed;
      app = buildCheckedApp({
        ...readerParts(database.readers),
        node: bitcoind.rpc,
        satTracer: tracer,
        utxos: reader('auto'),
      });
      await app.ready();
    });

    afterAll(async () => {
      await app.close();
    });

    test('are those that can be spent now', async () => {
      const answer = await app.inject(`/mempool/api/address/${addressOf(customer)}/utxo`);
      expect(answer.statusCode).toBe(200);
      const utxos = answer.json<{ txid: string; vout: number; status: object; value: number }[]>();
      expect(new Set(utxos.map(({ txid, vout }) => `${txid}:${vout}`))).toEqual(
        new Set([plain, inscribed, runic].map(outpoint)),
      );
      const height = (await indexed.chain.height()) - 1;
      const hash = await indexed.bitcoind.rpc.call<string>('getblockhash', [height]);
      const { time } = await indexed.bitcoind.rpc.call<{ time: number }>('getblockheader', [hash]);
      const { txid, vout, value } = plain;
      expect(utxos).toContainEqual({
        txid,
        vout,
        status: { confirmed: true, block_height: height, block_hash: hash, block_time: time },
        value,
      });
    });

    test('are an empty list for an address without any', async () => {
      const answer = await app.inject(`/mempool/api/address/${addressOf(unpaid)}/utxo`);
      expect([answer.statusCode, answer.json()]).toEqual([200, []]);
    });

    test.each(['nonsense', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4', 'x'.repeat(1000)])(
      'of %s are refused in one sentence',
      async (address) => {
        const answer = await app.inject(`/mempool/api/address/${address}/utxo`);
        expect(answer.statusCode).toBe(400);
        expect(answer.json()).toEqual({ status: 'error', error: expect.any(String) as string });
      },
    );
  });
});
