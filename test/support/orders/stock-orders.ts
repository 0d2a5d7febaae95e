import { expect } from 'vitest';
import { displayHash } from '#kernel/primitives/hash.ts';
import { readEntries } from '#purse/ledger/ledger.store.ts';
import { balancesOf } from '#purse/ledger/ledger.ts';
import { addressOf, scriptOf } from '#test/builders/regtest/regtest-transaction.ts';
import type { Stocked, StockRoom } from './stock-room.ts';

export const receivers = [50_000, 50_010, 50_020];
export const refund = 50_001;
export const stranger = 50_002;
const dataURL = 'data:text/plain;base64,aGVsbG8=';
export const filesOf = (count: number) =>
  Array.from({ length: count }, (_, file) => ({ name: `${file}.txt`, size: 5, dataURL }));
export const wanted = (count: number) => ({
  files: filesOf(count),
  receiveAddress: addressOf(receivers[0]!),
  refundAddress: addressOf(refund),
  fee: 3,
  rareSats: 'uncommon',
});
export const hexOf = (owner: number): string => Buffer.from(scriptOf(owner)).toString('hex');

export interface Created {
  readonly id: string;
  readonly charge: { readonly amount: number };
  readonly rareSatsFee: number;
  readonly serviceFee: number;
  readonly chainFee: number;
}
export interface Refusal {
  readonly error: readonly { readonly msg: string }[];
}

/** Steps for tests of orders that use inventory sats. */
export function stockOrders(roomOf: () => StockRoom) {
  const worldOf = () => roomOf().world;
  const stocks = async (count: number): Promise<Stocked[]> => {
    const stocked: Stocked[] = [];
    for (let each = 0; each < count; each++) stocked.push(await roomOf().stock(each * 1_000, 10_000, 0));
    return stocked;
  };

  const order = async (body: object, url = '/order', headers = {}): Promise<Created & { script: Buffer }> => {
    const { status, body: made } = await roomOf().post<Created>(url, body, headers);
    expect([status, made]).toEqual([200, expect.objectContaining({ id: expect.any(String) as string })]);
    return { ...made, script: (await worldOf().customerOrders.read(made.id))!.order.script };
  };

  const refusal = async (body: object, url = '/order', headers = {}): Promise<[number, string]> => {
    const { status, body: answer } = await roomOf().post<Refusal>(url, body, headers);
    return [status, answer.error[0]!.msg];
  };

  const stateOf = async (id: string) => (await worldOf().customerOrders.read(id))!.order;

  async function balances(id: string): Promise<Record<string, number>> {
    const held = balancesOf(await readEntries(worldOf().database.pool, { kind: 'order', id }));
    return Object.fromEntries(
      [...held].filter(([, sats]) => sats !== 0n).map(([name, sats]) => [name, Number(sats)]),
    );
  }

  /** Outputs that an order has reserved, by file. */
  async function reservedBy(id: string) {
    const { rows } = await worldOf().database.pool.query<{
      txid: Buffer;
      vout: number;
      sat: number;
      is_held: boolean;
    }>(
      `SELECT txid, vout, sat, released_at IS NULL AS is_held FROM service.reserved_outputs
        WHERE order_id = $1 ORDER BY file`,
      [id],
    );
    return rows.map(({ txid, sat, is_held: isHeld }) => ({
      txid: displayHash(txid as never),
      sat: Number(sat),
      isHeld,
    }));
  }

  /** Reads the sat and the location of each inscription, in the order of the files. */
  async function inscribedOn(id: string) {
    const { transactions } = (await worldOf().customerOrders.read(id))!;
    const reveals = transactions.filter(({ kind }) => kind === 'reveal');
    const { rows } = await worldOf().database.pool.query<{ sat: number; offset: number; script: Buffer }>(
      `SELECT s.sat, l.sat_offset AS offset, l.script
         FROM unnest($1::bytea[]) WITH ORDINALITY AS r (txid, file)
         JOIN chain.inscriptions AS i ON i.txid = r.txid JOIN chain.sats AS s USING (key)
        CROSS JOIN LATERAL (
          SELECT * FROM chain.locations AS l WHERE l.key = i.key ORDER BY l.height DESC, l.step DESC LIMIT 1) AS l
        ORDER BY r.file`,
      [reveals.map(({ txid }) => Buffer.from(txid))],
    );
    return rows.map(({ sat, offset, script }) => ({
      sat: Number(sat),
      offset,
      script: script.toString('hex'),
    }));
  }

  async function refunded({ id, charge }: Created): Promise<void> {
    await worldOf().eventually(async () => {
      await worldOf().chain.mineMempool();
      return (await stateOf(id)).state === 'refunded';
    });
    const { outside, fee = 0, ...others } = await balances(id);
    expect([outside, others]).toEqual([-fee, {}]);
    const [back] = (await worldOf().customerOrders.read(id))!.transactions.filter(
      ({ kind }) => kind === 'refund',
    );
    expect(back!.plan.outputs).toEqual([
      { kind: 'refund', value: charge.amount - back!.fee, script: hexOf(refund) },
    ]);
    await audited();
  }

  const audited = async (): Promise<void> => expect((await worldOf().audit()).differences).toEqual([]);

  const over = (id: string): Promise<unknown> =>
    worldOf()
      .database.pool.query(
        `UPDATE service.orders SET expires_at = now() - interval '2 minutes' WHERE id = $1`,
        [id],
      )
      .then(() => worldOf().wake(id));

  const broadcast = (hex: string): Promise<unknown> =>
    worldOf().bitcoind.rpc.call('sendrawtransaction', [hex, 0]);

  return {
    stocks,
    order,
    refusal,
    stateOf,
    balances,
    reservedBy,
    inscribedOn,
    refunded,
    audited,
    over,
    broadcast,
  };
}
