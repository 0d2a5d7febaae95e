import { auditOrders } from '#orders/audit/audit-orders.ts';
import type { OrderService } from './order-service.ts';

/** An order of any type, with the fields that tests use. */
export interface ShownOrder {
  readonly id: string;
  readonly state: string;
  readonly error?: string;
  readonly charge: { readonly address: string; readonly amount: number };
}

/** Orders of one type, as customers read them, at a service with a real node. */
export class ShownOrders<Shown extends ShownOrder> {
  readonly service: OrderService;

  constructor(service: OrderService) {
    this.service = service;
  }

  async read(id: string): Promise<Shown> {
    return (await this.service.order(id)) as unknown as Shown;
  }

  until(id: string, isSo: (shown: Shown) => boolean): Promise<Shown> {
    return this.service.eventually(async () => {
      const shown = await this.read(id);
      if (isSo(shown)) return shown;
      const words = JSON.stringify(shown).slice(0, 1500);
      throw new Error(`order ${id} is ${shown.state}: ${words}\n${this.service.stderr().slice(-2000)}`);
    });
  }

  untilState(id: string, state: string): Promise<Shown> {
    return this.until(id, (shown) => shown.state === state);
  }

  /** Pays an order, and waits until the payment is in the mempool. */
  async pay({ id, charge }: Pick<ShownOrder, 'id' | 'charge'>): Promise<void> {
    await this.service.chain.payAddress(charge.address, charge.amount);
    await this.untilState(id, 'waiting-confirmation');
  }

  mempool(): Promise<string[]> {
    return this.service.bitcoind.rpc.call<string[]>('getrawmempool');
  }

  /** Reads a path of the service and parses its JSON; `null` if the status is 404. */
  async shown<Of>(path: string): Promise<Of | null> {
    const answer = await fetch(new URL(path, this.service.origin), {
      headers: { accept: 'application/json' },
    });
    return answer.status === 404 ? null : ((await answer.json()) as Of);
  }

  /** Waits until an audit finds no differences, and returns the empty list. */
  differences(): Promise<unknown[]> {
    return this.service.eventually(async () => {
      const { differences: found } = await auditOrders({
        database: this.service.database.pool,
        node: this.service.bitcoind.rpc,
      });
      if (found.length > 0) throw new Error(JSON.stringify(found));
      return [...found];
    });
  }
}
