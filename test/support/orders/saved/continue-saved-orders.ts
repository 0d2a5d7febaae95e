import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { OrderService } from '#test/support/orders/order-service.ts';
import { bringToTheirEnds } from './orders-to-their-ends.ts';
import { readSaved, type SavedService } from './saved-service.ts';

const runMs = 240_000;

/** Tests that the current version continues orders of earlier versions. Each version is named by its last migration. */
export function continueSavedOrders(versions: readonly string[]): void {
  describe.skipIf(bitcoindForTests() === null).each(versions)(
    'orders that version %s left in every state',
    (version) => {
      const fixture = fileURLToPath(
        new URL(`../../../fixtures/orders/service-${version}.json.gz`, import.meta.url),
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
}
