import { readFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import { expect, test } from 'vitest';
import { shownPublicKey, WebhookKeys } from '#webhooks/webhook-keys.ts';

type IsGenuine = (headers: Record<string, string>, body: Buffer, keys: string[]) => boolean;

/** The example of docs/webhooks.md, copied like a receiver copies it. */
async function readExample(): Promise<IsGenuine> {
  const text = await readFile('docs/webhooks.md', 'utf8');
  const [, example = ''] = /```ts\n(?<code>[^]*?)```/u.exec(text) ?? [];
  const code = `${stripTypeScriptTypes(example)}\nexport { isGenuine };`;
  const made = (await import(`data:text/javascript,${encodeURIComponent(code)}`)) as { isGenuine: IsGenuine };
  return made.isGenuine;
}

test('the example of the documentation tells genuine messages from others', async () => {
  const isGenuine = await readExample();
  const [keys, others] = [1, 2].map((fill) => new WebhookKeys(Buffer.alloc(32, fill))) as [
    WebhookKeys,
    WebhookKeys,
  ];
  const id = 'msg_1';
  const body = Buffer.from('{"id":"ü","state":"prep"}');
  const timestamp = Math.floor(Date.now() / 1000);
  const headersAt = (time: number, signer = keys): Record<string, string> => ({
    'webhook-id': id,
    'webhook-timestamp': String(time),
    'webhook-signature': signer.signatures({ id, timestamp: time, body }, 'order 1'),
  });
  const known = keys.publicKeys.map(shownPublicKey);
  const headers = headersAt(timestamp);
  expect(isGenuine(headers, body, known)).toBe(true);
  expect(isGenuine(headers, body, [...others.publicKeys.map(shownPublicKey), ...known])).toBe(true);
  expect(isGenuine(headers, body, others.publicKeys.map(shownPublicKey))).toBe(false);
  expect(isGenuine(headersAt(timestamp, others), body, known)).toBe(false);
  expect(isGenuine(headers, Buffer.from('{}'), known)).toBe(false);
  expect(isGenuine({ ...headers, 'webhook-id': 'msg_2' }, body, known)).toBe(false);
  expect(isGenuine({ ...headers, 'webhook-timestamp': String(timestamp - 1) }, body, known)).toBe(false);
  expect(isGenuine(headersAt(timestamp - 3600), body, known)).toBe(false);
  expect(isGenuine({ ...headers, 'webhook-timestamp': 'now' }, body, known)).toBe(false);
  expect(isGenuine({ 'webhook-timestamp': String(timestamp) }, body, known)).toBe(false);
});
