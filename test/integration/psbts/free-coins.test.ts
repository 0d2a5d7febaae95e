import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { displayHash, parseTxid } from '#kernel/primitives/hash.ts';
import type { CoinParts } from '#psbts/coins/coin-parts.ts';
import { freeCoins } from '#psbts/coins/free-coins.ts';
import { namedOutput } from '#psbts/coins/named-output.ts';
import type { CoinFrame } from '#psbts/planning/choose-coins.ts';
import { premined } from '#test/builders/regtest/etching.ts';
import { type Coin, transaction } from '#test/builders/regtest/regtest-transaction.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { testAsker } from '#test/support/http/asker.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { testCoinParts } from '#test/support/psbts/coin-parts.ts';
import { customerAddress, signerOf } from '#test/support/psbts/customer-address.ts';
import { type IndexedNode, startIndexedNode } from '#test/support/utxos/indexed-node.ts';
import { IndexSource } from '#utxos/index-source.ts';
import { ScanSource } from '#utxos/scan-source.ts';
import { UtxoReader } from '#utxos/utxo-reader.ts';

const customer = customerAddress(50, 'p2wpkh');
const miner = 1000;
const payer = signerOf(customer);

const outpoint = ({ txid, vout }: Coin) => ({ txid: parseTxid(txid)!, vout });
const frame = (value: number): CoinFrame => ({
  inputs: [],
  outputs: [{ value: BigInt(value), script: customerAddress(51).script }],
  payer,
  feeRate: 1000n,
});

describe.skipIf(bitcoindForTests() === null)('coins of a payment address', () => {
  let indexed: IndexedNode;
  let parts: CoinParts;
  const coins: Record<string, Coin> = {};

  beforeAll(async () => {
    indexed = await startIndexedNode({ indexSats: true });
    const { chain } = indexed;
    const to = (value: number) => ({ value, to: customer.owner, type: customer.type });
    const split = await chain.coin();
    const made = transaction(
      [split],
      [{ value: 100_000 }, to(10_000), to(20_000), to(90_000), to(5_000), { value: split.value - 300_000 }],
    );
    const inscription = await chain.inscribe(
      { contentType: 'text/plain', body: 'held' },
      { payments: [to(80_000)] },
    );
    const etched = transaction(
      [await chain.coin()],
      [to(70_000), { value: 0, outputScript: premined(5) }, { value: 4_000_000_000 }],
    );
    const special = await chain.coin();
    const rare = transaction([special], [to(60_000), { value: special.value - 100_000 }]);
    await chain.mine([made, ...inscription.transactions, etched, rare]);
    Object.assign(coins, {
      small: made.coin(1),
      plain: made.coin(2),
      spent: made.coin(3),
      inscribed: inscription.reveal.coin(0),
      runic: etched.coin(0),
      rare: rare.coin(0),
    });
    await chain.broadcast(transaction([coins['spent']!], [{ value: 89_000 }]));
    const pending = transaction([made.coin(0)], [to(99_000)]);
    await chain.broadcast(pending);
    coins['unconfirmed'] = pending.coin(0);
    await indexed.atTip();
    parts = testCoinParts(indexed);
  });
  afterAll(() => indexed?.close());

  test('are spent if they hold nothing, the largest first', async () => {
    const { supply, unproven } = await freeCoins(parts, payer, testAsker());
    const chosen = await supply.choose(frame(25_000));
    if (chosen.kind !== 'chosen') throw new Error(chosen.kind);
    expect(chosen.coins.map(({ txid, vout }) => `${displayHash(txid)}:${vout}`)).toEqual(
      [coins['plain']!, coins['small']!].map(({ txid, vout }) => `${txid}:${vout}`),
    );
    // with an index of sats every coin can be proven
    expect([...unproven]).toEqual([]);
  });

  test('that are kept are named with their reasons, and those named elsewhere are left out', async () => {
    const { supply } = await freeCoins(parts, payer, testAsker(), [outpoint(coins['plain']!)]);
    const short = await supply.choose(frame(50_000));
    if (short.kind !== 'short') throw new Error(short.kind);
    expect(short.there).toBe(15_000n);
    expect([...short.leftOut.keys()].toSorted()).toEqual([
      'holds an inscription',
      'holds runes',
      'holds special sats',
      expect.stringMatching(/^is spent by [0-9a-f]{64} in the mempool$/u),
    ]);
  });

  test('of blocks that are not indexed are unproven', async () => {
    const { bitcoind } = indexed;
    const empty = await createTestDatabase();
    const utxos = new UtxoReader({
      pool: empty.readers,
      network: 'regtest',
      index: new IndexSource(empty.readers),
      others: [new ScanSource(bitcoind.rpc)],
      choice: 'node',
      node: bitcoind.rpc,
      tracer: null,
    });
    const { supply } = await freeCoins({ ...parts, utxos, pool: empty.readers }, payer, testAsker());
    expect(await supply.choose(frame(1_000))).toEqual({
      kind: 'unproven',
      reason: 'is not proven to hold nothing else, because its block is not indexed yet',
    });
    await empty.drop();
  });

  test('that a miner owns are spent once they are mature', async () => {
    const owner = signerOf(customerAddress(miner));
    const { supply } = await freeCoins(parts, owner, testAsker());
    const short = await supply.choose({ ...frame(300_000_000_000), payer: owner });
    if (short.kind !== 'short') throw new Error(short.kind);
    expect([...short.leftOut.keys()].toSorted()).toEqual([
      'holds special sats',
      'is a coinbase output that is too young to be spent',
    ]);
  });

  test.each([
    ['inscribed', 1, 0],
    ['runic', 0, 1],
    ['plain', 0, 0],
  ])('an output that is named shows its contents: %s', async (name, inscriptions, runes) => {
    const found = await namedOutput(parts, outpoint(coins[name]!), 'utxo', testAsker());
    if (found.kind !== 'found') throw new Error(found.reason);
    expect([found.inscriptions.length, found.runes.length]).toEqual([inscriptions, runes]);
    expect(found.inscriptions.map(({ offset }) => offset)).toEqual(inscriptions === 1 ? [0n] : []);
    expect(found.runes.map(({ amount }) => BigInt(amount))).toEqual(runes === 1 ? [5n] : []);
  });

  test('an output that is named is refused if it cannot be spent', async () => {
    const named = async (at: { txid: string; vout: number }) => {
      const found = await namedOutput(
        parts,
        { txid: parseTxid(at.txid)!, vout: at.vout },
        'utxo',
        testAsker(),
      );
      return found.kind === 'refused' ? found.reason.replaceAll(/[0-9a-f]{64}/gu, 'X') : found.kind;
    };
    expect(await named(coins['spent']!)).toBe('utxo: the output X:3 is spent by X in the mempool.');
    expect(await named(coins['unconfirmed']!)).toBe(
      'utxo: the output X:0 is not confirmed; wait until its transaction is in a block.',
    );
    expect(await named({ txid: 'ab'.repeat(32), vout: 0 })).toBe(
      'utxo: the output X:0 is spent, or does not exist.',
    );
    const young = await indexed.bitcoind.rpc.call<string>('getbestblockhash');
    const { tx } = await indexed.bitcoind.rpc.call<{ tx: string[] }>('getblock', [young]);
    expect(await named({ txid: tx[0]!, vout: 0 })).toBe(
      'utxo: the output X:0 is a coinbase output that is too young to be spent.',
    );
  });
});
