import type { App } from '#http/server/routes/app-dependencies.ts';
import { openNodeSource } from '#indexer/source/node-source.ts';
import { Inventory, type ListedInventory } from '#inventory/inventory.ts';
import { defaultBaseFees, type InventoryType } from '#inventory/inventory-types.ts';
import { parseTxid } from '#kernel/primitives/hash.ts';
import { genesisHeight } from '#kernel/primitives/height.ts';
import { connectNode } from '#node/bitcoin-node.ts';
import { NodeTraceSource } from '#sat-ranges/node-trace-source.ts';
import { SatTracer } from '#sat-ranges/sat-tracer.ts';
import { inventoryOwners } from '#src/app/sats/inventory.ts';
import {
  type Coin,
  type RegtestTransaction,
  transaction,
} from '#test/builders/regtest/regtest-transaction.ts';
import { testAsker } from '#test/support/http/asker.ts';
import { buildCheckedApp } from '#test/support/http/checked-app.ts';
import { readerParts } from '#test/support/http/reader-parts.ts';
import { testAccess } from '#test/support/http/search-access.ts';
import type { BitcoindOptions } from '#test/support/node/bitcoind.ts';
import { regtestSatributes } from '#test/support/regtest-satributes.ts';
import { utxosOfIndex } from '#test/support/utxos/utxos-of-index.ts';
import { OrderWorld } from './order-world.ts';

/** An output of the inventory with one uncommon sat. */
export interface Stocked {
  readonly txid: string;
  readonly vout: number;
  readonly value: number;
  /** The uncommon sat, and how many sats the output has before it. */
  readonly sat: number;
  readonly place: number;
  readonly script: Uint8Array;
  /** The transaction that made the output. */
  readonly made: RegtestTransaction;
}

/** Address of a proxy that does not name its clients. */
export const proxyAddress = '203.0.113.7';

/** The inventory of a world, and the app with which customers order its sats. */
export class StockRoom {
  readonly world: OrderWorld;
  readonly app: App;
  readonly #inventory: () => Inventory;
  readonly #close: () => Promise<void>;

  private constructor(world: OrderWorld, app: App, inventory: () => Inventory, close: () => Promise<void>) {
    this.world = world;
    this.app = app;
    this.#inventory = inventory;
    this.#close = close;
  }

  /** Starts a world with an index of sats and this many blocks. Its orders can use the inventory. */
  static async start(blocks: number, options: BitcoindOptions = {}): Promise<StockRoom> {
    const world = await OrderWorld.start(options, blocks, {
      indexSats: true,
      indexRunes: true,
      indexAddresses: true,
    });
    const { database, bitcoind } = world;
    const node = await connectNode(bitcoind.settings);
    const source = openNodeSource(node, { firstHeight: genesisHeight });
    const tracer = new SatTracer(new NodeTraceSource(node.rpc, source));
    const utxos = utxosOfIndex(database.readers, bitcoind.rpc, tracer);
    const addresses = inventoryOwners(database.readers);
    const opened = (pool: typeof database.pool): Inventory =>
      new Inventory({
        pool,
        network: 'regtest',
        satributes: regtestSatributes,
        utxos,
        node: bitcoind.rpc,
        descriptor: undefined,
        addresses: () => addresses,
        fees: defaultBaseFees,
        // no time for which results stay fresh, so tests need not wait
        freshMs: 0,
      });
    const given = testAccess(database.accessPool, { mode: 'open' });
    const app = buildCheckedApp({
      ...readerParts(database.readers),
      node: bitcoind.rpc,
      orders: world.customerOrders,
      inventory: opened(database.readers),
      trustedProxies: [proxyAddress],
      access: given.access,
    });
    // opens the inventory each time, like a command that remembers nothing
    return new StockRoom(
      world,
      app,
      () => opened(database.pool),
      async () => {
        await app.close();
        await given.close();
        await source.close();
        await world.close();
      },
    );
  }

  async post<Body = Record<string, unknown>>(
    url: string,
    payload: object,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<{ status: number; body: Body }> {
    const answer = await this.app.inject({ method: 'POST', url, payload, headers });
    return { status: answer.statusCode, body: answer.json() };
  }

  async count(type: InventoryType): Promise<number> {
    const answer = await this.app.inject({ url: '/inventory' });
    return answer.json<Record<InventoryType, { count: number }>>()[type].count;
  }

  list(): Promise<ListedInventory[]> {
    return this.#inventory().list(testAsker());
  }

  scan(): Promise<unknown> {
    return this.#inventory().scan(testAsker());
  }

  /** A coin whose first sat is the first sat of a block. */
  async special(): Promise<{ coin: Coin; sat: number }> {
    const { chain, bitcoind } = this.world;
    const coin = await chain.coin();
    const output = await bitcoind.rpc.call<{ confirmations: number }>('gettxout', [coin.txid, coin.vout]);
    return { coin, sat: ((await chain.height()) - output.confirmations + 1) * 5_000_000_000 };
  }

  /** Puts a special sat into the inventory. Its output has other sats before and after it. */
  async stock(place: number, value: number, addressIndex = 0): Promise<Stocked> {
    const { chain, wallet } = this.world;
    const { script } = wallet.inventoryAddress(addressIndex);
    const before = place === 0 ? [] : [await this.#common(place)];
    const { coin, sat } = await this.special();
    const rest = coin.value + place - value - 10_000;
    const made = transaction(
      [...before, coin],
      [
        { value, outputScript: script },
        { value: rest, to: coin.owner },
      ],
    );
    await chain.mine([made]);
    await this.add({ txid: made.txid, vout: 0 });
    return { txid: made.txid, vout: 0, value, sat, place, script, made };
  }

  async add({ txid, vout }: Pick<Stocked, 'txid' | 'vout'>): Promise<void> {
    // the index proves the contents of the output
    await this.world.eventually(async () => {
      await this.#inventory().add({ txid: parseTxid(txid)!, vout }, testAsker());
      return true;
    });
  }

  async #common(value: number): Promise<Coin> {
    const { chain } = this.world;
    const coin = await chain.coin();
    const split = transaction(
      [coin],
      [
        { value: 10_000, to: coin.owner },
        { value, to: coin.owner },
        { value: coin.value - value - 20_000, to: coin.owner },
      ],
    );
    await chain.mine([split]);
    return split.coin(1);
  }

  /** Spends an output of the inventory, like its operator may at any moment. Returns the transaction in hex. */
  spend({ txid, vout, value, script }: Stocked, to: Uint8Array, fee = 1_000): Promise<string> {
    return this.world.signElsewhere({
      version: 2,
      lockTime: 0,
      inputs: [
        {
          txid: parseTxid(txid)!,
          vout,
          value: BigInt(value),
          script,
          sequence: 0xffff_fffd,
          key: { branch: 2, index: 0 },
          leafScript: null,
          path: 'key',
        },
      ],
      outputs: [{ kind: 'refund', script: to, value: BigInt(value - fee) }],
      feeMax: BigInt(fee),
    });
  }

  async forget(): Promise<void> {
    await this.world.database.pool.query(
      'DELETE FROM service.inventory_outputs; UPDATE service.reserved_outputs SET client = NULL',
    );
  }

  close(): Promise<void> {
    return this.#close();
  }
}
