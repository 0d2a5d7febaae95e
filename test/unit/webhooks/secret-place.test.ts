import { describe, expect, test } from 'vitest';
import { filledBody, secretPlace } from '#webhooks/secret-place.ts';
import { WebhookKeys } from '#webhooks/webhook-keys.ts';

const old = new WebhookKeys(Buffer.alloc(32, 1));
const changed = new WebhookKeys(Buffer.alloc(32, 2), Buffer.alloc(32, 1));
const nameOf = (keys: WebhookKeys): string =>
  `${Buffer.from(keys.publicKeys[0]!).toString('hex')}:token order 1`;

describe('the secret of a message', () => {
  const body = { id: '1', description: JSON.stringify(secretPlace), ...secretPlace };
  const stored = Buffer.from(JSON.stringify(body));

  test('is filled in at its place, and nowhere else', () => {
    const sent = JSON.parse(filledBody(stored, nameOf(old), old)!.toString()) as Record<string, string>;
    expect(sent).toEqual({ ...body, webhookSecretToken: old.lastingSecret(nameOf(old))!.toString('hex') });
    expect(filledBody(stored, null, old)).toBe(stored);
    const other = Buffer.from('{"id":"1"}');
    expect(filledBody(other, nameOf(old), old)).toBe(other);
  });

  test('stays the same after a change of the secret of the service, while the old one is known', () => {
    expect(filledBody(stored, nameOf(old), changed)).toEqual(filledBody(stored, nameOf(old), old));
    expect(filledBody(stored, nameOf(changed), old)).toBeNull();
    expect(changed.lastingSecret(nameOf(changed))).not.toEqual(changed.lastingSecret(nameOf(old)));
  });

  test('signs with the secret of its name alone', () => {
    const parts = { id: 'msg', timestamp: 1, body: stored };
    const symmetric = (keys: WebhookKeys): string[] =>
      keys
        .signatures(parts, nameOf(old))
        .split(' ')
        .filter((one) => one.startsWith('v1,'));
    expect(symmetric(changed)).toEqual(symmetric(old));
    expect(symmetric(old)).toHaveLength(1);
  });
});
