import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { OrderService } from '#test/support/orders/order-service.ts';
import { bringToTheirEnds } from '#test/support/orders/saved/orders-to-their-ends.ts';
import { readSaved, type SavedService } from '#test/support/orders/saved/saved-service.ts';

/** The last migrations of the versions that left a fixture. */
const versions = ['0030', '0036'];
const runMs = 240_000;

describe.skipIf(bitcoindForTests() === null).each(versions)(
  'orders that version %s left in every state',
  (version) => {
    const fixture = fileURLToPath(
      new URL(`../../fixtures/orders/service-${version}.json.gz`, import.meta.url),
    );
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
  },
);
