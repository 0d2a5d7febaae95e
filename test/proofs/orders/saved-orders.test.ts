import { afterAll, beforeAll, describe, test } from 'vitest';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { OrderService } from '#test/support/orders/order-service.ts';
import { makeOrdersInEveryState } from '#test/support/orders/saved/orders-in-every-state.ts';
import { bringToTheirEnds } from '#test/support/orders/saved/orders-to-their-ends.ts';
import { type SavedService, saveService, writeSaved } from '#test/support/orders/saved/saved-service.ts';
import { StockRoom } from '#test/support/orders/stock-room.ts';

const runMs = 400_000;

describe.skipIf(bitcoindForTests() === null)('a service with orders in every saved state', () => {
  let saved: SavedService;
  let service: OrderService;
  beforeAll(async () => {
    const room = await StockRoom.start(230);
    try {
      const made = await makeOrdersInEveryState(room);
      const { database, bitcoind, seedFile } = room.world;
      saved = await saveService({ superuserUrl: database.superuserUrl, rpc: bitcoind.rpc, seedFile }, made);
    } finally {
      await room.close();
    }
    // writes a fixture for tests of later versions
    const path = process.env['SAVE_SERVICE_TO'];
    if (path !== undefined) await writeSaved(path, saved);
    service = await OrderService.saved(saved, { INDEX_SATS: 'true' });
    await service.begin();
  }, runMs);
  afterAll(() => service?.close());

  test('continues beside another node that has its chain', () => bringToTheirEnds(service, saved), runMs);
});
