import { LRUCache } from 'lru-cache';
import type { Rate } from './rate.ts';
import type { Decision } from './rate-limiter.ts';

/** Buckets that are remembered, at some 200 bytes each. The least recently used are forgotten first. */
const clientsMax = 10_000;
const prefixesMax = 20_000;

/** A bucket of tokens in the memory of this process. */
interface Bucket {
  readonly tokens: number;
  readonly at: number;
}

/**
 * Counts unknown keys of this process by their prefix and address, and all unknown keys of an address. Only unknown
 * keys are ever counted or refused. A client is not locked out because another client at its address tries keys, nor is
 * a key whose prefix another client tries. Kept in memory: an attacker makes up new prefixes, and each would be a row.
 */
export class UnknownKeys {
  readonly #rate: Rate | null;
  readonly #now: () => number;
  readonly #ofClients = new LRUCache<string, Bucket>({ max: clientsMax });
  /** Keyed by address and prefix. */
  readonly #ofPrefixes = new LRUCache<string, Bucket>({ max: prefixesMax });

  /**
   * @param rate of a prefix from an address, and of all of an address; null: no limit
   * @param now milliseconds of a monotonic clock
   */
  constructor(rate: Rate | null, now: () => number = () => performance.now()) {
    this.#rate = rate;
    this.#now = now;
  }

  /** Whether an address sent unknown keys in such numbers that its next ones are looked up later, many at once. */
  isFlood(client: string): boolean {
    const bucket = this.#ofClients.peek(client);
    return bucket !== undefined && this.#rate !== null && this.#tokensIn(bucket, this.#rate) < 1;
  }

  /** Counts an unknown key. Null where there is no limit. */
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
