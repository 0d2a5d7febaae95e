import { afterAll, beforeAll, expect, test } from 'vitest';
import { createHttpApp, type HttpApp } from '#test/support/http-app.ts';
import { within } from '#test/support/webhooks/sending.ts';
import { noteKeys } from '#webhooks/key.store.ts';
import { shownPublicKey, WebhookKeys } from '#webhooks/webhook-keys.ts';

let http: HttpApp;
beforeAll(async () => {
  http = await createHttpApp([]);
});
afterAll(async () => {
  await http.close();
});

const [first, second] = [1, 2].map((fill) => Buffer.alloc(32, fill)) as [Buffer, Buffer];

test('the signing keys are shown, two during a change', async () => {
  const asked = async () => (await http.app.inject('/webhooks/keys')).json<{ keys: { key: string }[] }>();
  expect(await asked()).toEqual({ keys: [] });
  const keys = new WebhookKeys(first);
  await within(http.database, (tx) => noteKeys(tx, keys.publicKeys));
  const since = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/u) as string;
  const [current = ''] = keys.publicKeys.map(shownPublicKey);
  expect(await asked()).toEqual({ keys: [{ key: current, current: true, since }] });
  const changed = new WebhookKeys(second, first);
  await within(http.database, (tx) => noteKeys(tx, changed.publicKeys));
  expect(await asked()).toEqual({
    keys: [
      { key: changed.publicKeys.map(shownPublicKey)[0], current: true, since },
      { key: current, current: false, since },
    ],
  });
});
