import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { withdrawalFailpoints } from '#kernel/process/failpoint.ts';
import { auditOrders } from '#orders/audit/audit-orders.ts';
import { auditPayouts } from '#payouts/audit/audit-payouts.ts';
import { addressOf, scriptOf } from '#test/builders/regtest/regtest-transaction.ts';
import { Purse } from '#test/chaos/orders/purse.ts';
import { RuneChain } from '#test/chaos/tokens/rune-chain.ts';
import { RunePurse, type RunRune } from '#test/chaos/tokens/rune-purse.ts';
import { TokenPayments } from '#test/chaos/tokens/token-payments.ts';
import { giveKey } from '#test/support/http/search-access.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { OrderService } from '#test/support/orders/order-service.ts';
import type { ShownWithdrawal } from '#test/support/tokenpay/shop-withdrawals.ts';
import type { ShopOrder } from '#test/support/tokenpay/shop-world.ts';
import { auditTokens } from '#tokenpay/audit/audit-tokens.ts';

const runMs = 300_000;
/** Units and sats that the account gets from each order. */
const [earnedUnits, earnedSats] = [1_000n, 60_000];
const [takenUnits, takenSats] = [300, 20_000];
/** Sats of an output with runes: the dust limit of P2TR. */
const postage = 330;

type Failpoint =
  | (typeof withdrawalFailpoints)[number]
  | 'withdrawals-settling at a block'
  | 'payout-sent'
  | 'payout-marked'
  | 'payout-mined';

interface Answered<Body> {
  readonly status: number;
  readonly body: Body;
}

/** A withdrawal to request, and the key that its client repeats with the request. */
interface Wish {
  readonly fields: object;
  readonly key: string;
}

interface Balance {
  readonly amountBase: { readonly bitcoin: { BTC?: string }; readonly rune: Record<string, string> };
}

describe.skipIf(bitcoindForTests() === null)('withdrawals of BTC and of a rune', () => {
  let service: OrderService;
  let model: RuneChain;
  let payments: TokenPayments;
  let rune: RunRune;
  let key: string;
  let owners = 900;
  beforeAll(async () => {
    service = await OrderService.start({ INDEX_RUNES: 'true', TOKENPAY_CONFIRMATIONS: '1' });
    const { chain, bitcoind, database } = service;
    model = new RuneChain(bitcoind.rpc, await chain.height());
    const runes = await RunePurse.fill(chain, model);
    const purse = await Purse.fill(chain);
    payments = new TokenPayments({ rpc: bitcoind.rpc, chain, purse, runes, model });
    rune = runes.runes[0] as RunRune;
    ({ key } = await giveKey(database.pool, { scopes: ['tokenpay', 'tokenpay-withdraw'], rate: '0' }));
  }, runMs);
  afterAll(() => service?.close(), runMs);

  async function ask<Body>(
    path: string,
    body: object | null,
    once: string = randomUUID(),
  ): Promise<Answered<Body>> {
    const headers = { 'content-type': 'application/json', 'x-api-key': key };
    const answer = await fetch(
      new URL(`/tokenpay/${path}`, service.origin),
      body === null
        ? { headers }
        : { method: 'POST', headers: { ...headers, 'idempotency-key': once }, body: JSON.stringify(body) },
    );
    return { status: answer.status, body: (await answer.json()) as Body };
  }

  async function read<Body>(path: string): Promise<Body> {
    const { status, body } = await ask<Body>(path, null);
    if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}\n${service.stderr()}`);
    return body;
  }

  const pathOf = 'user/account/withdraw';
  const readWithdrawal = (id: string) => read<ShownWithdrawal>(`user/withdrawal/${id}`);
  const scriptOfAddress = async (address: string): Promise<Uint8Array> => {
    const found = await service.bitcoind.rpc.call<{ scriptPubKey: string }>('validateaddress', [address]);
    return Buffer.from(found.scriptPubKey, 'hex');
  };

  /** Pays an order, so that the account gets units, and sats beyond the base fee. */
  async function earn(): Promise<void> {
    const order = await service.eventually(async () => {
      const { status, body } = await ask<ShopOrder>('user/order/rune', {
        token: rune.name,
        amount: Number(earnedUnits),
        additionalFee: earnedSats,
      });
      return status === 200 && body;
    });
    const { tokenCharge, feeCharge } = order;
    const sent = await payments.send([
      {
        value: 546,
        outputScript: await scriptOfAddress(tokenCharge.address),
        units: [[rune, earnedUnits]],
      },
      { value: feeCharge.amount, outputScript: await scriptOfAddress(feeCharge.address) },
    ]);
    expect(sent).not.toBeNull();
    await service.chain.mineMempool();
    await service.eventually(async () => {
      const { state } = await read<ShopOrder>(`order/${order.id}`);
      return state === 'completed';
    });
  }

  /** The sats and the units of the rune that the account has. */
  async function held(): Promise<{ readonly sats: bigint; readonly units: bigint }> {
    const { bitcoin, rune: runes } = (await read<Balance>('user/account/balance')).amountBase;
    return { sats: BigInt(bitcoin.BTC ?? 0), units: BigInt(runes[rune.name] ?? 0) };
  }

  async function stored(): Promise<number> {
    const { rows } = await service.database.pool.query<{ count: number }>(
      'SELECT count(*)::integer AS count FROM service.withdrawals',
    );
    return rows[0]?.count ?? 0;
  }

  /** Requests both withdrawals. A process that is killed meanwhile answers neither request, or one. */
  const askAll = (wishes: readonly Wish[]) =>
    Promise.allSettled(wishes.map(({ fields, key: once }) => ask(pathOf, fields, once)));

  /** Repeats a request until it gets its withdrawal. Uses another key if the first one was only claimed. */
  async function asked({ fields, key: first }: Wish): Promise<ShownWithdrawal> {
    let once: string = first;
    return service.eventually(async () => {
      const { status, body } = await ask<ShownWithdrawal>(pathOf, fields, once);
      if (status === 409) once = randomUUID();
      return status === 200 && body;
    });
  }

  const untilSigned = async (wishes: readonly Wish[]): Promise<void> => {
    for (const wish of wishes) {
      const { id } = await asked(wish);
      await service.eventually(async () => (await readWithdrawal(id)).state === 'processing');
    }
  };

  const whileAsked =
    (failpoint: string) =>
    (wishes: readonly Wish[]): Promise<void> =>
      service.killedAt(failpoint, () => askAll(wishes));
  const whileMined = (failpoint: string) => async (wishes: readonly Wish[]) => {
    await untilSigned(wishes);
    const ids = await Promise.all(wishes.map(async (wish) => (await asked(wish)).id));
    await service.eventually(async () => {
      const waiting = await service.bitcoind.rpc.call<string[]>('getrawmempool');
      const shown = await Promise.all(ids.map(readWithdrawal));
      return shown.every(({ txid }) => txid !== null && waiting.includes(txid));
    });
    await service.killedAt(failpoint, () => service.chain.mineMempool());
  };

  /** For each point that withdrawals pass: sends the requests, and kills the process at the point. */
  const killAt: Readonly<Record<Failpoint, (wishes: readonly Wish[]) => Promise<void>>> = {
    'withdrawal-reserving': async (wishes) => {
      const before = await stored();
      await service.killedAt('withdrawal-reserving', () => askAll(wishes.slice(0, 1)));
      expect(await stored()).toBe(before);
    },
    'withdrawal-reserved': async (wishes) => {
      const before = await stored();
      const answers: PromiseSettledResult<unknown>[] = [];
      await service.killedAt('withdrawal-reserved', async () => {
        answers.push(...(await askAll(wishes.slice(0, 1))));
      });
      // the client does not know about its withdrawal, and repeats the request
      expect([answers.map(({ status }) => status), await stored()]).toEqual([['rejected'], before + 1]);
    },
    'withdrawals-signed': whileAsked('withdrawals-signed'),
    'withdrawals-stored': whileAsked('withdrawals-stored'),
    'withdrawals-settling': whileAsked('withdrawals-settling'),
    'payout-sent': whileAsked('payout-sent'),
    'payout-marked': whileAsked('payout-marked'),
    'withdrawals-settling at a block': whileMined('withdrawals-settling'),
    'payout-mined': whileMined('payout-mined'),
  };

  test.each(Object.keys(killAt) as Failpoint[])(
    'are sent once each, though the process is killed at %s',
    async (failpoint) => {
      await earn();
      const [before, count] = [await held(), await stored()];
      const receivers = [owners++, owners++] as const;
      const wishes: Wish[] = [
        {
          key: randomUUID(),
          fields: {
            protocol: 'rune',
            token: rune.name,
            amount: takenUnits,
            address: addressOf(receivers[0]),
          },
        },
        {
          key: randomUUID(),
          fields: {
            protocol: 'bitcoin',
            token: 'BTC',
            amount: takenSats / 1e8,
            address: addressOf(receivers[1]),
          },
        },
      ];
      await killAt[failpoint](wishes);
      const made = [await asked(wishes[0]!), await asked(wishes[1]!)] as const;
      expect(await stored()).toBe(count + made.length);
      await service.eventually(async () => {
        await service.chain.mineMempool();
        const shown = await Promise.all(made.map(({ id }) => readWithdrawal(id)));
        if (shown.every(({ state }) => state === 'completed')) return true;
        throw new Error(`${JSON.stringify(shown)}\n${service.stderr()}`);
      });

      const best = await service.bitcoind.rpc.call<string>('getbestblockhash');
      const { made: units } = await model.stateAt(best);
      const paid = await Promise.all(
        receivers.map((owner) =>
          model.outputsTo(best, new Set([Buffer.from(scriptOf(owner)).toString('hex')])),
        ),
      );
      expect(paid.map((outputs) => outputs.map(({ sats }) => sats))).toEqual([
        [BigInt(postage)],
        [BigInt(made[1].price.receivedBase)],
      ]);
      expect([...(units.get(paid[0]![0]!.outpoint) ?? [])]).toEqual([[rune.etching, BigInt(takenUnits)]]);
      const after = await held();
      expect([before.units - after.units, before.sats - after.sats]).toEqual([
        BigInt(takenUnits),
        BigInt(takenSats + postage + made[0].price.chainFee),
      ]);
      const parts = { database: service.database.pool, node: service.bitcoind.rpc };
      // the index and the payments may be at different blocks for a moment
      await service.eventually(async () => (await auditTokens(parts)).length === 0);
      expect((await auditOrders(parts)).differences).toEqual([]);
      expect(await auditPayouts(parts)).toEqual([]);
    },
    runMs,
  );
});
