import type { Socket } from 'node:net';
import type { Random } from '#test/builders/random.ts';
import type { Targets } from './chain/hurtful-chain.ts';

/** An attack of some seconds, as documentation of the threat and as a program. */
export interface Scenario {
  readonly name: string;
  /** In one line, for people. */
  readonly what: string;
  /** The attacker has the address of the good client, as clients of one proxy do. */
  readonly sharesAddress?: true;
  /** The service follows a node that answers slowly, in place of a folder of blocks. */
  readonly hasNode?: true;
  /** The attack begins with the service, before anything that is loaded late is loaded. */
  readonly isAtStart?: true;
  readonly run: (attack: Attack) => Promise<void>;
}

export interface ExchangeOptions {
  /** The connection is reset after this time. */
  readonly abortAfterMs?: number;
  /** Nothing that arrives is read: false. Default: true. */
  readonly reads?: boolean;
  /** Another address than the attacker's: of an attacker with several. */
  readonly from?: string;
}

/** An attacker's means. Requests are bytes: HTTP clients are too polite. */
export interface Attack {
  readonly targets: Targets;
  readonly random: Random;
  /** The time is over. */
  readonly isOver: boolean;

  /** A connection whose answers are counted. It may break at any time. */
  connect(from?: string): Socket;

  /** One request on a connection of its own. Settles when the connection is closed. */
  exchange(request: Uint8Array, options?: ExchangeOptions): Promise<void>;

  /** Runs a number of loops side by side, until the time is over. */
  loops(count: number, turn: () => Promise<void>): Promise<void>;

  /**
   * Keeps a number of connections open until the time is over, each with the same request (null: no request), and opens
   * another one for each that is closed.
   */
  hold(count: number, request: Uint8Array | null, options?: ExchangeOptions): Promise<void>;

  pause(milliseconds: number): Promise<void>;
}

type Headers = Readonly<Record<string, string>>;

/** A program that claims to be our own page may search without a key. */
const ordinaryHeaders: Headers = { host: 'service.example', 'sec-fetch-site': 'same-origin' };

const headOf = (method: string, path: string, headers: Headers): string => {
  const lines = Object.entries({ ...ordinaryHeaders, ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`;
};

/** A request without a body, after whose answer the connection is closed. */
export function get(path: string, headers: Headers = {}, method = 'GET'): Uint8Array {
  return Buffer.from(headOf(method, path, { connection: 'close', ...headers }));
}

/** A request with a JSON body. `length`: what its head claims. */
export function post(
  path: string,
  body: string | Uint8Array,
  headers: Headers = {},
  length?: number,
): Uint8Array {
  const bytes = Buffer.from(body);
  const head = headOf('POST', path, {
    connection: 'close',
    'content-type': 'application/json',
    accept: 'application/json',
    'content-length': String(length ?? bytes.length),
    ...headers,
  });
  return Buffer.concat([Buffer.from(head), bytes]);
}

export const json: Headers = { accept: 'application/json' };

/** One of a list. */
export function pick<Value>({ random }: Pick<Attack, 'random'>, values: readonly Value[]): Value {
  return values[random.below(values.length)] as Value;
}
