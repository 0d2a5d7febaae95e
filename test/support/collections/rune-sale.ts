import { join } from 'node:path';
import { expect } from 'vitest';
import { CustomerFiles } from '#orders/files/customer-files.ts';
import { addressOf } from '#test/builders/regtest/regtest-transaction.ts';
import type { EtchedRune, ShopWorld } from '#test/support/tokenpay/shop-world.ts';
import { insertCollection } from './collection-rows.ts';

/** A charge of an order whose price is in a rune. */
interface RuneCharge {
  readonly amount: number;
  readonly amountBase: string;
  readonly address: string;
  readonly state: string;
  readonly token: string;
}

/** An order of a collection with a price in a rune, as the API returns it. */
export interface RuneOrder {
  readonly id: string;
  readonly state: string;
  readonly charge?: null;
  readonly error?: string;
  readonly amount: number;
  readonly collection: { readonly items: readonly number[] };
  readonly refund?: { readonly amount: number; readonly address: string };
  readonly tokenPayCharge: {
    readonly id: string;
    readonly state: string;
    readonly feeCharge: RuneCharge;
    readonly tokenCharge: RuneCharge;
    readonly refunds: string;
  };
}

const receiver = 60_000;
export const refundIndex = 60_001;
let buyers = 0;

/** Collections that are sold for a rune, and their buyers. */
export class RuneSale {
  readonly shop: ShopWorld;

  constructor(shop: ShopWorld) {
    this.shop = shop;
  }

  /** Makes an approved collection whose items cost base units of a rune. */
  async approved(id: string, items: number, rune: EtchedRune, amount: bigint): Promise<void> {
    const { world, account } = this.shop;
    const files = new CustomerFiles(join(world.dir, 'files'));
    for (let item = 0; item < items; item++) await files.put(Buffer.from(String(item)));
    const { rows } = await world.database.pool.query<{ txid: Buffer; rune: string }>(
      'SELECT r.txid, r.rune::text FROM chain.runes AS r WHERE r.height = $1 AND r.tx_index = $2',
      [rune.id.block, rune.id.tx],
    );
    const [{ txid, rune: number }] = rows as [(typeof rows)[number]];
    const { name, divisibility } = rune;
    const runePrice = { account, etching: txid, rune: BigInt(number), name, divisibility, amount } as never;
    await insertCollection(world.database.pool, { id, items, runePrice });
  }

  async post<Body = RuneOrder>(
    collection: object,
    more: object = {},
    headers: Record<string, string> = {},
  ): Promise<{ status: number; body: Body }> {
    const payload = {
      collection,
      receiveAddress: addressOf(receiver),
      refundAddress: addressOf(refundIndex),
      fee: 2,
      token: 'solved',
      ...more,
    };
    // each buyer has another network
    const remoteAddress = `10.${++buyers >> 8}.${buyers & 255}.1`;
    const answer = await this.shop.app.inject({
      method: 'POST',
      url: '/collectionorder',
      payload,
      remoteAddress,
      headers,
    });
    return { status: answer.statusCode, body: answer.json() };
  }

  async ordered(collection: object, more: object = {}): Promise<RuneOrder> {
    const { status, body } = await this.post(collection, more);
    expect([status, body]).toEqual([
      200,
      expect.objectContaining({ state: 'waiting-payment', charge: null }),
    ]);
    return body;
  }

  async read(id: string): Promise<RuneOrder> {
    const answer = await this.shop.app.inject({ url: `/order?id=${id}` });
    return answer.json();
  }

  async until(id: string, isSo: (order: RuneOrder) => boolean): Promise<RuneOrder> {
    return this.shop.world.eventually(async () => {
      const order = await this.read(id);
      if (isSo(order)) return order;
      throw new Error(`${JSON.stringify(order, null, 1)}\n${this.shop.world.logged.join('')}`);
    });
  }

  /** Sends units of the rune to the deposit address of an order. */
  async payRune(
    { tokenPayCharge: { tokenCharge } }: RuneOrder,
    rune: EtchedRune,
    units: bigint,
  ): Promise<void> {
    const outputScript = await this.shop.scriptOf(tokenCharge.address);
    await this.shop.send([{ value: 546, outputScript, units: [[rune, units]] }]);
  }

  /** Sends sats to the deposit address of an order. Default: all sats of its charge. */
  async paySats({ tokenPayCharge: { feeCharge } }: RuneOrder, sats = feeCharge.amount): Promise<void> {
    const outputScript = await this.shop.scriptOf(feeCharge.address);
    await this.shop.send([{ value: sats, outputScript }]);
  }

  /** Lets an order expire, as if it were made long ago. */
  async age({ id, tokenPayCharge }: RuneOrder): Promise<void> {
    const { pool } = this.shop.world.database;
    await pool.query(
      `UPDATE service.token_orders SET created_at = created_at - interval '1 day', expires_at = expires_at - interval '1 day',
              ends_at = ends_at - interval '1 day', look_at = created_at - interval '1 day' WHERE id = $1`,
      [tokenPayCharge.id],
    );
    await pool.query(
      `UPDATE service.orders SET created_at = created_at - interval '1 day', expires_at = expires_at - interval '1 day', look_at = now()
        WHERE id = $1`,
      [id],
    );
  }
}
