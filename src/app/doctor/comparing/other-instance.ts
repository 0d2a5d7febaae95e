import { setTimeout as delay } from 'node:timers/promises';
import { AppError } from '#kernel/errors/app-error.ts';
import type { EventKindIdentity } from '#kernel/events/event-kind.ts';
import { boundedText } from '../bounded-text.ts';

/** The hashes of a block's events in hex, from another instance. */
export interface OtherHashes {
  readonly height: number;
  readonly blockHash: string;
  readonly sha256: string;
  readonly cumulative: string;
}

/** How long a response may take, in ms. Most responses take some milliseconds; the text of a block can take seconds. */
const answerMs = 30_000;
/** Maximum size of a response, in bytes. The text of a block with 150,000 events has 32 MB. */
const answerBytesMax = 64 * 1024 * 1024;
/** Maximum number of attempts. An instance that is busy or limits its clients is queried again. */
const tries = 4;
const busyStatuses = new Set([429, 503]);

const hashPattern = /^[0-9a-f]{64}$/u;

/** Another instance, which is read through its public API (docs/events.md). Throws `instance_unusable`. */
export class OtherInstance {
  readonly #address: URL;
  readonly #signal: AbortSignal;

  constructor(address: URL, signal: AbortSignal) {
    this.#address = address;
    this.#signal = signal;
  }

  /**
   * Returns the hashes of the block at a height. If the height is `null`, the hashes of the newest block that has
   * hashes. Returns `null` if there are no hashes.
   */
  async hashes(kind: EventKindIdentity, height: number | null): Promise<OtherHashes | null> {
    const place = height === null ? 'limit=1' : `from=${height}&limit=1`;
    const text = await this.#get(`events/hashes?kind=${kind.name}&${place}`);
    const answer = parsed(text) as { version?: unknown; kind?: unknown; hashes?: unknown } | null;
    if (answer?.kind !== kind.name || !Array.isArray(answer.hashes))
      throw this.#unusable('its answer about hashes is not in the form of this version');
    if (answer.version !== kind.version)
      throw this.#unusable(
        `its texts of ${kind.name} have version ${String(answer.version)}, but version ${kind.version} is needed`,
      );
    const [first] = answer.hashes as unknown[];
    if (first === undefined) return null;
    if (!isHashes(first)) throw this.#unusable('its answer about hashes is not in the form of this version');
    return height === null || first.height === height ? first : null;
  }

  /** Returns the canonical text of a block's events, or `null` if the instance does not provide it. */
  async text(kind: EventKindIdentity, height: number): Promise<string | null> {
    try {
      return await this.#get(`events/text/${height}?kind=${kind.name}`);
    } catch (error) {
      this.#signal.throwIfAborted();
      if (error instanceof AppError) return null;
      throw error;
    }
  }

  async #get(path: string): Promise<string> {
    for (let attempt = 1; ; attempt++) {
      const { status, text } = await this.#ask(path);
      if (status === 200) return text;
      if (!busyStatuses.has(status) || attempt === tries)
        throw this.#unusable(`it answers /${path} with status ${status}`);
      await delay(attempt * 1000, undefined, { signal: this.#signal });
    }
  }

  async #ask(path: string): Promise<{ status: number; text: string }> {
    const signal = AbortSignal.any([this.#signal, AbortSignal.timeout(answerMs)]);
    try {
      const answer = await fetch(new URL(path, this.#address), { signal });
      return { status: answer.status, text: await boundedText(answer, answerBytesMax) };
    } catch (error) {
      this.#signal.throwIfAborted();
      throw this.#unusable(whyFailed(error as Error), error);
    }
  }

  #unusable(why: string, cause?: unknown): AppError {
    const { origin, pathname } = this.#address;
    return new AppError('instance_unusable', `${origin}${pathname}: ${why}`, {}, cause);
  }
}

/**
 * Returns the reason why a `fetch` failed: a refused connection, an unknown host or a wrong certificate. Only the cause
 * of the error has this reason.
 */
function whyFailed({ message, cause }: Error): string {
  return cause instanceof Error && cause.message !== '' ? `${message}: ${cause.message}` : message;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function isHashes(value: unknown): value is OtherHashes {
  if (typeof value !== 'object' || value === null) return false;
  const { height, blockHash, sha256, cumulative } = value as Record<string, unknown>;
  const isHash = (text: unknown): boolean => typeof text === 'string' && hashPattern.test(text);
  return Number.isSafeInteger(height) && isHash(blockHash) && isHash(sha256) && isHash(cumulative);
}
