import { expect } from 'vitest';
import { giveKey } from '#test/support/http/search-access.ts';
import { auditTokens } from '#tokenpay/audit/audit-tokens.ts';
import { assetParts } from '#tokenpay/reserves/asset-parts.ts';
import { readReserveFacts } from '#tokenpay/reserves/read-facts.ts';
import { heldBy, type OpenShopOrder, orderedAt } from './account-changes.ts';
import type { EtchedRune, ShopWorld } from './shop-world.ts';

/** A withdrawal as the API returns it. */
export interface ShownWithdrawal {
  readonly id: string;
  readonly state: string;
  readonly txid: string | null;
  readonly chainFee: number | null;
  readonly tries: number;
  readonly reason: string | null;
  readonly amountBase: string;
  readonly price: {
    readonly chainFee: number;
    readonly postage: number;
    readonly payer: string;
    readonly receivedBase: string;
    readonly debt?: number;
  };
  readonly webhookSecretToken?: string;
}

/** An account, and one of its keys. */
export type KeyOfAccount = Pick<ShopWorld, 'key' | 'account'>;

/** The withdrawals and the balances of an account. */
export class ShopWithdrawals {
  readonly shop: ShopWorld;
  readonly rune: EtchedRune;
  readonly of: KeyOfAccount;

  /** @param of default: the account of the shop */
  constructor(shop: ShopWorld, rune: EtchedRune, of: KeyOfAccount = shop) {
    this.shop = shop;
    this.rune = rune;
    this.of = of;
  }

  /** Makes an account, and returns its withdrawals. */
  async ofOther(): Promise<ShopWithdrawals> {
    const scopes = ['tokenpay', 'tokenpay-withdraw'] as const;
    return new ShopWithdrawals(
      this.shop,
      this.rune,
      await giveKey(this.shop.world.database.pool, { scopes, rate: '0' }),
    );
  }

  /** Makes an order of the account with a fee charge of 10,000 sats. */
  ordered(units: bigint): Promise<OpenShopOrder> {
    return orderedAt(this.shop, this.rune.name, Number(units), {}, { 'x-api-key': this.of.key });
  }

  /** Balances of the account in base units: sats and units of the rune. */
  async held(): Promise<{ readonly sats: bigint; readonly units: bigint }> {
    const all = await heldBy(this.shop, this.of.account);
    return { sats: all.get('BTC') ?? 0n, units: all.get(this.rune.name) ?? 0n };
  }

  /**
   * Pays an order, and pays `sats` more than its fee charge. The account gets the units, the additional fee of 1,000
   * sats, and these sats.
   */
  async earn(units: bigint, sats: number): Promise<void> {
    const { shop, rune } = this;
    const order = await this.ordered(units);
    await shop.send([
      { value: 546, outputScript: order.tokenScript, units: [[rune, units]] },
      { value: 10_000 + sats, outputScript: order.feeScript },
    ]);
    await shop.world.chain.mineMempool();
    await shop.until(order.id, ({ state }) => state === 'completed');
  }

  async ask(
    fields: object,
    headers: Record<string, string> = {},
  ): Promise<{ status: number; body: ShownWithdrawal }> {
    const answer = await this.shop.app.inject({
      method: 'POST',
      url: '/tokenpay/user/account/withdraw',
      headers: { 'x-api-key': this.of.key, 'content-type': 'application/json', ...headers },
      payload: JSON.stringify(fields),
    });
    return { status: answer.statusCode, body: answer.json() };
  }

  async asked(fields: object): Promise<ShownWithdrawal> {
    const { status, body } = await this.ask(fields);
    expect([status, body]).toEqual([200, expect.objectContaining({ state: 'pending', txid: null })]);
    return body;
  }

  bitcoin(sats: number, address: string, more: object = {}): object {
    return { protocol: 'bitcoin', token: 'BTC', amount: (sats / 1e8).toFixed(8), address, ...more };
  }

  units(amount: number, address: string, more: object = {}): object {
    return { protocol: 'rune', token: this.rune.name, amount, address, ...more };
  }

  async read(id: string, path = 'withdrawal'): Promise<ShownWithdrawal> {
    const answer = await this.shop.app.inject({
      url: `/tokenpay/user/${path}/${id}`,
      headers: { 'x-api-key': this.of.key },
    });
    return answer.json();
  }

  async until(id: string, state: string): Promise<ShownWithdrawal> {
    return this.shop.world.eventually(async () => {
      const found = await this.read(id);
      if (found.state === state) return found;
      throw new Error(`${JSON.stringify(found)}\n${this.shop.world.logged.join('')}`);
    });
  }

  /** Waits until a withdrawal is signed and sent, and mines it. */
  async mined(id: string): Promise<ShownWithdrawal> {
    const { world } = this.shop;
    return world.eventually(async () => {
      const found = await this.read(id);
      if (found.state === 'completed') return found;
      const waiting = await world.chain.rpc.call<string[]>('getrawmempool');
      if (found.txid !== null && waiting.includes(found.txid)) await world.chain.mineMempool();
      throw new Error(`${JSON.stringify(found)}\n${world.logged.join('')}`);
    });
  }

  /** Sum of the account's reserved units, over all assets. */
  async reserved(): Promise<bigint> {
    const { rows } = await this.shop.world.database.pool.query<{ units: string }>(
      'SELECT sum(reserved)::text AS units FROM service.token_balances WHERE account = $1',
      [this.of.account],
    );
    return BigInt(rows[0]?.units ?? 0);
  }

  /** Units of the rune in a script's unspent outputs, as indexed. */
  async unitsOf(script: Uint8Array): Promise<bigint> {
    const { rows } = await this.shop.world.database.pool.query<{ units: string }>(
      'SELECT coalesce(sum(amount), 0)::text AS units FROM chain.rune_balances WHERE script = $1 AND spent_height IS NULL',
      [Buffer.from(script)],
    );
    return BigInt(rows[0]?.units ?? 0);
  }

  /**
   * Checks that an audit finds no differences in units and reserved units of balances, and that outputs hold exactly
   * the balances of accounts.
   */
  async audit(): Promise<void> {
    const { world } = this.shop;
    const { pool } = world.database;
    expect(await auditTokens({ database: pool })).toEqual([]);
    await world.indexed();
    const parts = await world.eventually(async () => {
      const client = await pool.connect();
      const facts = await readReserveFacts(client, null).finally(() => client.release());
      return facts !== null && assetParts(facts);
    });
    for (const { token, held, liabilities, debts, fees, aside, waiting } of parts)
      expect([token, held]).toEqual([token, liabilities - debts + fees + aside + waiting]);
  }
}
