import { createHmac, createPublicKey, randomBytes, verify } from 'node:crypto';
import { expect, test } from 'vitest';
import { shownPublicKey, WebhookKeys } from '#webhooks/webhook-keys.ts';

const parts = { id: 'msg_1', timestamp: 1_700_000_000, body: Buffer.from('{"id":"ü"}') };
const content = Buffer.from('msg_1.1700000000.{"id":"ü"}');
const signaturesOf = (header: string, version: string): Buffer[] =>
  header
    .split(' ')
    .filter((signature) => signature.startsWith(`${version},`))
    .map((signature) => Buffer.from(signature.slice(version.length + 1), 'base64'));

/** Checks a signature like a receiver that knows only the public key that is shown. */
function isSignedBy(shown: string, signature: Uint8Array | undefined, signed: Uint8Array): boolean {
  const x = Buffer.from(shown.slice('whpk_'.length), 'base64').toString('base64url');
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  return verify(null, signed, key, signature ?? new Uint8Array());
}

test('a message is signed with the public key, and without a secret with nothing else', () => {
  const keys = new WebhookKeys(randomBytes(32));
  const header = keys.signatures(parts, null);
  expect(header).toMatch(/^v1a,\S+$/u);
  const [shown = ''] = keys.publicKeys.map(shownPublicKey);
  expect(shown).toMatch(/^whpk_[A-Za-z0-9+/]{43}=$/u);
  const [signature] = signaturesOf(header, 'v1a');
  expect(isSignedBy(shown, signature, content)).toBe(true);
  for (const other of ['msg_2.1700000000.{"id":"ü"}', 'msg_1.1700000001.{"id":"ü"}', 'msg_1.1700000000.{}'])
    expect(isSignedBy(shown, signature, Buffer.from(other))).toBe(false);
});

test('with a shared secret it is signed with that too', () => {
  const keys = new WebhookKeys(randomBytes(32));
  const header = keys.signatures(parts, 'order 1');
  const secret = keys.sharedSecret('order 1');
  expect(secret).toHaveLength(32);
  expect(signaturesOf(header, 'v1')).toEqual([createHmac('sha256', secret).update(content).digest()]);
  expect(signaturesOf(header, 'v1a')).toHaveLength(1);
});

test('the keys come from the secret alone, another one for each name', () => {
  const secret = Buffer.alloc(32, 7);
  const [one, same, other] = [
    new WebhookKeys(secret),
    new WebhookKeys(secret),
    new WebhookKeys(Buffer.alloc(32, 8)),
  ];
  expect(same.publicKeys).toEqual(one.publicKeys);
  expect(same.sharedSecret('order 1')).toEqual(one.sharedSecret('order 1'));
  // Made with @noble/curves and @noble/hashes. Receivers store these keys, so another derivation would change the keys
  // of all of them.
  expect(one.publicKeys.map(shownPublicKey)).toEqual(['whpk_sN6h05d4MVkwFc3Tm10kVVamqhrMfJPc8esi7uLV1tQ=']);
  expect(one.sharedSecret('order 1').toString('hex')).toBe(
    '39cb4311cd6273b2da3627ba04650cc583cbf271462ab7997c07901badc82b76',
  );
  expect(other.publicKeys).not.toEqual(one.publicKeys);
  expect(one.sharedSecret('order 2')).not.toEqual(one.sharedSecret('order 1'));
});

test('during a change a receiver may know the keys of either secret', () => {
  const [secret, old] = [randomBytes(32), randomBytes(32)];
  const keys = new WebhookKeys(secret, old);
  const before = new WebhookKeys(old);
  const header = keys.signatures(parts, 'order 1');
  const shown = keys.publicKeys.map(shownPublicKey);
  expect(shown[1]).toBe(before.publicKeys.map(shownPublicKey)[0]);
  const signatures = signaturesOf(header, 'v1a');
  expect(shown.map((key, at) => isSignedBy(key, signatures[at], content))).toEqual([true, true]);
  const mac = createHmac('sha256', before.sharedSecret('order 1')).update(content).digest();
  expect(signaturesOf(header, 'v1')).toContainEqual(mac);
});
