import { LRUCache } from 'lru-cache';
import type { Rate } from './rate.ts';
import type { Decision } from './rate-limiter.ts';

/**
 * Maximum numbers of remembered buckets, at some 200 bytes each. The least recently used buckets are forgotten first.
 */
const clientsMax = 10_000;
const prefixesMax = 20_000;

/** A token bucket in the memory of this process. */
interface Bucket {
  readonly tokens: number;
  readonly at: number;
}

/**
 * Counts the unknown keys that this process receives: by prefix and IP address, and all unknown keys of an address.
 * Only unknown keys are counted or refused. A client therefore stays allowed while another client at its address tries
 * keys, and a key stays allowed while another client tries keys with the same prefix. The counts are in memory, because
 * an attacker can make up new prefixes, and each prefix would be a row in the database.
 */
export class UnknownKeys {
  readonly #rate: Rate | null;
  readonly #now: () => number;
  readonly #ofClients = new LRUCache<string, Bucket>({ max: clientsMax });
  /** Keyed by address and prefix. */
  readonly #ofPrefixes = new LRUCache<string, Bucket>({ max: prefixesMax });

  /**
   * @param rate limit of a prefix from one address, and of all unknown keys of an address; `null` if there is no limit
   * @param now milliseconds of a monotonic clock
   */
  constructor(rate: Rate | null, now: () => number = () => performance.now()) {
    this.#rate = rate;
    this.#now = now;
  }

  /**
   * Whether an address sent so many unknown keys that its next keys must wait, so that one look-up serves many of them.
   */
  isFlood(client: string): boolean {
    const bucket = this.#ofClients.peek(client);
    return bucket !== undefined && this.#rate !== null && this.#tokensIn(bucket, this.#rate) < 1;
  }

  /** Counts an unknown key. Returns `null` if there is no limit. */
  count(client: string, prefix: string): Decision | null {
    const rate = this.#rate;
    if (rate === null) return null;
    this.#take(this.#ofClients, client, rate);
    const { isAllowed, tokens } = this.#take(this.#ofPrefixes, `${client} ${prefix}`, rate);
    const msPerToken = (rate.perSeconds * 1000) / rate.burst;
    return {
      isAllowed,
      rate,
      remaining: Math.floor(tokens),
      resetMs: (rate.burst - tokens) * msPerToken,
      retryAfterMs: isAllowed ? 0 : (1 - tokens) * msPerToken,
    };
  }

  /** Takes a token, and returns the number of tokens left. */
  #take(
    buckets: LRUCache<string, Bucket>,
    name: string,
    rate: Rate,
  ): { readonly isAllowed: boolean; readonly tokens: number } {
    const bucket = buckets.get(name);
    const before = bucket === undefined ? rate.burst : this.#tokensIn(bucket, rate);
    const isAllowed = before >= 1;
    const tokens = isAllowed ? before - 1 : before;
    buckets.set(name, { tokens, at: this.#now() });
    return { isAllowed, tokens };
  }

  #tokensIn({ tokens, at }: Bucket, { burst, perSeconds }: Rate): number {
    return Math.min(burst, tokens + ((this.#now() - at) * burst) / (perSeconds * 1000));
  }
}
