import { describe, expect, test } from 'vitest';
import { displayHash } from '#kernel/primitives/hash.ts';
import { premined } from '#test/builders/regtest/etching.ts';
import {
  type Coin,
  type NewOutput,
  scriptOf,
  transaction,
} from '#test/builders/regtest/regtest-transaction.ts';
import { home, lentParents, p2pkhHome, refunded } from '#test/support/orders/lent-parents.ts';
import type { OrderWorld } from '#test/support/orders/order-world.ts';
import { expectSpent, findOpen, findOrder, foretell } from './foretell.ts';

/** Value of a wallet's postage coin, in sats. */
const postage = 546;

/**
 * Tests payments that a wallet makes in place of the requested one. Each case must end in a delivery or in a full
 * refund.
 *
 * @param worldOf the world, which indexes runes and has 40 coins for these tests
 */
export function testWalletPayments(worldOf: () => OrderWorld): void {
  const { inscribed, termsOf, ordered, to, send, runesAt, shown, place, ...more } = lentParents(worldOf);
  const { expectAt, expectChildren, accounts, audited } = more;

  /** Values of two coins that together pay for an order. The first coin has the sat for the inscription. */
  const twoCoins = async (id: string): Promise<readonly [number, number]> => {
    const { missingInTwo } = await findOpen(worldOf(), id);
    return [postage, Number(missingInTwo) - postage];
  };

  const expire = async (id: string): Promise<void> => {
    await worldOf().database.pool.query('UPDATE service.orders SET expires_at = now() WHERE id = $1', [id]);
    await worldOf().wake(id);
  };

  /** Mines blocks until all money of an order is refunded, and the index has the refund. */
  const untilRefunded = async (id: string): Promise<void> => {
    await worldOf().eventually(async () => {
      await worldOf().chain.mineMempool();
      return (await shown(id)).state === 'refunded';
    });
    await worldOf().indexed();
  };

  /** Mines blocks until nothing is owed for an order. */
  const untilSettled = async (id: string): Promise<void> => {
    await worldOf().eventually(async () => {
      await worldOf().chain.mineMempool();
      return (await accounts(id))['owed'] === undefined;
    });
    await worldOf().indexed();
  };

  describe('a payment that a wallet makes', () => {
    test.each([
      { name: 'as requested, the coin with the sat first', isReversed: false },
      { name: 'with the outputs the other way round', isReversed: true },
    ])('$name is delivered as predicted', async ({ name, isReversed }) => {
      const { id, charge } = await ordered([name], []);
      const two = await twoCoins(id);
      const values = isReversed ? two.toReversed() : two;
      const outcome = foretell(await findOpen(worldOf(), id), values);
      expect(outcome).toMatchObject({ inscribed: [{ coin: { value: BigInt(values[0]!) }, offset: 0n }] });
      const txid = await send(
        [],
        values.map((value) => ({ ...charge, value })),
      );
      await worldOf().deliver(id);
      await expectSpent(worldOf(), id, outcome, txid);
      await expectChildren(id, [name], []);
      expect(await audited(id)).not.toHaveProperty('owed');
    });

    test('without the coin of the sat is short, and is refunded when the time is over', async () => {
      const { id, charge } = await ordered(['dropped'], []);
      const [, rest] = await twoCoins(id);
      expect(foretell(await findOpen(worldOf(), id), [rest])).toEqual({
        kind: 'short',
        missing: charge.value - rest > 330 ? BigInt(charge.value - rest) : 330n,
        extraCost: 0n,
      });
      await send([], [{ ...charge, value: rest }]);
      await worldOf().chain.mineMempool();
      await worldOf().eventually(async () => (await shown(id)).missing !== undefined);
      await expire(id);
      await untilRefunded(id);
      const { outside = 0, fee = 0, ...others } = await audited(id);
      expect(others).toEqual({});
      expect(-outside).toBe(fee);
    });

    test('with additional outputs is delivered, and these are refunded', async () => {
      const { id, charge } = await ordered(['added'], []);
      const [first, rest] = await twoCoins(id);
      const values = [first, rest, 40_000];
      const outcome = foretell(await findOpen(worldOf(), id), values);
      // the additional coin alone pays for the order
      expect(outcome).toMatchObject({ spent: [{ vout: 2 }] });
      const txid = await send(
        [],
        values.map((value) => ({ ...charge, value })),
      );
      await worldOf().deliver(id);
      await expectSpent(worldOf(), id, outcome, txid);
      await untilSettled(id);
      const { transactions } = (await worldOf().customerOrders.read(id))!;
      const back = transactions.flatMap(({ plan }) => plan.outputs.filter(({ kind }) => kind === 'refund'));
      const refundScript = Buffer.from(scriptOf(refunded)).toString('hex');
      expect(back.length).toBeGreaterThan(0);
      expect(back.every(({ script }) => script === refundScript)).toBe(true);
      await audited(id);
    });

    test('with runes in its only coin is delivered, and the runes are with the inscription', async () => {
      const { id, charge } = await ordered(['on runes'], []);
      const outcome = foretell(await findOpen(worldOf(), id), [charge.value]);
      const txid = await sendRunic([charge]);
      await worldOf().deliver(id);
      await worldOf().indexed();
      await expectSpent(worldOf(), id, outcome, txid);
      const [file] = (await shown(id)).files;
      expect(await runesAt({ txid: file!.inscriptionId.slice(0, 64), vout: 0 })).toBe('11');
      await audited(id);
    });

    test('with runes in a coin that is not needed is delivered without them, and they are refunded', async () => {
      const { id, charge } = await ordered(['beside runes'], []);
      await sendRunic([{ ...charge, value: 50_000 }, charge]);
      await worldOf().deliver(id);
      await untilSettled(id);
      const { transactions } = (await worldOf().customerOrders.read(id))!;
      const reveal = transactions.find(({ kind }) => kind === 'reveal')!;
      expect(reveal.plan.inputs.map(({ value }) => value)).toEqual([charge.value]);
      const returned = transactions.find(({ kind }) => kind === 'return')!;
      expect(returned.plan.outputs[0]).toMatchObject({
        value: 50_000,
        script: Buffer.from(scriptOf(refunded)).toString('hex'),
      });
      expect(await runesAt({ txid: displayHash(returned.txid), vout: 0 })).toBe('11');
      await audited(id);
    });

    test('with an inscription in the coin of the charge does not count, and is returned whole', async () => {
      const { id, charge } = await ordered(['on an inscription'], []);
      const [first, rest] = await twoCoins(id);
      const [held] = await inscribed(['in the charge'], rest);
      await send(
        [held!],
        [
          { ...charge, value: rest },
          { ...charge, value: first },
        ],
      );
      await worldOf().chain.mineMempool();
      await worldOf().indexed();
      await worldOf().eventually(async () => (await shown(id)).missing !== undefined);
      const { missing, coins } = await findOpen(worldOf(), id);
      expect(missing).toBe(BigInt(charge.value - first));
      expect(coins.map(({ isCounted, isHolding }) => ({ isCounted, isHolding }))).toEqual([
        { isCounted: false, isHolding: true },
        { isCounted: true, isHolding: false },
      ]);
      await expire(id);
      await untilRefunded(id);
      await untilSettled(id);
      await expectAt(held!, scriptOf(refunded));
      await audited(id);
    });

    test('of a coin that is spent elsewhere before it is signed never comes, and the order ends unpaid', async () => {
      const { id, charge } = await ordered(['spent'], []);
      const coin = await worldOf().chain.coin();
      const payment = transaction(
        [coin],
        [charge, { value: coin.value - charge.value - 500, to: coin.owner }],
      );
      const elsewhere = transaction([coin], [{ value: coin.value - 500, to: coin.owner }]);
      await worldOf().chain.mine([elsewhere]);
      await expect(worldOf().chain.broadcast(payment)).rejects.toThrow('missingorspent');
      expect(await findOpen(worldOf(), id)).toMatchObject({ missing: BigInt(charge.value), coins: [] });
      await expire(id);
      await worldOf().until(id, 'expired');
      expect(await findOrder(worldOf(), { id })).toEqual({ kind: 'over', state: 'expired' });
      expect(await audited(id)).toEqual({});
    });

    test('of a coin that a reorganisation removes is gone, and the next one is delivered', async () => {
      const { chain } = worldOf();
      const { id, charge } = await ordered(['reorganised away'], []);
      const from = await chain.coin();
      const made = transaction(
        [from],
        [
          { value: 100_000, to: from.owner },
          { value: 50_000, to: from.owner },
        ],
      );
      await chain.mine([made]);
      const coin = made.coin(0);
      const payment = transaction(
        [coin],
        [charge, { value: coin.value - charge.value - 500, to: coin.owner }],
      );
      await chain.broadcast(payment);
      await worldOf().until(id, 'waiting-confirmation');
      expect((await findOrder(worldOf(), { id })).kind).toBe('paid');
      await chain.takeBack(1);
      // the new branch spends the input that the coin came from
      await chain.mine([transaction([from], [{ value: from.value - 90_000, to: from.owner }])]);
      await chain.mineEmpty(1);
      await worldOf().until(id, 'waiting-payment');
      const open = await findOpen(worldOf(), id);
      expect(open).toMatchObject({ missing: BigInt(charge.value), coins: [] });
      const txid = await send([], [charge]);
      await worldOf().deliver(id);
      await expectSpent(worldOf(), id, foretell(open, [charge.value]), txid);
      await audited(id);
    });
  });

  describe('parents that a wallet sends', () => {
    test('with the charge, in one transaction, are with the children as predicted', async () => {
      const [one] = await inscribed(['with the charge']);
      const [other] = await inscribed(['with the charge, too'], 3000);
      const { id, deposits, charge } = await ordered(['f', 'g'], [termsOf(one!), termsOf(other!, p2pkhHome)]);
      await worldOf().until(id, 'waiting-parent');
      const open = await findOpen(worldOf(), id);
      expect(open.parents).toMatchObject([
        { value: 10_000n, came: null },
        { value: 3000n, came: null },
      ]);
      for (const { depositAddress: address } of open.parents)
        expect(await findOrder(worldOf(), { address })).toEqual({ kind: 'deposit' });
      const sent = open.parents.map(({ value }, index) => [index, { value, runes: [] }] as const);
      const outcome = foretell(open, [charge.value], new Map(sent));
      expect(outcome).toMatchObject({ parentsMissing: [] });
      const txid = await send([one!, other!], [to(deposits[0], one!), to(deposits[1], other!), charge]);
      await worldOf().deliver(id);
      await expectSpent(worldOf(), id, outcome, txid);
      await expectChildren(id, ['f', 'g'], [one!, other!]);
      await audited(id);
    });

    test('never, although the charge is paid, have it refunded when the time is over', async () => {
      const [parent] = await inscribed(['kept']);
      const { id, charge } = await ordered(['without it'], [termsOf(parent!)]);
      expect(foretell(await findOpen(worldOf(), id), [charge.value])).toMatchObject({ parentsMissing: [0] });
      await send([], [charge]);
      await worldOf().chain.mineMempool();
      await worldOf().eventually(async () => (await accounts(id))['owed'] === charge.value);
      const open = await findOpen(worldOf(), id);
      expect(open).toMatchObject({ state: 'waiting-parent', missing: 0n, missingInTwo: 0n });
      await expire(id);
      await untilRefunded(id);
      const { outside = 0, fee = 0, ...others } = await audited(id);
      expect(others).toEqual({});
      expect(-outside).toBe(fee);
    });

    test('each to the deposit of the other one are returned, and are the parents once sent right', async () => {
      const [one] = await inscribed(['crossed']);
      const [other] = await inscribed(['crossed, too'], 3000);
      const { id, deposits, charge } = await ordered(['h'], [termsOf(one!), termsOf(other!)]);
      await send([one!, other!], [to(deposits[1], one!), to(deposits[0], other!)]);
      await worldOf().until(id, 'waiting-payment');
      await worldOf().chain.mineMempool();
      await worldOf().until(id, 'waiting-parent');
      expect((await findOpen(worldOf(), id)).parents.map(({ came }) => came)).toEqual([null, null]);
      // the sats above the charge pay for the return of the parents
      await send([], [charge, { ...charge, value: 30_000 }]);
      await worldOf().chain.mineMempool();
      await worldOf().sent(id, ['return']);
      await worldOf().chain.mineMempool();
      await worldOf().indexed();
      const back = [one!, other!].map(async (held) => {
        await expectAt(held, scriptOf(home));
        const { txid } = await place(held.id);
        const { transactions } = (await worldOf().customerOrders.read(id))!;
        const returned = transactions.find((made) => Buffer.compare(made.txid, txid) === 0)!;
        const vout = returned.plan.outputs.findIndex(({ value }) => value === held.coin.value);
        const coin: Coin = {
          ...held.coin,
          txid: Buffer.from(txid).reverse().toString('hex'),
          vout,
          owner: home,
        };
        return { ...held, coin };
      });
      const [again, otherAgain] = await Promise.all(back);
      await send([again!, otherAgain!], [to(deposits[0], one!), to(deposits[1], other!)]);
      await worldOf().deliver(id);
      await expectChildren(id, ['h'], [one!, other!]);
      await untilSettled(id);
      expect(await audited(id)).not.toHaveProperty('deposit');
    });
  });

  /** Sends these outputs, the first of which also has 11 units of a new rune. Returns the txid. */
  async function sendRunic(outputs: readonly NewOutput[]): Promise<string> {
    const { chain } = worldOf();
    const coin = await chain.coin();
    const paid = outputs.reduce((sum, { value }) => sum + value, 0);
    const change = { value: coin.value - paid - 1000, to: coin.owner };
    const made = transaction([coin], [...outputs, change, { value: 0, outputScript: premined(11n) }]);
    await chain.broadcast(made);
    return made.txid;
  }
}
