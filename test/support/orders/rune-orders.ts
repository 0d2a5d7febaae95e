import { parseRuneId } from '#kernel/runes/rune-id.ts';
import { type Etching, plainEtching } from '#kernel/runes/runestone/artifact.ts';
import type { Terms } from '#kernel/runes/terms.ts';
import { asU128 } from '#kernel/runes/u128.ts';
import {
  addressOf,
  type RegtestTransaction,
  transaction,
} from '#test/builders/regtest/regtest-transaction.ts';
import { runestoneScript } from '#test/builders/runestone-script.ts';
import { type ShownOrder, ShownOrders } from './shown-orders.ts';

/** An order of mints, as its customer reads it. */
export interface MintOrder extends ShownOrder {
  readonly orderType: string;
  readonly rune: string;
  readonly numberOfMints: number;
  readonly executedMints: number;
  readonly mintingTxs: readonly string[];
  readonly failedMints: readonly string[];
  readonly refundedMints: number;
  readonly chainFee: number;
  readonly refund?: { readonly amount: number };
  readonly refunds?: readonly { readonly amount: number }[];
  readonly warnings?: readonly { readonly code: string }[];
}

/** A rune as the response of /rune shows it. */
export interface ShownRune {
  readonly id: string;
  readonly mintable: boolean;
  readonly entry: { readonly spaced_rune: string; readonly mints: number; readonly premine: number };
}

/** Owners of the addresses in these tests' orders. */
export const minterOwner = 860;
export const refundOwner = 861;

const anyTerms: Terms = {
  amount: asU128(5n),
  cap: asU128(1000n),
  heightStart: null,
  heightEnd: null,
  offsetStart: null,
  offsetEnd: null,
};

/** Etches runes and makes orders of mints, at a service with a real node. */
export class RuneOrders extends ShownOrders<MintOrder> {
  /** Etches a rune without a commitment, which is possible because its name is assigned by ord's rules. */
  async etch(terms: Partial<Terms>, more: Partial<Etching> = {}): Promise<ShownRune> {
    const { chain } = this.service;
    const etching = { ...plainEtching, ...more, terms: { ...anyTerms, ...terms } };
    const made = await this.#sends(runestoneScript({ etching }), 0);
    const { height } = await chain.mine([made]);
    return this.service.eventually(() => this.rune(`${height}:1`));
  }

  /** Makes a mint that belongs to no order. */
  mint(id: string, fee = 10_000): Promise<RegtestTransaction> {
    return this.#sends(runestoneScript({ mint: parseRuneId(id)! }), fee);
  }

  async #sends(outputScript: Uint8Array, fee: number): Promise<RegtestTransaction> {
    const coin = await this.service.chain.coin();
    const change = { value: coin.value - fee - 1_000, to: 862 };
    return transaction([coin], [change, { value: 0, outputScript }]);
  }

  /** Reads a rune. Throws until the etching is in a block. */
  async rune(name: string): Promise<ShownRune> {
    const rune = await this.shown<ShownRune>(`/rune/${name}`);
    if (rune === null) throw new Error(`/rune/${name}: 404`);
    return rune;
  }

  /** Units of a rune that an owner has, as text; `null` if there are none. */
  async unitsOf(owner: number, name: string): Promise<string | null> {
    const address = await this.shown<{
      runes_balances: readonly (readonly [string, string, string])[] | null;
    }>(`/address/${addressOf(owner)}`);
    const balances = address?.runes_balances;
    return balances?.find(([rune]) => rune === name)?.[1] ?? null;
  }

  async order(rune: string, numberOfMints: number, more: object = {}): Promise<MintOrder> {
    const answer = await this.service.post('/runes/mint', {
      rune,
      numberOfMints,
      receiveAddress: addressOf(minterOwner),
      refundAddress: addressOf(refundOwner),
      fee: 2,
      ...more,
    });
    const made = (await answer.json()) as MintOrder;
    if (answer.status !== 200) throw new Error(`${answer.status}: ${JSON.stringify(made)}`);
    return made;
  }

  /** The reason why an order is refused. Checks that its price is refused for the same reason. */
  async refusal(rune: string, numberOfMints: number): Promise<string> {
    const order = { rune, numberOfMints, receiveAddress: addressOf(minterOwner), fee: 2 };
    const answers = [
      await this.service.post('/runes/mint', order),
      await this.service.post('/price', { type: 'rune-mint', order }),
    ];
    const [created, priced] = (await Promise.all(answers.map((answer) => answer.json()))) as {
      error?: { msg: string }[];
    }[];
    const [said, alike] = [created, priced].map((answer) => answer?.error?.[0]?.msg ?? 'taken');
    if (said !== alike) throw new Error(`the order says ${said}, its price ${alike}`);
    return said ?? 'taken';
  }

  /** Pays an order, and mines the payment. */
  async payMined(made: MintOrder): Promise<void> {
    await this.pay(made);
    await this.service.chain.mineMempool();
  }

  /** Waits until the mempool has all of these transactions. */
  async sent(txids: readonly string[]): Promise<void> {
    await this.service.eventually(async () => {
      const there = new Set(await this.mempool());
      return txids.every((txid) => there.has(txid));
    });
  }
}
