import { createHmac, createPrivateKey, createPublicKey, hkdfSync, type KeyObject, sign } from 'node:crypto';

/**
 * The parts that a signature covers according to Standard Webhooks: id, time and body. If a part is replaced, the
 * signature is invalid.
 */
export interface SignedParts {
  readonly id: string;
  /** Seconds since 1970. */
  readonly timestamp: number;
  readonly body: Uint8Array;
}

const keyBytes = 32;
/** The first bytes of a PKCS #8 Ed25519 private key. The 32 key bytes follow them (RFC 8410, 7). */
const privateKeyHead = Buffer.from('302e020100300506032b657004220420', 'hex');

interface KeySet {
  readonly secret: Uint8Array;
  readonly privateKey: KeyObject;
  readonly publicKey: Uint8Array;
}

/**
 * The keys that are derived from the service's secret: an Ed25519 key, and a shared secret for each name. During a
 * change of the secret, the keys of both secrets sign each message, so that a receiver needs to know only one of them.
 */
export class WebhookKeys {
  readonly #sets: readonly KeySet[];

  /** @param old the previous secret, if receivers still know its keys; `null` if there is no previous secret */
  constructor(secret: Uint8Array, old: Uint8Array | null = null) {
    this.#sets = (old === null ? [secret] : [secret, old]).map(keySet);
  }

  /** The public keys, 32 bytes each, the current key first. */
  get publicKeys(): readonly Uint8Array[] {
    return this.#sets.map(({ publicKey }) => publicKey);
  }

  /**
   * A secret of 32 bytes that the service shares with one other party. The secret of a name stays the same until the
   * service's secret changes.
   */
  sharedSecret(name: string): Buffer {
    const [current] = this.#sets as [KeySet];
    return sharedSecret(current, name);
  }

  /**
   * The shared secret of a name. The name begins with the public key of a service secret, `<hex>:`. The shared secret
   * stays the same after a change of the service's secret, while the old service secret is known. Returns null if this
   * process does not know that service secret.
   */
  lastingSecret(name: string): Buffer | null {
    return this.#secretsOf(name)[0] ?? null;
  }

  /**
   * The shared secrets of a name, from the current service secret first. A name that begins with a public key has at
   * most one shared secret.
   */
  #secretsOf(name: string): Buffer[] {
    const [, publicKey] = lastingForm.exec(name) ?? [];
    return this.#sets
      .filter((set) => publicKey === undefined || hexOf(set.publicKey) === publicKey)
      .map((set) => sharedSecret(set, name));
  }

  /**
   * The value of the header `webhook-signature`.
   *
   * @param secretOf the name of the shared secret; `null` if there is no shared secret
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

/** The form of a name that begins with a public key. */
const lastingForm = /^([0-9a-f]{64}):/u;

const hexOf = (key: Uint8Array): string => Buffer.from(key).toString('hex');

/** A public key in the form of Standard Webhooks. */
export const shownPublicKey = (key: Uint8Array): string => `whpk_${Buffer.from(key).toString('base64')}`;

function keySet(secret: Uint8Array): KeySet {
  const seed = derive(secret, 'satscribe webhooks ed25519');
  const privateKey = createPrivateKey({
    key: Buffer.concat([privateKeyHead, seed]),
    format: 'der',
    type: 'pkcs8',
  });
  // the exported bytes end with the key
  const publicKey = createPublicKey(privateKey).export({ format: 'der', type: 'spki' }).subarray(-keyBytes);
  return { secret, privateKey, publicKey };
}

const sharedSecret = ({ secret }: KeySet, name: string): Buffer =>
  derive(secret, `satscribe webhooks shared secret ${name}`);

/** Derives a key for a purpose by HKDF (RFC 5869). No key reveals another key. */
const derive = (secret: Uint8Array, purpose: string): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, new Uint8Array(), purpose, keyBytes));
