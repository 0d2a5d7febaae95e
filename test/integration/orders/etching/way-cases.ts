import { expect, test } from 'vitest';
import { addressOf } from '#test/builders/regtest/regtest-transaction.ts';
import type { EtchingOrders } from '#test/support/orders/etching-orders.ts';

/** Tests of restarts and reorganisations during an etching. */
export function wayCases(given: () => EtchingOrders): void {
  const down = 'a service that is down at each block that an order waits for etches its name once';
  // three starts
  test(down, { tags: ['proof'] }, async () => {
    const orders = given();
    const { service } = orders;
    const whileDown = async (mine: () => Promise<unknown>): Promise<void> => {
      await service.kill();
      await mine();
      await service.begin();
    };
    const made = await orders.order({ rune: 'DOWNINEACHSTATE', premine: 5 });
    await orders.pay(made);
    await whileDown(() => service.chain.mineMempool());
    const { etchingTx } = await orders.until(made.id, (shown) => shown.etchingTx !== undefined);
    await service.eventually(async () => (await orders.mempool()).includes(etchingTx!.commit));
    await whileDown(async () => {
      await service.chain.mineMempool();
      await service.chain.mineEmpty(4);
    });
    const reveal = await orders.revealed(made.id);
    await whileDown(() => service.chain.mineMempool());
    await orders.untilState(made.id, 'completed');
    expect(await orders.runeOf('DOWNINEACHSTATE')).toMatchObject({ etching: reveal });
    expect(await orders.differences()).toEqual([]);
  });

  test('a reveal that a reorganisation removes is mined again', async () => {
    const orders = given();
    const { chain } = orders.service;
    const made = await orders.order({ rune: 'TAKENBACKFORAWHILE', premine: 5 });
    await orders.committed(made);
    await chain.mineMempool();
    await chain.mineEmpty(4);
    const reveal = await orders.revealed(made.id);
    await chain.mineMempool();
    await orders.untilState(made.id, 'completed');
    await chain.takeBack(1);
    await chain.mineEmpty(2);
    await orders.untilState(made.id, 'queued');
    await orders.service.eventually(async () => (await orders.runeOf('TAKENBACKFORAWHILE')) === null);
    await orders.service.eventually(async () => (await orders.mempool()).includes(reveal));
    await chain.mineMempool();
    await orders.untilState(made.id, 'completed');
    expect(await orders.runeOf('TAKENBACKFORAWHILE')).toMatchObject({ etching: reveal });
    expect(await orders.differences()).toEqual([]);
  });

  test('a name that a reorganisation gives to a stranger after the delivery is an error', async () => {
    const orders = given();
    const { chain } = orders.service;
    const claim = await orders.rival('LOSTAFTERDELIVERY');
    const made = await orders.order({ rune: 'LOSTAFTERDELIVERY', premine: 5 });
    await orders.committed(made);
    await chain.broadcast(claim.commit);
    await chain.mineMempool();
    await chain.mineEmpty(4);
    const reveal = await orders.revealed(made.id);
    await chain.mineMempool();
    await orders.untilState(made.id, 'completed');
    await chain.takeBack(1);
    await orders.service.bitcoind.rpc.call('generateblock', [addressOf(900), [claim.reveal.hex, reveal]]);
    await chain.mineEmpty(1);
    const shown = await orders.untilState(made.id, 'error');
    expect(shown.error).toMatch(
      /^The reveal etched nothing, because another transaction etched the name first/u,
    );
    expect(await orders.runeOf('LOSTAFTERDELIVERY')).toMatchObject({ etching: claim.reveal.txid });
    expect(await orders.differences()).toEqual([]);
  });
}
