import type { App } from '#http/server/routes/app-dependencies.ts';
import { openNodeSource } from '#indexer/source/node-source.ts';
import { connectNode } from '#node/bitcoin-node.ts';
import { NodeTraceSource } from '#sat-ranges/node-trace-source.ts';
import { SatTracer } from '#sat-ranges/sat-tracer.ts';
import { premined } from '#test/builders/regtest/etching.ts';
import {
  type Coin,
  type NewOutput,
  type RegtestTransaction,
  transaction,
} from '#test/builders/regtest/regtest-transaction.ts';
import { buildCheckedApp } from '#test/support/http/checked-app.ts';
import { readerParts } from '#test/support/http/reader-parts.ts';
import { OrderWorld } from '#test/support/orders/order-world.ts';
import { utxosOfIndex } from '#test/support/utxos/utxos-of-index.ts';
import { shortChainSatributes } from './coin-parts.ts';
import { type CustomerAddress, signerBody } from './customer-address.ts';
import { withoutRateWarning } from './rate-warnings.ts';
import type { SignedInputs, SigningLibrary } from './sign-psbt.ts';

/** A response of a builder. */
export interface PsbtAnswer {
  readonly psbtBase64: string;
  readonly psbtHex: string;
  readonly ordinalInputIndices: readonly number[];
  readonly paymentInputIndices: readonly number[];
  readonly fee: number;
  readonly feeRate: number;
  readonly chargeAmount: number;
  readonly outputs: readonly {
    readonly address: string | null;
    readonly value: number;
    readonly purpose: string;
  }[];
  readonly warnings: readonly string[];
  readonly unproven: readonly string[];
}

/** A builder's refusal, as the API returns it. */
export interface PsbtRefused {
  readonly success: false;
  readonly status: number;
  readonly message: string;
}

/** An output that contains the first sat of a block. */
export interface SpecialOutput {
  readonly coin: Coin;
  readonly name: string;
  /** The sat. */
  readonly sat: number;
}

/** A customer with a payment address and an ordinals address. */
export interface Customer {
  readonly payment: CustomerAddress;
  readonly ordinals: CustomerAddress;
}

const subsidy = 5_000_000_000;
/** Heights of blocks whose sats are all special: Block 9 and Block 78. */
const namedBlocks: ReadonlySet<number> = new Set([9, 78]);

/** A node, its orders, and the app with its builders. There are indexes of addresses, runes and sats. */
export class PsbtWorld {
  readonly world: OrderWorld;
  readonly app: App;
  /** Transactions for the next block. */
  readonly #made: RegtestTransaction[] = [];

  private constructor(world: OrderWorld, app: App) {
    this.world = world;
    this.app = app;
  }

  static async start(blocks = 230): Promise<PsbtWorld> {
    const world = await OrderWorld.start({}, blocks, {
      indexAddresses: true,
      indexRunes: true,
      indexSats: true,
    });
    const { bitcoind, database } = world;
    const node = await connectNode(bitcoind.settings);
    const tracer = new SatTracer(new NodeTraceSource(node.rpc, openNodeSource(node)));
    const app = buildCheckedApp({
      ...readerParts(database.readers),
      node: bitcoind.rpc,
      utxos: utxosOfIndex(database.readers, bitcoind.rpc, tracer),
      satTracer: tracer,
      satributes: shortChainSatributes,
      orders: world.customerOrders,
    });
    await app.ready();
    return new PsbtWorld(world, app);
  }

  async post<Body = PsbtAnswer>(url: string, body: object): Promise<{ status: number; body: Body }> {
    const answer = await this.app.inject({
      method: 'POST',
      url,
      headers: { 'content-type': 'application/json' },
      payload: JSON.stringify(body),
    });
    return { status: answer.statusCode, body: answer.json() };
  }

  /** Returns a PSBT. Throws an error with the response if the response is not a PSBT. */
  async built(url: string, { payment, ordinals }: Customer, body: object): Promise<PsbtAnswer> {
    const answer = await this.post(url, { ...signerBody(payment, ordinals), ...body });
    if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
    return withoutRateWarning(answer.body);
  }

  /** Signs a PSBT with both addresses of a customer. Returns the transaction in hex. */
  signed(
    {
      psbtBase64,
      ordinalInputIndices,
      paymentInputIndices,
    }: Pick<PsbtAnswer, 'psbtBase64' | 'ordinalInputIndices' | 'paymentInputIndices'>,
    { payment, ordinals }: Customer,
    { sign, finalize }: SigningLibrary,
  ): string {
    const inputs: SignedInputs[] = [
      { by: ordinals, indices: ordinalInputIndices },
      { by: payment, indices: paymentInputIndices },
    ];
    return finalize(sign(psbtBase64, inputs));
  }

  /** Sends a transaction to the node, which has its default policy. Returns its txid. */
  broadcast(hex: string): Promise<string> {
    return this.world.bitcoind.rpc.call<string>('sendrawtransaction', [hex]);
  }

  /** Makes coins of an address for the next block, without special sats. */
  async fund({ owner, type }: CustomerAddress, values: readonly number[]): Promise<Coin[]> {
    const coin = await this.#commonCoin();
    const paid = values.map((value): NewOutput => ({ value, to: owner, type }));
    const left = coin.value - values.reduce((sum, value) => sum + value, 0) - 20_000;
    const made = transaction([coin], [{ value: 10_000 }, ...paid, { value: left - 10_000 }]);
    this.#made.push(made);
    return values.map((_, place) => made.coin(place + 1));
  }

  /** Makes an output for the next block that has the first sat of a block after `place` other sats. */
  async special({ owner, type }: CustomerAddress, value: number, place = 0): Promise<SpecialOutput> {
    const coinbase = await this.world.chain.coin();
    // the last sat of a coinbase is special too, so it becomes part of the fee
    const moved = transaction([coinbase], [{ value: coinbase.value - 20_000 }]);
    this.#made.push(moved);
    const common = moved.coin(0);
    const rare = await this.world.chain.coin();
    const first = await this.#firstSat(rare);
    const before = common.value - place;
    const made = transaction(
      [common, rare],
      [{ value: before }, { value, to: owner, type }, { value: rare.value + place - value - 20_000 }],
    );
    this.#made.push(made);
    return { coin: made.coin(1), name: `${made.txid}:1`, sat: first };
  }

  /** Makes an inscription and an output with runes for an address, in the next block. */
  async kept(address: CustomerAddress, value: number): Promise<Coin[]> {
    const to = { value, to: address.owner, type: address.type };
    const inscription = await this.world.chain.inscribe(
      { contentType: 'text/plain', body: 'kept' },
      { payments: [to] },
    );
    const coin = await this.world.chain.coin();
    const runic = transaction(
      [coin],
      [to, { value: 0, outputScript: premined(7) }, { value: coin.value - value - 20_000 }],
    );
    this.#made.push(...inscription.transactions, runic);
    return [inscription.reveal.coin(0), runic.coin(0)];
  }

  /** Makes an inscription for an address, in the next block. */
  async inscribed(address: CustomerAddress, body: string, value = 10_000) {
    const to = { value, to: address.owner, type: address.type };
    const made = await this.world.chain.inscribe({ contentType: 'text/plain', body }, { payments: [to] });
    this.#made.push(...made.transactions);
    return { id: made.reveal.id(), coin: made.reveal.coin(0) };
  }

  /** Settles once an order knows this many sats that are in blocks. */
  async paid(id: string, sats: number): Promise<void> {
    await this.world.eventually(async () => {
      const found = await this.world.customerOrders.read(id);
      const mined = found?.payments.filter(({ block }) => block !== null) ?? [];
      return mined.reduce((sum, { value }) => sum + value, 0n) === BigInt(sats);
    });
  }

  /** Mines the transactions that were made, and waits for the index. */
  async mine(): Promise<void> {
    await this.world.chain.mine(this.#made.splice(0));
    await this.world.indexed();
  }

  /** The transactions for the next block, in hex. They are not removed. */
  unmined(): string[] {
    return this.#made.map(({ hex }) => hex);
  }

  /** Whether an output is unspent in the chain and in the mempool. */
  async isUnspent({ txid, vout }: Pick<Coin, 'txid' | 'vout'>): Promise<boolean> {
    return (await this.world.bitcoind.rpc.call<object | null>('gettxout', [txid, vout, true])) !== null;
  }

  async #commonCoin(): Promise<Coin> {
    const coin = await this.world.chain.coin();
    return namedBlocks.has(await this.#heightOf(coin)) ? this.#commonCoin() : coin;
  }

  /**
   * The number of a coinbase's first sat, which is the first sat of its block. ord's subsidy halves later than
   * regtest's, so all blocks here have the same subsidy.
   */
  async #firstSat(coin: Coin): Promise<number> {
    return (await this.#heightOf(coin)) * subsidy;
  }

  async #heightOf({ txid, vout }: Coin): Promise<number> {
    const found = await this.world.bitcoind.rpc.call<{ confirmations: number }>('gettxout', [txid, vout]);
    return (await this.world.chain.height()) - found.confirmations + 1;
  }

  async close(): Promise<void> {
    await this.app?.close();
    await this.world?.close();
  }
}
