import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { App } from '#http/server/routes/app-dependencies.ts';
import { openNodeSource } from '#indexer/source/node-source.ts';
import type { BlockSource } from '#kernel/contracts/block-source.ts';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { Runestone } from '#kernel/runes/runestone/artifact.ts';
import { plainEtching } from '#kernel/runes/runestone/artifact.ts';
import { encipher } from '#kernel/runes/runestone/encipher.ts';
import { smallU128 } from '#kernel/runes/u128.ts';
import type { Inscribed, MinedBlock } from '#test/builders/regtest/regtest-chain.ts';
import {
  addressOf,
  type Coin,
  type RegtestTransaction,
  transaction,
} from '#test/builders/regtest/regtest-transaction.ts';
import { buildCheckedApp } from '#test/support/http/checked-app.ts';
import { readerParts } from '#test/support/http/reader-parts.ts';
import { bitcoindThatRelaysReveals } from '#test/support/node/find-bitcoind.ts';
import { LiveMempool } from '#test/support/node/live-mempool.ts';
import { alice, bob, carol, Trades } from '#test/support/sales/trades.ts';

const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
const textOf = (page: string): string => page.replaceAll(/<[^>]+>/gu, ' ').replaceAll(/\s+/gu, ' ');
/** The owner of more outputs than a page lists. */
const saver = 30;
const minter = 31;
const terms = {
  amount: smallU128(100),
  cap: smallU128(5),
  heightStart: null,
  heightEnd: null,
  offsetStart: null,
  offsetEnd: null,
};

describe.skipIf(bitcoindThatRelaysReveals() === null)('pages beside a real node', () => {
  let live: LiveMempool;
  let source: BlockSource;
  let app: App;
  let blocksRead = 0;
  /** A block with a sale and an etching. */
  let block: MinedBlock;
  let sold: RegtestTransaction;
  let bought: RegtestTransaction;
  let etching: RegtestTransaction;
  let many: RegtestTransaction;
  let pending: Inscribed;
  let pendingSale: RegtestTransaction;
  let pendingItem: RegtestTransaction;
  let pendingMint: RegtestTransaction;
  let pendingEtching: RegtestTransaction;

  /** A transaction that pays an owner, with a runestone in output 0. */
  function stone(coin: Coin, parts: Partial<Omit<Runestone, 'kind'>>, owner: number): RegtestTransaction {
    const none = { kind: 'runestone', edicts: [], etching: null, mint: null, pointer: null } as const;
    return transaction(
      [coin],
      [
        { value: 0, outputScript: encipher({ ...none, ...parts }) },
        { value: 10_000, to: owner },
        { value: coin.value - 20_000 },
      ],
    );
  }

  beforeAll(async () => {
    live = await LiveMempool.start();
    const { chain } = live;
    const opened = openNodeSource(live.node);
    source = {
      ...opened,
      read: (...asked) => {
        blocksRead += 1;
        return opened.read(...asked);
      },
    };
    app = appBeside(live.node.rpc);
    await app.ready();
    live.index({ indexAddresses: true });
    const trades = new Trades(live);
    sold = await trades.item(alice);
    pendingItem = await trades.item(alice);
    bought = await trades.purchase(sold.coin(0), bob, 70_000);
    pendingSale = await trades.purchase(pendingItem.coin(0), bob, 50_000);
    etching = stone(
      await chain.coin(),
      { etching: { ...plainEtching, premine: smallU128(1000), terms }, pointer: 1 },
      minter,
    );
    many = await chain.split(105, 1_000, saver);
    await chain.mine([many]);
    block = await chain.mine([bought, etching]);
    await live.indexed();
    live.follow();
    await live.eventually(async () => {
      expect(await live.get('/mempool')).toMatchObject({ following: true });
    });
    pending = await chain.inscribe(
      { body: 'waits <i>', contentType: 'text/plain' },
      { to: carol, fee: 5_000 },
    );
    const mint = { block: smallU128(block.height), tx: 2 };
    pendingMint = stone(await chain.coin(), { mint, pointer: 1 }, minter);
    pendingEtching = stone(
      await chain.coin(),
      { etching: { ...plainEtching, premine: smallU128(7) }, pointer: 1 },
      minter,
    );
    for (const each of [...pending.transactions, pendingSale, pendingMint, pendingEtching])
      await chain.broadcast(each);
    await live.eventually(async () => {
      expect(await live.get('/mempool')).toMatchObject({ kept: 4 });
    });
  });

  afterAll(async () => {
    await app.close();
    await source.close();
    await live.close();
  });

  function appBeside(node: NodeRpc): App {
    return buildCheckedApp({ ...readerParts(live.database.readers), node, blocks: source });
  }

  const pageOf = async (url: string, of = app): Promise<string> => {
    const { statusCode, headers, body } = await of.inject({ url, headers: browser });
    expect([url, statusCode, headers['content-type']]).toEqual([url, 200, 'text/html; charset=utf-8']);
    return body;
  };
  const wordsOf = async (url: string): Promise<string> => textOf(await pageOf(url));

  describe('a transaction in a block', () => {
    test('has its fee, place, inputs, outputs and sale, and no block is read for them', async () => {
      const before = blocksRead;
      const page = await pageOf(`/tx/${bought.txid}`);
      expect(blocksRead).toBe(before);
      const words = textOf(page);
      expect(words).toContain(`Fee ${bought.fee.toLocaleString('en-US')} sat`);
      expect(words).toMatch(new RegExp(`Block ${block.height} , .* UTC, transaction 1 there`, 'u'));
      expect(words).toMatch(/Sold here 1 .* #0 70,000 sats/u);
      expect(page).toContain(`href="/address/${addressOf(alice)}"`);
      expect(page).toContain(`href="/output/${sold.txid}:0"`);
      expect(page).toContain(`href="/inscription/${sold.id()}"`);
    });

    test('has its runes, and as a coinbase no fee', async () => {
      const runes = await wordsOf(`/tx/${etching.txid}`);
      expect(runes).toContain('transaction 2 there');
      expect(runes).toMatch(/etched, with a premine of 1,?000/u);
      const coinbase = await wordsOf(`/tx/${block.coinbase.txid}`);
      expect(coinbase).toContain('Fee none: it pays the miner of its block');
      expect(coinbase).toContain('transaction 0 there');
    });

    test('is the same if the node does not know what one transaction spends', async () => {
      const { rpc } = live.node;
      const old = appBeside({
        url: rpc.url,
        call: async (method, parameters, options) => {
          if (method === 'gettxoutproof' || parameters?.[1] === 2)
            throw new AppError('node_call_failed', 'too old', { rpcCode: -1 });
          return rpc.call(method, parameters, options);
        },
      });
      await old.ready();
      try {
        const before = blocksRead;
        for (const { txid } of [bought, etching, block.coinbase])
          expect(await pageOf(`/tx/${txid}`, old)).toBe(await pageOf(`/tx/${txid}`));
        expect(blocksRead).toBe(before + 1);
      } finally {
        await old.close();
      }
    });
  });

  test('a transaction in the mempool has its fee, its expected wait, its family and its reveals', async () => {
    const { reveal, commit } = pending;
    const words = await wordsOf(`/tx/${reveal.txid}`);
    expect(words).toContain('waits in the mempool');
    expect(words).toContain('its fee rate is enough for the next two blocks by the node’s estimate');
    expect(words).toContain('needs 1 unconfirmed transaction; 0 need it');
    expect(words).toContain('Inscribed here 1');
    expect(words).toContain(`Fee ${reveal.fee.toLocaleString('en-US')} sat`);
    const page = await pageOf(`/tx/${commit.txid}`);
    expect(page).toContain(`href="/tx/${reveal.txid}"`);
    expect(await wordsOf(`/tx/${pendingSale.txid}`)).toContain('Sold here 1');
    expect(await wordsOf(`/tx/${pendingMint.txid}`)).toMatch(/minted 100/u);
  });

  test('an output is unspent, spent in a block, or spent in the mempool', async () => {
    expect(await wordsOf(`/output/${bought.txid}:1`)).toContain('State unspent');
    expect(await pageOf(`/output/${bought.txid}:1`)).toContain(`href="/inscription/${sold.id()}"`);
    const spent = await pageOf(`/output/${sold.txid}:0`);
    expect(textOf(spent)).toMatch(/State spent .*Inscriptions before it was spent/u);
    expect(spent).toContain(`href="/tx/${bought.txid}"`);
    const spending = await pageOf(`/output/${pendingItem.txid}:0`);
    expect(textOf(spending)).toMatch(/State .*mempool/u);
    expect(spending).toContain(`href="/tx/${pendingSale.txid}"`);
    const own = await pageOf(`/output/${pending.reveal.txid}:0`);
    expect(textOf(own)).toContain('waits in the mempool');
    expect(own).toContain(`href="/inscription/${pending.reveal.id()}"`);
  });

  describe('an address', () => {
    test('has its pending changes', async () => {
      const inscribed = await pageOf(`/address/${addressOf(carol)}?tab=pending`);
      expect(textOf(inscribed)).toContain('Inscribed to this address');
      expect(inscribed).toContain(`href="/inscription/${pending.reveal.id()}"`);
      for (const owner of [alice, bob]) {
        const moving = await pageOf(`/address/${addressOf(owner)}?tab=pending`);
        expect(textOf(moving)).toContain('Moving inscriptions');
        expect(moving).toContain(`href="/inscription/${pendingItem.id()}"`);
        expect(moving).toContain(`href="/tx/${pendingSale.txid}"`);
      }
      expect(await wordsOf(`/address/${addressOf(minter)}?tab=pending`)).toMatch(
        /Moving runes Rune Arrives Leaves \S+ 100 0/u,
      );
      expect(await wordsOf(`/address/${addressOf(saver)}?tab=pending`)).toContain(
        'Nothing in the mempool concerns this address.',
      );
    });

    test('has each of its outputs on exactly one page', async () => {
      const first = await pageOf(`/address/${addressOf(saver)}?tab=outputs`);
      const next = /<a href="([^"]+)" rel="next">/u.exec(first)?.[1]?.replaceAll('&amp;', '&');
      const second = await pageOf(next!);
      const outputsIn = (page: string): string[] =>
        [...page.matchAll(/href="\/output\/([^"]+)"/gu)].map(([, outpoint]) => outpoint!);
      expect([outputsIn(first).length, outputsIn(second).length]).toEqual([100, 5]);
      const all = Array.from({ length: 105 }, (_, vout) => `${many.txid}:${vout}`);
      expect(new Set([...outputsIn(first), ...outputsIn(second)])).toEqual(new Set(all));
      expect(second).not.toContain('rel="next"');
      expect(second).toContain('rel="first"');
    });
  });

  test('a pending inscription has its page, with its transaction and its fee', async () => {
    const page = await pageOf(`/inscription/${pending.reveal.id()}`);
    expect(page).toContain(`href="/tx/${pending.reveal.txid}"`);
    expect(page).toContain(`href="/output/${pending.reveal.txid}:0"`);
    expect(page).toContain(`href="/address/${addressOf(carol)}"`);
    expect(textOf(page)).toContain('waits in the mempool');
    expect(textOf(page)).toContain('5,000 sats');
  });

  describe('the mempool', () => {
    test('has its pending inscriptions, by kind too, and the outlook of the next block', async () => {
      const href = `href="/inscription/${pending.reveal.id()}"`;
      const page = await pageOf('/mempool');
      expect(page).toContain(href);
      expect(textOf(page)).toContain('Next block all pending transactions fit into it, with 1 inscription');
      expect(await pageOf('/mempool?kind=text')).toContain(href);
      const images = await pageOf('/mempool?kind=images');
      expect(images).not.toContain(href);
      expect(textOf(images)).toContain('No inscription of that kind waits for a block.');
    });

    test('has pending sales and runes', async () => {
      const sales = await pageOf('/mempool?tab=sales');
      expect(textOf(sales)).toContain('50,000 sats');
      expect(sales).toContain(`href="/sale/${pendingSale.txid}"`);
      expect(sales).toContain(`href="/inscription/${pendingItem.id()}"`);
      const runes = await pageOf('/mempool?tab=runes');
      expect(textOf(runes)).toMatch(/minted 100 .*/u);
      expect(textOf(runes)).toMatch(/a rune that is not etched yet etched, with a premine of 7 /u);
      for (const { txid } of [pendingMint, pendingEtching]) expect(runes).toContain(`href="/tx/${txid}"`);
    });

    test('has older rows before a place, and refuses an invalid place', async () => {
      for (const before of ['before=1', 'kind=text&before=1', 'tab=sales&before=1.0.0', 'tab=runes&before=1'])
        expect(await wordsOf(`/mempool?${before}`)).toContain('There is nothing on this page.');
      for (const wrong of [
        'before=x',
        'before=1.2',
        'tab=sales&before=1',
        'tab=runes&before=-1',
        'tab=x',
        'kind=x',
      ])
        expect([
          wrong,
          (await app.inject({ url: `/mempool?${wrong}`, headers: browser })).statusCode,
        ]).toEqual([wrong, 400]);
      expect((await app.inject('/mempool?tab=x&before=x')).json()).toMatchObject({ following: true });
    });
  });

  test('a block has its fees, its sale and its etching', async () => {
    const fees = bought.fee + etching.fee;
    const page = await pageOf(`/block/${block.height}`);
    expect(textOf(page)).toContain(`Fees ${fees.toLocaleString('en-US')} sats Subsidy 50 BTC`);
    expect(textOf(page)).toContain('Inscriptions 0 Sales 1 Runes 1');
    const sales = await pageOf(`/block/${block.hash}?tab=sales`);
    expect(sales).toContain(`href="/sale/${bought.txid}"`);
    expect(sales).toContain(`href="/inscription/${sold.id()}"`);
    const runes = await pageOf(`/block/${block.height}?tab=runes`);
    expect(textOf(runes)).toContain(`${block.height}:2`);
    expect(runes).toMatch(/href="\/rune\/[A-Z]+"/u);
    for (const tab of ['sales', 'runes'])
      expect(await wordsOf(`/block/${block.height}?tab=${tab}&page=9`)).toContain('Page 9 is past the end.');
  });
});
