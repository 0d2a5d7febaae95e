import { setTimeout as delay } from 'node:timers/promises';

const askAgainMs = 200;
/** How long to repeat a request, in ms. A loaded machine takes minutes to start a process again. */
const askWithinMs = 600_000;

/** An answer of the service, with the number of attempts that it took. */
export interface Answered<Body> {
  readonly status: number;
  readonly body: Body;
}

/**
 * Sends requests to a service that may be down at any moment. A request for a new order is sent again with its key,
 * like clients do.
 */
export class Shop {
  readonly #origin: string;
  readonly #headers: Readonly<Record<string, string>>;

  /** @param apiKey `null` if requests have no key */
  constructor(origin: string, apiKey: string | null = null) {
    this.#origin = origin;
    this.#headers = {
      'content-type': 'application/json',
      ...(apiKey === null ? {} : { 'x-api-key': apiKey }),
    };
  }

  async ask<Body>(path: string, body: object | null, key: string | null = null): Promise<Answered<Body>> {
    let last: unknown = 'nothing';
    for (const until = Date.now() + askWithinMs; Date.now() < until; await delay(askAgainMs)) {
      try {
        const response = await fetch(new URL(path, this.#origin), {
          ...(body === null ? {} : { method: 'POST', body: JSON.stringify(body) }),
          headers: {
            ...this.#headers,
            ...(key === null ? {} : { 'idempotency-key': key }),
          },
          signal: AbortSignal.timeout(20_000),
        });
        const answer = (await response.json()) as Body;
        if (response.status < 500) return { status: response.status, body: answer };
        last = `${response.status} ${JSON.stringify(answer)}`;
      } catch (error) {
        last = error;
      }
    }
    throw new Error(`${path} is not answered: ${String(last)}`);
  }
}
