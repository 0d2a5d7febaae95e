import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dropService } from '#backups/service-catalog.queries.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { askPartnerPayouts } from '#payouts/asking/ask-payouts.ts';
import { cancelPayout } from '#payouts/asking/cancel-payout.ts';
import { type ListedPayout, listPayouts } from '#payouts/payout/payout.store.ts';
import { heldReason, readHold } from '#purse/holding/payment-hold.store.ts';
import { addressOf } from '#test/builders/regtest/regtest-transaction.ts';
import { wantedOrder } from '#test/builders/wanted-order.ts';
import { released } from '#test/support/backups/release.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { Partners } from '#test/support/orders/partners.ts';
import { runCommand } from '#test/support/run-command.ts';
import { ShopWithdrawals, type ShownWithdrawal } from '#test/support/tokenpay/shop-withdrawals.ts';
import { ShopWorld } from '#test/support/tokenpay/shop-world.ts';
import { readWithdrawal } from '#tokenpay/withdrawing/withdrawals.store.ts';
import { cancelWithdrawal } from '#withdrawals/cancel-withdrawal.ts';

const runMs = 600_000;

/** Sats that the receiver of a withdrawal gets. */
const received = ({ price }: ShownWithdrawal): number => Number(price.receivedBase);

interface Held {
  readonly isOnHold: boolean;
  readonly behind: string | null;
  readonly waiting: number;
  readonly booked: readonly {
    readonly txid: string;
    readonly payout: string | null;
    readonly shares: readonly unknown[];
    readonly outputs: readonly { readonly address: string; readonly withdrawal: string | null }[];
  }[];
  readonly unsure: readonly unknown[];
  readonly unknown: readonly unknown[];
  readonly unmined: readonly string[];
  readonly unexplained: readonly unknown[];
}

// each test restores the service that the test before it left
describe.skipIf(bitcoindForTests() === null)(
  'payments that were made after a backup',
  { shuffle: false },
  () => {
    let shop: ShopWorld;
    let its: ShopWithdrawals;
    let partners: Partners;
    let env: Record<string, string>;
    beforeAll(async () => {
      shop = await ShopWorld.start();
      const { world } = shop;
      its = new ShopWithdrawals(shop, await shop.etch(2n ** 120n, 0));
      await its.earn(1_000n, 300_000);
      partners = new Partners(world, 860);
      await partners.fund(80_000);
      const secret = join(world.dir, 'secret');
      await writeFile(secret, Buffer.alloc(32, 7), { mode: 0o600 });
      env = {
        ...world.database.settings,
        BITCOIN_RPC_URL: world.bitcoind.rpcUrl,
        BITCOIN_COOKIE_FILE: world.bitcoind.cookieFile,
        WALLET_SEED_FILE: world.seedFile,
        FILES_DIR: join(world.dir, 'files'),
        SERVICE_SECRET_FILE: secret,
      };
    }, runMs);
    afterAll(() => shop?.close());

    const payout = async (id: string): Promise<ListedPayout> =>
      (await listPayouts(shop.world.database.pool, 1, [id]))[0]!;
    const untilPayout = (id: string, state: string): Promise<ListedPayout> =>
      shop.world.eventually(async () => {
        const one = await payout(id);
        if (one.state === state) return one;
        throw new Error(
          `the payout is ${one.state}, not ${state}: ${one.stuck}\n${shop.world.logged.join('')}`,
        );
      });
    const askedPayout = async (code: string): Promise<string> => {
      const { ids } = await askPartnerPayouts(shop.world.database.pool, {
        partner: { account: 'referral', owner: code },
        confirmations: shop.world.payoutConfirmations,
        isDryRun: false,
      });
      return ids[0]!;
    };
    const held = async (): Promise<Held> =>
      JSON.parse(await runCommand(['payouts', 'held', '--json'], env)) as Held;
    /** Mines what is in the mempool until a condition is true. */
    const minedUntil = (isSo: () => Promise<boolean>): Promise<unknown> =>
      shop.world.eventually(async () => {
        if (await isSo()) return true;
        const { chain, logged } = shop.world;
        if ((await chain.rpc.call<string[]>('getrawmempool')).length > 0) await chain.mineMempool();
        throw new Error(logged.join(''));
      });
    /** Waits until the mempool has exactly these transactions. Null: they are not known yet. */
    const untilMempool = (wanted: () => Promise<readonly (string | null)[] | null>): Promise<unknown> =>
      shop.world.eventually(async () => {
        const txids = await wanted();
        const waiting = await shop.world.chain.rpc.call<string[]>('getrawmempool');
        if (
          txids !== null &&
          waiting.length === txids.length &&
          waiting.every((txid) => txids.includes(txid))
        )
          return true;
        throw new Error(`${waiting.length} transactions wait\n${shop.world.logged.join('')}`);
      });
    const stop = async (): Promise<void> => {
      await shop.world.stop();
      await shop.stop();
    };
    const start = async (): Promise<void> => {
      await shop.world.follow();
      shop.follow();
    };

    async function restore(dir: string, ...flags: readonly string[]): Promise<string> {
      const { world } = shop;
      await world.endReleases();
      await shop.storeUses();
      const client = await world.database.pool.connect();
      await dropService(client).finally(() => client.release());
      await rm(world.seedFile);
      const output = await runCommand(['restore', dir, ...flags], env);
      await world.release();
      return output;
    }

    test(
      'are found in the chain and booked, and what was not paid is paid once after the release',
      async () => {
        const { world } = shop;
        const { pool } = world.database;
        const [first, second] = [await partners.register(), await partners.register()];
        await partners.deliver(first, 2_000, 1);
        await partners.deliver(second, 3_000, world.payoutConfirmations);
        const { order } = await world.customerOrders.create(wantedOrder(['delivered after the backup']));
        await stop();

        // asked for and not signed in the backup
        const paid = await its.asked(its.bitcoin(20_000, addressOf(901)));
        const paidRunes = await its.asked(its.units(50, addressOf(902)));
        const unpaid = await its.asked(its.bitcoin(15_000, addressOf(903)));
        const [paidPayout, unpaidPayout] = [await askedPayout(first.code), await askedPayout(second.code)];
        const before = await its.held();
        const dir = join(world.dir, 'backup');
        await runCommand(['backup', dir], env);

        // after the backup, the service pays three of them, one more withdrawal, and delivers an order
        await withTransaction(pool, async (tx) =>
          cancelWithdrawal(tx, (await readWithdrawal(tx, null, unpaid.id))!, 'cancelled after the backup'),
        );
        await cancelPayout(pool, unpaidPayout, async () => undefined);
        await world.chain.pay(order.script, Number(order.amount));
        await start();
        const made = await its.mined(paid.id);
        const madeRunes = await its.mined(paidRunes.id);
        await minedUntil(
          async () => (await world.customerOrders.read(order.id))?.order.state === 'completed',
        );
        await minedUntil(async () => (await payout(paidPayout)).state === 'mined');
        const madePayout = await payout(paidPayout);
        const lost = await its.asked(its.bitcoin(7_000, addressOf(904)));
        const madeLost = await its.mined(lost.id);
        const reveal = (await world.customerOrders.read(order.id))!.transactions.find(
          ({ kind }) => kind === 'reveal',
        )!;
        await stop();

        const output = await restore(dir, '--gap', '1000');
        expect(output).toContain('2 payouts and 3 withdrawals were not signed in the backup');
        expect(output).toContain('are on hold');
        expect(await readHold(pool)).not.toBeNull();
        await expect(runCommand(['payouts', 'release', '--yes'], env)).rejects.toMatchObject({
          code: 'release_refused',
          message: expect.stringContaining('Start the service') as string,
        });

        await start();
        // the delivery is the same transaction, so it is recognised
        await world.until(order.id, 'completed');
        const again = (await world.customerOrders.read(order.id))!.transactions;
        expect(again.map(({ kind }) => kind)).not.toContain('refund');
        expect(again.find(({ kind }) => kind === 'reveal')!.txid).toEqual(reveal.txid);
        await world.eventually(async () => (await payout(paidPayout)).stuck === heldReason);
        await world.eventually(async () => (await held()).behind === null);
        // a block begins a full round, and still nothing is sent
        await world.chain.mineEmpty(1);
        await world.indexed();
        await world.eventually(async () => (await held()).behind === null);
        expect(await world.chain.rpc.call('getrawmempool')).toEqual([]);
        for (const { id } of [paid, paidRunes, unpaid])
          expect(await its.read(id)).toMatchObject({ state: 'pending', txid: null });
        expect(await its.held()).toEqual(before);

        // the evidence: payments of the backup, and one that the backup does not know
        const seen = await held();
        expect(seen.booked.map(({ txid }) => txid).toSorted()).toEqual(
          [...new Set([made.txid!, madeRunes.txid!, madePayout.txid!, madeLost.txid!])].toSorted(),
        );
        expect(
          seen.booked
            .flatMap(({ outputs }) => outputs.flatMap(({ withdrawal }) => withdrawal ?? []))
            .toSorted(),
        ).toEqual([paid.id, paidRunes.id].toSorted());
        expect(seen.booked.flatMap((each) => each.payout ?? [])).toEqual([paidPayout]);
        const unknown = { txid: madeLost.txid, address: addressOf(904), sats: received(madeLost) };
        expect(seen).toMatchObject({ waiting: 2, unsure: [], unknown: [unknown], unexplained: [] });
        await expect(runCommand(['audit'], env)).rejects.toMatchObject({ code: 'audit_differs' });

        // the one that the backup does not know is asked for again, so that the account pays for it
        const release = () => runCommand(['payouts', 'release', '--yes'], env);
        await expect(release()).rejects.toMatchObject({
          code: 'release_refused',
          message: expect.stringContaining('does not have that payment') as string,
        });
        // with the fee of today, the receiver would get another amount
        const other = await its.asked(its.bitcoin(7_100, addressOf(904)));
        expect(await held()).toMatchObject({ unsure: [{ withdrawal: other.id, why: 'amount' }] });
        await expect(release()).rejects.toMatchObject({
          message: expect.stringContaining('cannot tell whether') as string,
        });
        await withTransaction(pool, async (tx) =>
          cancelWithdrawal(tx, (await readWithdrawal(tx, null, other.id))!, 'another amount'),
        );
        const lostAgain = await its.asked(
          its.bitcoin(received(madeLost), addressOf(904), { feeFrom: 'balance' }),
        );
        expect(await held()).toMatchObject({ waiting: 2, unsure: [], unknown: [], unexplained: [] });
        expect(await released(env)).toContain('are booked. 2 payments are made now.');
        expect(await readHold(pool)).toBeNull();
        for (const [id, txid] of [
          [paid.id, made.txid],
          [paidRunes.id, madeRunes.txid],
          [lostAgain.id, madeLost.txid],
        ] as const) {
          await world.chain.mineEmpty(1);
          expect(await its.until(id, 'completed')).toMatchObject({ txid });
        }
        expect((await its.mined(unpaid.id)).txid).not.toBe(made.txid);
        expect(await untilPayout(paidPayout, 'mined')).toMatchObject({ txid: madePayout.txid });
        await minedUntil(async () => (await payout(unpaidPayout)).state === 'mined');

        // each was paid once
        expect(await world.chain.unspentOf(901)).toBe(received(made));
        expect(await its.unitsOf((await shop.scriptOf(addressOf(902))) as Uint8Array)).toBe(50n);
        expect(await world.chain.unspentOf(903)).toBe(received(unpaid));
        expect(await world.chain.unspentOf(904)).toBe(received(madeLost));
        for (const [{ owner }, id] of [
          [first, paidPayout],
          [second, unpaidPayout],
        ] as const)
          expect(await world.chain.unspentOf(owner)).toBe((await payout(id)).sats);
        await its.audit();
        expect(await world.audit()).toMatchObject({ differing: 0, payouts: [], differences: [] });
        expect(await runCommand(['payouts', 'held'], env)).toBe('payments are not on hold\n');
      },
      runMs,
    );

    test(
      'are recognised if they replaced a transaction that the backup has, also while no block has them',
      async () => {
        const { world } = shop;
        const partner = await partners.register();
        await partners.deliver(partner, 4_000, world.payoutConfirmations);
        const sent = await its.asked(its.bitcoin(11_000, addressOf(905)));
        const { txid: firstTxid } = await its.until(sent.id, 'processing');
        const id = await askedPayout(partner.code);
        const first = await untilPayout(id, 'sent');
        await stop();
        const dir = join(world.dir, 'backup of sent payments');
        await runCommand(['backup', dir], env);

        // after the backup, fees rise, and both are replaced
        const { bumps } = world;
        world.bumps = { ...bumps, afterMs: 0 };
        world.estimate = 12_000n;
        await start();
        await world.chain.mineEmpty(1);
        // a replacement is stored before it is sent, and a block could still have the replaced transaction
        await untilMempool(async () => {
          const txids = [(await payout(id)).txid, (await its.read(sent.id)).txid];
          return txids.includes(first.txid) || txids.includes(firstTxid) ? null : txids;
        });
        const [made, madeSent] = [await payout(id), await its.read(sent.id)];
        await stop();
        world.bumps = bumps;
        world.estimate = null;

        // the mark is there, and a search would go through the million indices that the other restore skipped
        await restore(dir, '--without-node');
        await start();
        await world.eventually(async () => (await held()).behind === null);
        // the backup has other transactions that spend the same coins
        expect(await world.chain.rpc.call<string[]>('getrawmempool')).toHaveLength(2);
        const waiting = await held();
        expect(waiting).toMatchObject({ booked: [], unsure: [{ why: 'unmined' }, { why: 'unmined' }] });
        expect(waiting.unmined.toSorted()).toEqual([made.txid!, madeSent.txid!].toSorted());
        await expect(runCommand(['payouts', 'release', '--yes', '--pay-again'], env)).rejects.toMatchObject({
          code: 'release_refused',
          message: expect.stringContaining('is in the mempool') as string,
        });
        await world.chain.mineMempool();
        await world.eventually(async () => (await held()).behind === null);
        const seen = await held();
        expect(seen.booked.map(({ txid }) => txid).toSorted()).toEqual(
          [made.txid!, madeSent.txid!].toSorted(),
        );
        expect(seen).toMatchObject({ waiting: 0, unsure: [], unknown: [], unexplained: [] });
        expect(await released(env)).toContain('2 found transactions are booked. 0 payments are made now.');
        await world.chain.mineEmpty(1);
        expect(await untilPayout(id, 'mined')).toMatchObject({ txid: made.txid });
        expect(await its.until(sent.id, 'completed')).toMatchObject({ txid: madeSent.txid });
        expect(await world.chain.unspentOf(905)).toBe(received(madeSent));
        expect(await world.chain.unspentOf(partner.owner)).toBe(made.sats);
        await its.audit();
        expect(await world.audit()).toMatchObject({ differing: 0, payouts: [] });
      },
      runMs,
    );

    test(
      'are left out of balances if the operator decides so, and their change is spent',
      async () => {
        const { world } = shop;
        const { rpc } = world.chain;
        const partner = await partners.register();
        await partners.deliver(partner, 5_000, world.payoutConfirmations);
        await stop();
        const dir = join(world.dir, 'backup before an unknown payment');
        await runCommand(['backup', dir], env);
        await start();
        const before = await its.held();
        const made = await its.mined((await its.asked(its.bitcoin(6_000, addressOf(906)))).id);
        const paidPartner = await askedPayout(partner.code);
        await minedUntil(async () => (await payout(paidPartner)).state === 'mined');
        const madePayout = await payout(paidPartner);
        await stop();

        await restore(dir, '--without-node');
        await start();
        await world.eventually(async () => (await held()).behind === null);
        expect(await held()).toMatchObject({
          waiting: 0,
          booked: [
            { txid: made.txid, payout: null, shares: [] },
            // the database has no payout, but owes the partner the sats
            {
              txid: madePayout.txid,
              payout: null,
              shares: [{ account: 'referral', owner: partner.code, sats: madePayout.sats }],
            },
          ],
          unsure: [],
          unknown: [{ txid: made.txid, address: addressOf(906), sats: received(made) }],
          unexplained: [],
        });
        const release = ['payouts', 'release', '--yes'];
        await expect(runCommand(release, env)).rejects.toMatchObject({ code: 'release_refused' });
        expect(await runCommand([...release, '--pay-again'], env)).toContain(
          '2 found transactions are booked. 0 payments are made now.',
        );
        expect(await its.held()).toEqual(before);
        const [bookedPayout] = (await listPayouts(world.database.pool, 10)).filter(
          ({ txid }) => txid === madePayout.txid,
        );
        await world.chain.mineEmpty(1);
        expect((await untilPayout(bookedPayout!.id, 'mined')).sats).toBe(madePayout.sats);
        await expect(askedPayout(partner.code)).rejects.toMatchObject({ code: 'payouts_nothing' });
        expect(await world.chain.unspentOf(partner.owner)).toBe(madePayout.sats);

        await world.chain.mineEmpty(1);
        const next = await its.mined((await its.asked(its.bitcoin(5_000, addressOf(907)))).id);
        const best = await rpc.call<string>('getbestblockhash');
        const { tx } = await rpc.call<{ tx: { txid: string; vin: { txid?: string }[] }[] }>('getblock', [
          best,
          2,
        ]);
        expect(tx.find(({ txid }) => txid === next.txid)?.vin.map(({ txid }) => txid)).toContain(made.txid);
        expect(await world.chain.unspentOf(906)).toBe(received(made));
        expect(await world.chain.unspentOf(907)).toBe(received(next));
      },
      runMs,
    );
  },
);
