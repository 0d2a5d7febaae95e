import { createHmac, createPrivateKey, createPublicKey, hkdfSync, type KeyObject, sign } from 'node:crypto';

/** Parts that a signature covers (Standard Webhooks: id, time and body, so that none of them can be exchanged). */
export interface SignedParts {
  readonly id: string;
  /** Seconds since 1970. */
  readonly timestamp: number;
  readonly body: Uint8Array;
}

const keyBytes = 32;
/** An Ed25519 private key of PKCS #8 (RFC 8410, 7) up to its 32 bytes. */
const privateKeyHead = Buffer.from('302e020100300506032b657004220420', 'hex');

interface KeySet {
  readonly secret: Uint8Array;
  readonly privateKey: KeyObject;
  readonly publicKey: Uint8Array;
}

/**
 * The keys of the service's secret: one of Ed25519, and a shared secret for each name. During a change of the secret
 * everything is signed with the keys of both, so that a receiver may know either.
 */
export class WebhookKeys {
  readonly #sets: readonly KeySet[];

  /** @param old the previous secret, while receivers still know its keys; null: no previous secret */
  constructor(secret: Uint8Array, old: Uint8Array | null = null) {
    this.#sets = (old === null ? [secret] : [secret, old]).map(keySet);
  }

  /** 32 bytes each, the current one first. */
  get publicKeys(): readonly Uint8Array[] {
    return this.#sets.map(({ publicKey }) => publicKey);
  }

  /** 32 bytes that the service and one other know; the same for a name as long as the service's secret is. */
  sharedSecret(name: string): Buffer {
    const [current] = this.#sets as [KeySet];
    return sharedSecret(current, name);
  }

  /**
   * The same of a name that begins with the public key of the service's secret, `<hex>:`. It stays the same after a
   * change, while the old secret is known; null: this process does not know it.
   */
  lastingSecret(name: string): Buffer | null {
    return this.#secretsOf(name)[0] ?? null;
  }

  /**
   * The secrets of a name, that of the current set first. Of one that begins with a public key there is one at most.
   */
  #secretsOf(name: string): Buffer[] {
    const [, publicKey] = lastingForm.exec(name) ?? [];
    return this.#sets
      .filter((set) => publicKey === undefined || hexOf(set.publicKey) === publicKey)
      .map((set) => sharedSecret(set, name));
  }

  /**
   * The header `webhook-signature`.
   *
   * @param secretOf the name of the shared secret; null: no shared secret
   */
  signatures(parts: SignedParts, secretOf: string | null): string {
    const signed = Buffer.concat([Buffer.from(`${parts.id}.${parts.timestamp}.`), parts.body]);
    const asymmetric = this.#sets.map(
      ({ privateKey }) => `v1a,${sign(null, signed, privateKey).toString('base64')}`,
    );
    const symmetric =
      secretOf === null
        ? []
        : this.#secretsOf(secretOf).map((secret) => {
            const mac = createHmac('sha256', secret).update(signed);
            return `v1,${mac.digest('base64')}`;
          });
    return [...asymmetric, ...symmetric].join(' ');
  }
}

/** A name that begins with a public key. */
const lastingForm = /^([0-9a-f]{64}):/u;

const hexOf = (key: Uint8Array): string => Buffer.from(key).toString('hex');

/** A public key as Standard Webhooks writes it. */
export const shownPublicKey = (key: Uint8Array): string => `whpk_${Buffer.from(key).toString('base64')}`;

function keySet(secret: Uint8Array): KeySet {
  const seed = derive(secret, 'satscribe webhooks ed25519');
  const privateKey = createPrivateKey({
    key: Buffer.concat([privateKeyHead, seed]),
    format: 'der',
    type: 'pkcs8',
  });
  // the key is at the end of its envelope
  const publicKey = createPublicKey(privateKey).export({ format: 'der', type: 'spki' }).subarray(-keyBytes);
  return { secret, privateKey, publicKey };
}

const sharedSecret = ({ secret }: KeySet, name: string): Buffer =>
  derive(secret, `satscribe webhooks shared secret ${name}`);

/** HKDF (RFC 5869): a key for each purpose; no key reveals another one. */
const derive = (secret: Uint8Array, purpose: string): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, new Uint8Array(), purpose, keyBytes));
