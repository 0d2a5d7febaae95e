import { createHash } from 'node:crypto';
import { createBase58check } from '@scure/base';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { reservedOutpoints } from '#inventory/inventory.store.ts';
import { Inventory, type OfferedSat } from '#inventory/inventory.ts';
import type { InventoryStanding } from '#inventory/inventory-standing.ts';
import { defaultBaseFees, type InventoryType } from '#inventory/inventory-types.ts';
import { ownScriptsOf } from '#inventory/own-scripts.ts';
import { displayHash, parseTxid } from '#kernel/primitives/hash.ts';
import { premined } from '#test/builders/regtest/etching.ts';
import {
  addressOf,
  type Coin,
  type RegtestTransaction,
  scriptOf,
  transaction,
} from '#test/builders/regtest/regtest-transaction.ts';
import { testAsker } from '#test/support/http/asker.ts';
import { buildCheckedApp } from '#test/support/http/checked-app.ts';
import { readerParts } from '#test/support/http/reader-parts.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { regtestSatributes } from '#test/support/regtest-satributes.ts';
import { runCli } from '#test/support/run-cli.ts';
import { type IndexedNode, startIndexedNode } from '#test/support/utxos/indexed-node.ts';
import { utxosOfIndex } from '#test/support/utxos/utxos-of-index.ts';
import { knownSeed, testWallet } from '#test/support/wallet/plans.ts';
import type { Owner } from '#utxos/utxo.ts';
import type { UtxoReader } from '#utxos/utxo-reader.ts';
import { accountOf } from '#wallet/account-key.ts';
import { endsAt } from '#wallet/indices/branch-ends.ts';
import { putWallet } from '#wallet/wallet.store.ts';

const operator = 31;
const stranger = 32;
/** An owner whose outputs are taken back and spent. */
const mover = 33;
const asker = testAsker();
const outpointOf = ({ txid, vout }: Coin) => ({ txid: parseTxid(txid)!, vout });
const shown = ({ txid, vout }: Coin): string => `${txid}:${vout}`;

describe.skipIf(bitcoindForTests() === null)('the inventory', () => {
  let indexed: IndexedNode;
  /** An output with an uncommon sat. The operator also owns the other outputs, but they cannot be in the inventory. */
  let good: Coin;
  let other: Coin;
  let foreign: Coin;
  let inscribed: Coin;
  let runic: Coin;
  let spent: Coin;
  let immature: Coin;

  beforeAll(async () => {
    indexed = await startIndexedNode();
    const { chain, bitcoind } = indexed;
    const pay = async (to: number) => {
      const coin = await chain.coin();
      return transaction(
        [coin],
        [
          { value: 10_000, to },
          { value: coin.value - 20_000, to: 0 },
        ],
      );
    };
    const [first, second, third, fourth] = [
      await pay(operator),
      await pay(operator),
      await pay(stranger),
      await pay(operator),
    ];
    [good, other, foreign, spent] = [first, second, third, fourth].map((made) => made.coin(0)) as [
      Coin,
      Coin,
      Coin,
      Coin,
    ];
    const inscription = await chain.inscribe({ contentType: 'text/plain', body: 'no' }, { to: operator });
    inscribed = inscription.reveal.coin(0);
    const coin = await chain.coin();
    const runestone = premined(7);
    const etched = transaction(
      [coin],
      [
        { value: 10_000, to: operator },
        { value: 0, outputScript: runestone },
        { value: coin.value - 20_000 },
      ],
    );
    runic = etched.coin(0);
    await chain.mine([first, third, fourth, ...inscription.transactions, etched]);
    await chain.mine([second, transaction([spent], [{ value: 5_000, to: stranger }])]);
    const [hash = ''] = await bitcoind.rpc.call<string[]>('generatetoaddress', [1, addressOf(operator)]);
    const { tx } = await bitcoind.rpc.call<{ tx: string[] }>('getblock', [hash, 1]);
    immature = { txid: tx[0]!, vout: 0, value: 0, owner: operator };
    await indexed.atTip();
  });

  afterAll(async () => {
    await indexed.close();
  });

  /** Pays a block's first sat, in an output of 10,000 sats. */
  async function pay(to: number): Promise<RegtestTransaction> {
    const coin = await indexed.chain.coin();
    return transaction(
      [coin],
      [
        { value: 10_000, to },
        { value: coin.value - 20_000, to: 0 },
      ],
    );
  }

  beforeEach(async () => {
    await indexed.database.pool.query(
      'DELETE FROM service.inventory_outputs; DELETE FROM service.orders; DELETE FROM service.wallet',
    );
  });

  function reader(): UtxoReader {
    const { bitcoind, database, tracer } = indexed;
    return utxosOfIndex(database.readers, bitcoind.rpc, tracer);
  }

  /** An inventory that remembers nothing. `owner` is the owner of the wallet's addresses. */
  function inventory(owner: number | null = operator, descriptor?: string): Inventory {
    const { bitcoind, database } = indexed;
    return new Inventory({
      pool: database.pool,
      network: 'regtest',
      satributes: regtestSatributes,
      utxos: reader(),
      node: bitcoind.rpc,
      descriptor,
      addresses: addressesOf(owner),
      fees: defaultBaseFees,
    });
  }

  const addressesOf = (owner: number | null) => async () =>
    owner === null ? [] : [{ script: scriptOf(owner), address: addressOf(owner) }];

  const uncommon = async (owner?: number): Promise<InventoryStanding['uncommon']> =>
    (await inventory(owner).standing()).uncommon;

  /** Reserves a sat like an order does. */
  async function reserve({ output, keyIndex, place, sat }: OfferedSat): Promise<void> {
    const { pool } = indexed.database;
    const { rows } = await pool.query<{ id: string }>(
      `INSERT INTO service.orders (id, kind, state, key_index, own_index, script, address, paid_to, amount, quote, request,
                                   terms, expires_at)
       VALUES (gen_random_uuid(), 'direct', 'waiting-payment', 0, 0, $1, '', 'direct', 1, '{}', '{}', '{}', now())
       RETURNING id`,
      [Buffer.from(output.script)],
    );
    await pool.query(
      `INSERT INTO service.reserved_outputs (order_id, file, txid, vout, value, key_index, height, block_hash, place, sat, client)
       VALUES ($1, 0, $2, $3, $4, $5, $6, decode($7, 'hex'), $8, $9, 'somebody')`,
      [
        rows[0]!.id,
        Buffer.from(output.txid),
        output.vout,
        output.value,
        keyIndex,
        output.height,
        output.blockHash,
        place,
        sat,
      ],
    );
  }

  test('takes an output of the operator’s with special sats, and counts it', async () => {
    expect(await uncommon()).toMatchObject({ amount: 0, count: 0, commonCount: 0, minSize: 100_000_000 });
    const added = await inventory().add(outpointOf(good), asker);
    expect(added).toMatchObject({ problem: null, sats: { uncommon: 1, vintage: 10_000 } });
    expect(await uncommon()).toEqual({
      amount: 1,
      baseFee: 40_000,
      commonCount: 1,
      count: 1,
      maxSize: 390_000,
      minSize: 1,
    });
    // add it again: the list still has it once
    await inventory().add(outpointOf(good), asker);
    expect(await inventory().list(asker)).toHaveLength(1);
  });

  test.each<[string, () => Coin, RegExp]>([
    [
      'spent',
      () => spent,
      /is not an unspent output of the chain, because it is spent, unconfirmed, or unknown/u,
    ],
    ['none', () => ({ ...good, vout: 77 }), /is not an unspent output of the chain/u],
    ['foreign', () => foreign, /does not belong to the operator/u],
    ['inscribed', () => inscribed, /holds an inscription/u],
    ['runic', () => runic, /holds runes/u],
    ['too young', () => immature, /is a coinbase output that is too young/u],
  ])('refuses an output that is %s', async (_word, output, reason) => {
    const coin = output();
    await expect(inventory().add(outpointOf(coin), asker)).rejects.toMatchObject({
      code: 'inventory_output_refused',
      message: expect.stringMatching(reason) as string,
    });
    await expect(inventory().add(outpointOf(coin), asker)).rejects.toThrow(shown(coin));
  });

  test('scans for outputs of the operator’s, and says why it passes over others', async () => {
    await inventory().add(outpointOf(good), asker);
    const scanned = await inventory().scan(asker);
    const results = new Map(scanned.map(({ outpoint, result, reason }) => [outpoint, [result, reason]]));
    expect(results).toEqual(
      new Map<string, (string | null)[]>([
        [shown(good), ['kept', null]],
        [shown(other), ['added', null]],
        [shown(inscribed), ['passed over', 'holds an inscription']],
        [shown(runic), ['passed over', 'holds runes']],
        [shown(immature), ['passed over', expect.stringContaining('too young') as string]],
      ]),
    );
    expect(await uncommon()).toMatchObject({ amount: 2, count: 2, commonCount: 2 });
  });

  test('counts nothing where nothing is the operator’s own, or at another address than the wallet’s', async () => {
    const { database, bitcoind } = indexed;
    await inventory().add(outpointOf(good), asker);
    const parts = {
      pool: database.pool,
      network: 'regtest',
      satributes: regtestSatributes,
      utxos: reader(),
      fees: defaultBaseFees,
      descriptor: undefined,
    } as const;
    const unset = new Inventory({ ...parts, node: bitcoind.rpc, addresses: addressesOf(null) });
    expect((await unset.standing()).uncommon.count).toBe(0);
    await expect(unset.add(outpointOf(good), asker)).rejects.toMatchObject({
      code: 'inventory_descriptor_missing',
    });
    const noNode = new Inventory({ ...parts, node: null, addresses: addressesOf(operator) });
    expect((await noNode.standing()).uncommon.count).toBe(0);
    const [listed] = await inventory(stranger).list(asker);
    expect(listed?.problem).toMatch(/does not belong to the operator/u);
    // the output is the operator's, but orders cannot be signed for it
    const elsewhere = inventory(stranger, `addr(${addressOf(operator)})`);
    expect((await elsewhere.list(asker))[0]?.problem).toMatch(/so orders cannot use it/u);
    expect((await elsewhere.standing()).uncommon).toMatchObject({ count: 0, amount: 0 });
    expect((await elsewhere.offer('uncommon', { postage: 546, count: 1 }, asker)).sats).toEqual([]);
  });

  test('is answered in the form of the public interface, to anyone', async () => {
    const { database, bitcoind, tracer } = indexed;
    for (const coin of [good, other]) await inventory().add(outpointOf(coin), asker);
    const app = buildCheckedApp({
      ...readerParts(database.readers),
      node: bitcoind.rpc,
      satTracer: tracer,
      utxos: reader(),
      // like in a service, the role that answers requests may read it
      inventory: new Inventory({
        pool: database.readers,
        network: 'regtest',
        satributes: regtestSatributes,
        utxos: reader(),
        node: bitcoind.rpc,
        descriptor: undefined,
        addresses: addressesOf(operator),
        fees: { ...defaultBaseFees, uncommon: 45_678 },
      }),
    });
    const ask = () => app.inject({ url: '/inventory', headers: { 'x-api-key': '' } });
    // without INDEX_SATS, no order is accepted
    expect((await ask()).json<InventoryStanding>().uncommon).toMatchObject({
      amount: 2,
      count: 0,
      minSize: 100_000_000,
    });
    await database.pool.query(
      `INSERT INTO chain.derived_tables (name, from_height, is_followed) VALUES ('sats', 0, true)`,
    );
    const answer = await ask();
    await database.pool.query(`DELETE FROM chain.derived_tables WHERE name = 'sats'`);
    expect(answer.statusCode).toBe(200);
    const body = answer.json<InventoryStanding>();
    expect(Object.keys(body)).toHaveLength(14);
    expect(body.uncommon).toMatchObject({ amount: 2, baseFee: 45_678, count: 2 });
    for (const type of Object.values(body)) {
      expect(Object.keys(type)).toEqual(['amount', 'baseFee', 'commonCount', 'count', 'maxSize', 'minSize']);
    }
    await app.close();
  });

  test('counts less after a spend in the mempool, and after a reorganisation', async () => {
    const { chain } = indexed;
    const [first, second] = [await pay(mover), await pay(mover)];
    await chain.mine([first]);
    await chain.mine([second]);
    await indexed.atTip();
    const own = mover;
    await inventory(own).scan(asker);
    expect(await uncommon(own)).toMatchObject({ count: 2 });
    const problems = async (): Promise<(string | null)[]> =>
      (await inventory(own).list(asker)).map(({ problem }) => problem);

    const spend = transaction([first.coin(0)], [{ value: 9_000, to: stranger }]);
    await chain.broadcast(spend);
    expect(await uncommon(own)).toMatchObject({ count: 1 });
    expect(await problems()).toContainEqual(expect.stringContaining(spend.txid));

    await chain.takeBack(1);
    expect(await uncommon(own)).toMatchObject({ count: 0, minSize: 100_000_000 });
    expect(await problems()).toContain('is not an unspent output of the chain');

    // mine the transaction again, in another block
    await chain.mineMempool();
    await chain.mineEmpty(1);
    await indexed.atTip();
    expect(await uncommon(own)).toMatchObject({ count: 0 });
    expect(await problems()).toContainEqual(expect.stringContaining('since a reorganisation'));
    expect(await inventory(own).scan(asker)).toEqual([
      { outpoint: shown(second.coin(0)), result: 'kept', reason: null },
      { outpoint: shown(first.coin(0)), result: 'removed', reason: expect.any(String) as string },
    ]);
    expect(await uncommon(own)).toMatchObject({ count: 1 });
  });

  test('is kept from the command line', async () => {
    const { bitcoind, database } = indexed;
    const env = {
      ...database.settings,
      BITCOIN_RPC_URL: bitcoind.rpcUrl,
      BITCOIN_COOKIE_FILE: bitcoind.cookieFile,
      INVENTORY_DESCRIPTOR: `addr(${addressOf(operator)})`,
    };
    const empty = await runCli(['inventory', 'list'], env);
    expect([empty.exitCode, empty.stdout]).toEqual([0, '']);
    expect(empty.stderr).toContain('The inventory is empty. Find outputs with satscribe inventory scan');
    // the node of the tests has no ZMQ
    expect(empty.stderr).not.toContain('ZMQ');
    await inventory().add(outpointOf(other), asker);
    const listed = await runCli(['inventory', 'list', '--json'], env);
    expect(listed.exitCode).toBe(0);
    expect(JSON.parse(listed.stdout)).toMatchObject([
      {
        outpoint: shown(other),
        value: 10_000,
        counts: false,
        problem: expect.stringContaining('so orders cannot use it') as string,
        sats: { uncommon: 1 },
      },
    ]);
    const refused = await runCli(['inventory', 'add', shown(inscribed)], env);
    expect(refused.exitCode).toBe(1);
    expect(refused.stderr).toContain(`${shown(inscribed)} holds an inscription.`);
    expect(refused.stderr).toContain('inventory_output_refused');
    const removed = await runCli(['inventory', 'remove', shown(other)], env);
    expect([removed.exitCode, removed.stdout]).toEqual([0, `removed ${shown(other)}\n`]);
    expect((await inventory().list(asker)).length).toBe(0);
    expect((await runCli(['inventory', 'list', '--json'], env)).stdout).toBe('[]\n');
    await expect(inventory().remove(outpointOf(other))).rejects.toMatchObject({
      code: 'inventory_output_unknown',
    });
  });

  test('offers a sat with its output, until an order has it', async () => {
    const { database } = indexed;
    for (const coin of [good, other]) await inventory().add(outpointOf(coin), asker);
    const found = inventory();
    const offered = async (type: InventoryType, postage = 546, count = 1) =>
      (await found.offer(type, { postage, count }, asker)).sats;
    const [offer] = await offered('uncommon');
    expect(offer).toMatchObject({ place: 0, keyIndex: 0, output: { value: 10_000 } });
    expect(offer!.sat % 5_000_000_000).toBe(0);
    // with this postage, nothing would be left for an output
    expect(await offered('uncommon', 9_900)).toEqual([]);
    expect(await offered('uncommon', 330)).toMatchObject([{ place: 0 }]);
    // the uncommon sat costs more, and is before this sat
    expect(await offered('vintage')).toMatchObject([{ place: 330 }]);
    expect(await offered('black')).toEqual([]);
    // each sat is from its own output, and there are no more sats than outputs
    for (const postage of [546, 330]) {
      const both = await offered('uncommon', postage, 2);
      expect(new Set(both.map(({ output }) => displayHash(output.txid))).size).toBe(2);
      expect(await offered('uncommon', postage, 3)).toHaveLength(2);
    }
    expect((await found.standing()).uncommon.count).toBe(2);
    await reserve(offer!);
    // this is true at once, although the inventory remembers responses of node and index
    expect((await found.standing()).uncommon).toMatchObject({ count: 1, amount: 1 });
    const next = await offered('uncommon', 546, 2);
    expect(next).toHaveLength(1);
    expect(next[0]!.output.txid).not.toEqual(offer!.output.txid);
    expect((await found.list(asker)).map(({ problem }) => problem)).toContain('is reserved by an order');
    await database.pool.query('UPDATE service.reserved_outputs SET released_at = now()');
    expect((await found.standing()).uncommon.count).toBe(2);
  });

  test('begins elsewhere for each of many who ask at once', async () => {
    for (const coin of [good, other]) await inventory().add(outpointOf(coin), asker);
    const found = inventory();
    const offered = new Set<string>();
    // each offer is one of two outputs, so the chance of a false alarm is one in 2^59
    for (let asked = 0; asked < 60; asked++) {
      const { sats } = await found.offer('uncommon', { postage: 546, count: 1 }, asker);
      offered.add(displayHash(sats[0]!.output.txid));
    }
    expect(offered.size).toBe(2);
  });

  test('asks the database for orders of what is listed alone', async () => {
    await inventory().add(outpointOf(good), asker);
    const found = inventory();
    await reserve((await found.offer('uncommon', { postage: 546, count: 1 }, asker)).sats[0]!);
    expect(await reservedOutpoints(indexed.database.pool)).toEqual(new Set([shown(good)]));
    // remove the output like after its reveal is mined, when the row of the order stays
    await inventory().remove(outpointOf(good));
    expect(await reservedOutpoints(indexed.database.pool)).toEqual(new Set());
  });

  test('has what orders left of a full inventory on its list', async () => {
    const { pool } = indexed.database;
    await pool.query(
      `INSERT INTO service.inventory_outputs (txid, vout, value, script, height, block_hash, ranges)
       SELECT sha256(''), vout, 546, decode('6a', 'hex'), 1, sha256(''), '{0,546}' FROM generate_series(1, 2001) AS vout`,
    );
    expect(await inventory(null).list(asker)).toHaveLength(2_001);
    await expect(inventory().add(outpointOf(good), asker)).rejects.toThrow('already has 2000 outputs');
  });

  test('makes the addresses of the wallet once for all who ask meanwhile, and asks again until there are some', async () => {
    let asked = 0;
    let owners: readonly Owner[] = [];
    const found = new Inventory({
      pool: indexed.database.pool,
      network: 'regtest',
      satributes: regtestSatributes,
      utxos: reader(),
      node: indexed.bitcoind.rpc,
      descriptor: undefined,
      addresses: async () => {
        asked++;
        return owners;
      },
      fees: defaultBaseFees,
    });
    expect(await Promise.all([found.hasAddresses(), found.hasAddresses()])).toEqual([false, false]);
    expect(asked).toBe(1);
    owners = [{ script: scriptOf(operator), address: addressOf(operator) }];
    expect(await Promise.all([found.hasAddresses(), found.hasAddresses()])).toEqual([true, true]);
    expect(await found.hasAddresses()).toBe(true);
    expect(asked).toBe(2);
  });

  test('shows its addresses from the command line', async () => {
    const env = { ...indexed.database.settings };
    const missing = await runCli(['inventory', 'address'], env);
    expect([missing.exitCode, missing.stderr]).toEqual([1, expect.stringContaining('wallet_missing')]);
    const { key, fingerprint } = accountOf(knownSeed, 'regtest');
    const identity = {
      network: 'regtest',
      accountXpub: key.publicExtendedKey,
      masterFingerprint: fingerprint,
    } as const;
    await putWallet(indexed.database.pool, identity, endsAt(0));
    const { wallet } = testWallet();
    const shownOf = async (...words: string[]) =>
      (await runCli(['inventory', 'address', ...words], env)).stdout;
    expect(await shownOf()).toBe(`${wallet.inventoryAddress(0).address}\n`);
    expect(JSON.parse(await shownOf('99', '--json'))).toEqual({
      index: 99,
      address: wallet.inventoryAddress(99).address,
    });
    expect((await runCli(['inventory', 'address', '100'], env)).exitCode).toBe(2);
    await indexed.database.pool.query('DELETE FROM service.wallet');
  });

  test('says that the descriptor is missing before it looks for the node', async () => {
    const env = { ...indexed.database.settings, BITCOIN_RPC_URL: 'http://127.0.0.1:9' };
    for (const words of [['add', shown(other)], ['scan']]) {
      const refused = await runCli(['inventory', ...words], env);
      expect(refused.exitCode).toBe(1);
      expect(refused.stderr).toContain('inventory_descriptor_missing');
    }
    const listed = await runCli(['inventory', 'list'], env);
    expect([listed.exitCode, listed.stdout]).toEqual([0, '']);
    expect(listed.stderr).toMatch(/^The inventory is empty\. [^\n]+\n$/u);
  });

  describe('a descriptor', () => {
    const base58check = createBase58check((bytes: Uint8Array) =>
      Uint8Array.from(createHash('sha256').update(bytes).digest()),
    );
    /** The point of the private key 1, and that key itself, in BIP 32's form for test networks. */
    const extended = (version: string, key: string): string =>
      base58check.encode(
        Uint8Array.from(Buffer.from(`${version}${'00'.repeat(9)}${'07'.repeat(32)}${key}`, 'hex')),
      );
    const publicKey = extended(
      '043587cf',
      '0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798',
    );
    const privateKey = extended('04358394', `${'00'.repeat(32)}01`);

    test('with a range has a thousand addresses', async () => {
      const own = await ownScriptsOf(indexed.bitcoind.rpc, `wpkh(${publicKey}/0/*)`, 'regtest');
      expect(new Set(own.owners.map(({ address }) => address)).size).toBe(1_000);
      const [{ script } = { script: new Uint8Array() }] = own.owners;
      expect([own.has(script), own.has(Uint8Array.of(...script).reverse())]).toEqual([true, false]);
    });

    test('with several paths has those of each', async () => {
      const own = await ownScriptsOf(indexed.bitcoind.rpc, `tr(${publicKey}/<0;1>/*)`, 'regtest');
      expect(own.owners).toHaveLength(2_000);
    });

    test('that is invalid or has private keys is refused without a word of it', async () => {
      for (const text of [
        `wpkh(${privateKey}/0/*)`,
        'nonsense',
        'raw(6a)',
        `wpkh(${publicKey}/0/*)#aaaaaaaa`,
      ]) {
        const asked = ownScriptsOf(indexed.bitcoind.rpc, text, 'regtest');
        await expect(asked).rejects.toMatchObject({ code: 'inventory_descriptor_invalid' });
        await expect(asked).rejects.not.toThrow(text);
      }
    });
  });
});
