import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { OrderService } from '#test/support/orders/order-service.ts';
import { bringToTheirEnds } from '#test/support/orders/saved/orders-to-their-ends.ts';
import { readSaved, type SavedService } from '#test/support/orders/saved/saved-service.ts';

const fixture = fileURLToPath(new URL('../../fixtures/orders/service-0030.json.gz', import.meta.url));
const runMs = 240_000;

describe.skipIf(bitcoindForTests() === null)('orders that an older version left in every state', () => {
  let saved: SavedService;
  let service: OrderService;
  beforeAll(async () => {
    saved = await readSaved(fixture);
    service = await OrderService.saved(saved, { INDEX_SATS: 'true' });
    await service.begin();
  }, runMs);
  afterAll(() => service?.close());

  test(
    'agree with the chain at once, are delivered or refunded, and agree with it at the end',
    () => bringToTheirEnds(service, saved),
    runMs,
  );
});
