import { CreatorCollections } from '#collections/creator-collections.ts';
import type { App } from '#http/server/routes/app-dependencies.ts';
import { openNodeSource } from '#indexer/source/node-source.ts';
import { TypeRules } from '#inventory/type-rules.ts';
import { networks } from '#kernel/primitives/network.ts';
import { loggerInto } from '#kernel/reports/logger.ts';
import { asRune, type Rune } from '#kernel/runes/rune.ts';
import type { Runestone } from '#kernel/runes/runestone/artifact.ts';
import { plainEtching } from '#kernel/runes/runestone/artifact.ts';
import { encipher } from '#kernel/runes/runestone/encipher.ts';
import { formatSpacedRune } from '#kernel/runes/spaced-rune.ts';
import type { Terms } from '#kernel/runes/terms.ts';
import { asU128 } from '#kernel/runes/u128.ts';
import { connectNode } from '#node/bitcoin-node.ts';
import { wakeOrders } from '#orders/order/order-wishes.store.ts';
import { NodeTraceSource } from '#sat-ranges/node-trace-source.ts';
import { SatTracer } from '#sat-ranges/sat-tracer.ts';
import {
  type Coin,
  type NewOutput,
  type RegtestTransaction,
  transaction,
} from '#test/builders/regtest/regtest-transaction.ts';
import { buildCheckedApp } from '#test/support/http/checked-app.ts';
import { readerParts } from '#test/support/http/reader-parts.ts';
import { giveKey, testAccess } from '#test/support/http/search-access.ts';
import type { BitcoindOptions } from '#test/support/node/bitcoind.ts';
import { OrderWorld } from '#test/support/orders/order-world.ts';
import { shortChainSatributes } from '#test/support/psbts/coin-parts.ts';
import { utxosOfIndex } from '#test/support/utxos/utxos-of-index.ts';
import { TestPayments } from '#test-payments/test-payments.ts';
import { followTokenOrders } from '#tokenpay/following/follow-token-orders.ts';
import type { TokenPolicy } from '#tokenpay/order/token-policy.ts';
import { ShopOrders } from '#tokenpay/shop-orders.ts';
import { AccountWithdrawals } from '#tokenpay/withdrawing/account-withdrawals.ts';
import { IndexLeases } from '#wallet/indices/index-leases.ts';
import { WebhookKeys } from '#webhooks/webhook-keys.ts';
import { withdrawalFeeRates } from '#withdrawals/asking-parts.ts';

/** Daily budget of test payments of an account, in sats. */
export const testSatsADay = 1_500_000;

/** A rune that a test etched. */
export interface EtchedRune {
  readonly name: string;
  readonly id: { readonly block: number; readonly tx: number };
  readonly divisibility: number;
}

/** An output of a payment, and the units of runes that it gets. */
export type PaidOutput = NewOutput & { readonly units?: readonly (readonly [EtchedRune, bigint])[] };

/** An order as `GET` returns it. Amounts that are numbers lose digits, so tests compare `amountBase`. */
export interface ShopOrder {
  readonly id: string;
  readonly state: string;
  readonly feeCharge: ShopCharge;
  readonly tokenCharge: ShopCharge & { readonly amountBase: string };
  readonly received: readonly {
    readonly sats: number;
    readonly charge: string;
    readonly isAside: boolean;
    readonly tokens: readonly { readonly token: string; readonly amountBase: string }[];
  }[];
  readonly webhookSecretToken?: string;
}

interface ShopCharge {
  readonly amount: number;
  readonly address: string;
  readonly state: string;
  readonly txid: string | null;
}

/** A node with an index of runes, and orders of shops. Their payments are credited as in a service. */
export class ShopWorld {
  readonly world: OrderWorld;
  readonly app: App;
  /** A key with the scope `tokenpay`. */
  readonly key: string;
  readonly account: string;
  /** An output of the customer that has all remaining runes, and sats for fees. */
  #purse: Coin;
  readonly shops: ShopOrders;
  /** Keys of the service's secret, which a test may change. */
  secrets = new WebhookKeys(Buffer.alloc(32, 7));
  /** Number of confirmations that inscription orders need, which pages show. */
  orderConfirmations = 1;
  /** Number of confirmations that a rune needs. */
  readonly confirmations = new Map<Rune, number>();
  /** Rules for the prices of withdrawals, which a test may change. */
  readonly withdrawing = { feePayer: 'account' as 'account' | 'operator', debtMax: 10_000n, inputsMax: 100 };
  readonly #policy: TokenPolicy;
  #following: { readonly controller: AbortController; readonly ends: Promise<void> } | null = null;
  readonly #closeAccess: () => Promise<void>;
  /** Stores the counted uses of keys, which are otherwise stored some seconds later. */
  readonly storeUses: () => Promise<void>;

  private constructor(parts: {
    world: OrderWorld;
    key: string;
    account: string;
    purse: Coin;
    tracer: SatTracer;
    confirmations: number;
  }) {
    const { world, key, account, purse } = parts;
    this.world = world;
    this.key = key;
    this.account = account;
    this.#purse = purse;
    this.#policy = { confirmations: parts.confirmations, byRune: this.confirmations };
    const { accessPool } = world.database;
    const keys = { wallet: world.wallet, leases: new IndexLeases(accessPool) };
    this.shops = new ShopOrders({
      pool: accessPool,
      keys: async () => keys,
      isSignerThere: async () => true,
      secrets: async () => this.secrets,
      baseFee: 9_000,
      timeoutMinutes: 60,
      policy: this.#policy,
      orderConfirmations: () => this.orderConfirmations,
      urlProblem: () => null,
    });
    const withdrawals = new AccountWithdrawals({
      pool: accessPool,
      wallet: async () => world.wallet.identity,
      isSignerThere: async () => true,
      secrets: async () => this.secrets,
      feeRates: withdrawalFeeRates,
      wake: wakeOrders,
      policy: this.withdrawing,
      urlProblem: () => null,
    });
    const access = testAccess(accessPool, { mode: 'open' });
    this.#closeAccess = () => access.close();
    this.storeUses = () => access.usage.flush();
    this.app = buildCheckedApp({
      ...readerParts(world.database.readers),
      node: world.bitcoind.rpc,
      utxos: utxosOfIndex(world.database.readers, world.bitcoind.rpc, parts.tracer),
      satributes: shortChainSatributes,
      orders: world.customerOrders,
      collections: new CreatorCollections(accessPool),
      shopOrders: this.shops,
      withdrawals,
      testPayments: new TestPayments({
        pool: accessPool,
        secret: async () => this.secrets.sharedSecret('test payments'),
        network: networks.regtest,
        dayMaxSats: testSatsADay,
        special: () => new TypeRules(shortChainSatributes()).satributes,
      }),
      access: access.access,
      fxRates: async () => ({
        usd: new Map([['bitcoin', { digits: 9_123_450n, decimals: 2 }]]),
        updatedAt: new Date(1_764_000_000_000),
      }),
    });
    this.follow();
  }

  /** Credits payments, like the process that holds the lock of token payments. */
  follow(): void {
    const { database, logged } = this.world;
    const controller = new AbortController();
    const log = loggerInto({ write: (line: string) => void logged.push(line) }, 'warn');
    const policy = {
      ...this.#policy,
      special: () => new TypeRules(shortChainSatributes()).satributes,
    };
    const ends = followTokenOrders({ url: database.url, policy, signal: controller.signal, log });
    ends.catch(() => undefined);
    this.#following = { controller, ends };
  }

  /** Stops the work of `follow`. Until the next `follow`, nothing is credited. */
  async stop(): Promise<void> {
    this.#following?.controller.abort();
    await this.#following?.ends;
    this.#following = null;
  }

  /**
   * @param indexSats whether special sats are set aside; the first sat of each coin of the chain is special
   * @param confirmations number of confirmations of runes that are not in `this.confirmations`
   */
  static async start(
    indexSats = false,
    confirmations = 1,
    options: BitcoindOptions = {},
  ): Promise<ShopWorld> {
    const world = await OrderWorld.start(options, 150, { indexAddresses: true, indexRunes: true, indexSats });
    const { key, account } = await giveKey(world.database.pool, {
      scopes: ['tokenpay', 'tokenpay-withdraw'],
      rate: '0',
    });
    const node = await connectNode(world.bitcoind.settings);
    const tracer = new SatTracer(new NodeTraceSource(node.rpc, openNodeSource(node)));
    return new ShopWorld({ world, key, account, purse: await world.chain.coin(), tracer, confirmations });
  }

  async close(): Promise<void> {
    await this.stop();
    await this.app.close();
    await this.#closeAccess();
    await this.world.close();
  }

  /** Etches a rune whose name the protocol assigns. Its complete supply is premined. */
  async etch(supply: bigint, divisibility: number, terms: Terms | null = null): Promise<EtchedRune> {
    const etching = encipher({
      kind: 'runestone',
      edicts: [],
      etching: { ...plainEtching, divisibility, premine: asU128(supply), terms },
      mint: null,
      pointer: 0,
    });
    const { height } = await this.world.chain.mine([this.#spendPurse([], etching)]);
    await this.world.indexed();
    const { rows } = await this.world.database.pool.query<{
      rune: string;
      spacers: number;
      tx_index: number;
    }>('SELECT rune::text, spacers, tx_index FROM chain.runes WHERE height = $1', [height]);
    const [{ rune, spacers, tx_index: tx }] = rows as [(typeof rows)[number]];
    const name = formatSpacedRune({ rune: asRune(BigInt(rune)), spacers });
    return { name, id: { block: height, tx }, divisibility };
  }

  /** Sends units of runes and sats in one transaction, which stays in the mempool. */
  async send(outputs: readonly PaidOutput[]): Promise<RegtestTransaction> {
    const edicts = outputs.flatMap(({ units = [] }, place) =>
      units.map(([{ id }, amount]) => ({
        id: { block: asU128(id.block), tx: id.tx },
        amount: asU128(amount),
        output: place + 1,
      })),
    );
    const made = this.#spendPurse(
      outputs,
      encipher({ kind: 'runestone', edicts, etching: null, mint: null, pointer: 0 }),
    );
    await this.world.chain.broadcast(made);
    return made;
  }

  /** Sends sats in one transaction with this runestone. The runestone may burn all runes of the purse. */
  async burn(outputs: readonly NewOutput[], runestone: Runestone): Promise<void> {
    await this.world.chain.broadcast(this.#spendPurse(outputs, encipher(runestone)));
  }

  /** Makes a transaction with a runestone. Everything that it does not send stays in the purse. */
  #spendPurse(outputs: readonly NewOutput[], outputScript: Uint8Array): RegtestTransaction {
    const rest = outputs.reduce((left, { value }) => left - value, this.#purse.value - 20_000);
    const made = transaction([this.#purse], [{ value: rest }, ...outputs, { value: 0, outputScript }]);
    this.#purse = made.coin(0);
    return made;
  }

  async scriptOf(address: string): Promise<Uint8Array> {
    const { scriptPubKey } = await this.world.chain.rpc.call<{ scriptPubKey: string }>('validateaddress', [
      address,
    ]);
    return Buffer.from(scriptPubKey, 'hex');
  }

  async post(
    body: object | string,
    headers: Record<string, string> = {},
  ): Promise<{ status: number; body: ShopOrder }> {
    const answer = await this.app.inject({
      method: 'POST',
      url: '/tokenpay/user/order/rune',
      headers: { 'x-api-key': this.key, 'content-type': 'application/json', ...headers },
      payload: typeof body === 'string' ? body : JSON.stringify(body),
    });
    return { status: answer.statusCode, body: answer.json() };
  }

  async read(id: string): Promise<ShopOrder> {
    const answer = await this.app.inject({ url: `/tokenpay/order/${id}` });
    return answer.json();
  }

  /** An account's balances as text, because their numbers may have more digits than a double. */
  async balance(): Promise<string> {
    const answer = await this.app.inject({
      url: '/tokenpay/user/account/balance',
      headers: { 'x-api-key': this.key },
    });
    return answer.body;
  }

  /** Settles when a condition of an order is true. */
  async until(id: string, isSo: (order: ShopOrder) => boolean): Promise<ShopOrder> {
    return this.world.eventually(async () => {
      const order = await this.read(id);
      if (isSo(order)) return order;
      throw new Error(`${JSON.stringify(order, null, 1)}\n${this.world.logged.join('')}`);
    });
  }
}
