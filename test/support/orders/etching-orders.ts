import { expect } from 'vitest';
import type { Inscribed } from '#test/builders/regtest/regtest-chain.ts';
import { addressOf } from '#test/builders/regtest/regtest-transaction.ts';
import { nameRival } from './name-rival.ts';
import { OrderService } from './order-service.ts';
import { type ShownOrder, ShownOrders } from './shown-orders.ts';

/** Owner of etched runes. */
export const receiver = 820;
/** Owner of the address to which refunds go. */
export const refunded = 830;

/** Fields of an etching's order that tests use. */
export interface EtchingShown extends ShownOrder {
  readonly orderType: string;
  readonly chainFee: number;
  readonly files: readonly { readonly inscriptionId?: string }[];
  readonly etchingTx?: { readonly commit: string; readonly reveal?: string };
  readonly runeProperties: { readonly rune: string | null; readonly supply: number | string };
  readonly rune?: string;
  readonly runeId?: string;
  readonly refund?: { readonly amount: number };
  readonly warnings?: readonly { readonly code: string; readonly message: string }[];
}

/** A rune in the answer of `/rune/<name>`. */
export interface RuneEntryShown {
  readonly etching: string;
  readonly premine: number;
  readonly spaced_rune: string;
}

/** Orders of etchings at a service with a real node, and strangers who want to etch the same names. */
export class EtchingOrders extends ShownOrders<EtchingShown> {
  static async start(): Promise<EtchingOrders> {
    return new EtchingOrders(await OrderService.start({ INDEX_RUNES: 'true' }));
  }

  close(): Promise<void> {
    return this.service.close();
  }

  async order(body: object, path = '/runes/etch'): Promise<EtchingShown> {
    const answer = await this.service.post(path, {
      receiveAddress: addressOf(receiver),
      refundAddress: addressOf(refunded),
      fee: 2,
      ...body,
    });
    const made = (await answer.json()) as EtchingShown;
    expect([answer.status, made]).toMatchObject([200, { state: 'waiting-payment', orderType: 'rune-etch' }]);
    return made;
  }

  /** Waits until the etching's reveal is in the mempool. Returns the txid of the reveal. */
  async revealed(id: string): Promise<string> {
    const { etchingTx } = await this.until(id, (shown) => shown.etchingTx?.reveal !== undefined);
    const reveal = etchingTx!.reveal!;
    await this.service.eventually(async () => (await this.mempool()).includes(reveal));
    return reveal;
  }

  /** Pays an order, mines the payment, and waits until the commit is in the mempool. */
  async committed({ id, charge }: EtchingShown): Promise<EtchingShown> {
    await this.pay({ id, charge });
    await this.service.chain.mineMempool();
    return this.until(id, ({ etchingTx }) => etchingTx !== undefined);
  }

  async runeOf(name: string): Promise<RuneEntryShown | null> {
    return (await this.shown<{ entry: RuneEntryShown }>(`/rune/${name}`))?.entry ?? null;
  }

  /** Makes a stranger's transactions that etch a name. The first one claims the name. */
  rival(name: string): Promise<Inscribed> {
    return nameRival(this.service.chain, name);
  }

  /** Makes a rival's claim that is deep enough for an etching. The etching itself is not sent. */
  async ripeRival(name: string): Promise<Inscribed> {
    const claim = await this.rival(name);
    await this.service.chain.mine([claim.commit]);
    await this.service.chain.mineEmpty(4);
    return claim;
  }
}
