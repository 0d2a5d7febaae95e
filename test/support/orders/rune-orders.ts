import { parseRuneId } from '#kernel/runes/rune-id.ts';
import { type Etching, plainEtching, type Runestone } from '#kernel/runes/runestone/artifact.ts';
import { encipher } from '#kernel/runes/runestone/encipher.ts';
import type { Terms } from '#kernel/runes/terms.ts';
import { asU128 } from '#kernel/runes/u128.ts';
import { auditOrders } from '#orders/audit/audit-orders.ts';
import {
  addressOf,
  type RegtestTransaction,
  transaction,
} from '#test/builders/regtest/regtest-transaction.ts';
import type { OrderService } from './order-service.ts';

/** An order of mints, as its customer reads it. */
export interface MintOrder {
  readonly id: string;
  readonly state: string;
  readonly orderType: string;
  readonly rune: string;
  readonly numberOfMints: number;
  readonly executedMints: number;
  readonly mintingTxs: readonly string[];
  readonly failedMints: readonly string[];
  readonly refundedMints: number;
  readonly error?: string;
  readonly charge: { readonly address: string; readonly amount: number };
  readonly chainFee: number;
  readonly refund?: { readonly amount: number };
  readonly refunds?: readonly { readonly amount: number }[];
  readonly warnings?: readonly { readonly code: string }[];
}

/** A rune as /rune shows it. */
export interface ShownRune {
  readonly id: string;
  readonly mintable: boolean;
  readonly entry: { readonly spaced_rune: string; readonly mints: number; readonly premine: number };
}

/** Owners of addresses that orders of these tests name. */
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

const stone = (more: Partial<Runestone>): Uint8Array =>
  encipher({ kind: 'runestone', edicts: [], etching: null, mint: null, pointer: null, ...more });

/** Runes and orders of mints beside a real node. */
export class RuneOrders {
  readonly service: OrderService;

  constructor(service: OrderService) {
    this.service = service;
  }

  /** Etches a rune with the name that ord gives: no commitment is needed. */
  async etch(terms: Partial<Terms>, more: Partial<Etching> = {}): Promise<ShownRune> {
    const { chain } = this.service;
    const etching = { ...plainEtching, ...more, terms: { ...anyTerms, ...terms } };
    const made = await this.#sends(stone({ etching }), 0);
    const { height } = await chain.mine([made]);
    return this.service.eventually(() => this.rune(`${height}:1`));
  }

  /** A stranger's mint. */
  mint(id: string, fee = 10_000): Promise<RegtestTransaction> {
    return this.#sends(stone({ mint: parseRuneId(id)! }), fee);
  }

  async #sends(outputScript: Uint8Array, fee: number): Promise<RegtestTransaction> {
    const coin = await this.service.chain.coin();
    const change = { value: coin.value - fee - 1_000, to: 862 };
    return transaction([coin], [change, { value: 0, outputScript }]);
  }

  /** Throws while there is none. */
  async rune(name: string): Promise<ShownRune> {
    const answer = await fetch(new URL(`/rune/${name}`, this.service.origin), {
      headers: { accept: 'application/json' },
    });
    if (!answer.ok) throw new Error(`/rune/${name}: ${answer.status}`);
    return (await answer.json()) as ShownRune;
  }

  /** Units of a rune that an owner has, as text; null: none. */
  async unitsOf(owner: number, name: string): Promise<string | null> {
    const answer = await fetch(new URL(`/address/${addressOf(owner)}`, this.service.origin), {
      headers: { accept: 'application/json' },
    });
    const { runes_balances: balances } = (await answer.json()) as {
      runes_balances: readonly (readonly [string, string, string])[] | null;
    };
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

  /** The sentence with which an order is refused, which is that of its price. */
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

  async read(id: string): Promise<MintOrder> {
    return (await this.service.order(id)) as unknown as MintOrder;
  }

  until(id: string, isSo: (shown: MintOrder) => boolean): Promise<MintOrder> {
    return this.service.eventually(async () => {
      const shown = await this.read(id);
      if (isSo(shown)) return shown;
      const { mintingTxs, ...short } = shown;
      throw new Error(
        `${JSON.stringify({ ...short, sent: mintingTxs.length })}\n${this.service.stderr().slice(-2000)}`,
      );
    });
  }

  untilState(id: string, state: string): Promise<MintOrder> {
    return this.until(id, (shown) => shown.state === state);
  }

  /** Pays an order, and mines the payment. */
  async pay({ id, charge }: MintOrder): Promise<void> {
    await this.service.chain.payAddress(charge.address, charge.amount);
    await this.untilState(id, 'waiting-confirmation');
    await this.service.chain.mineMempool();
  }

  mempool(): Promise<string[]> {
    return this.service.bitcoind.rpc.call<string[]>('getrawmempool');
  }

  /** Waits until the mempool has all of these. */
  async sent(txids: readonly string[]): Promise<void> {
    await this.service.eventually(async () => {
      const there = new Set(await this.mempool());
      return txids.every((txid) => there.has(txid));
    });
  }

  /** Waits until the audit finds nothing. */
  async audited(): Promise<void> {
    await this.service.eventually(async () => {
      const { differences } = await auditOrders({
        database: this.service.database.pool,
        node: this.service.bitcoind.rpc,
      });
      if (differences.length > 0) throw new Error(JSON.stringify(differences));
      return true;
    });
  }
}
