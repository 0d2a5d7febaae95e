import type { Socket } from 'node:net';
import type { Random } from '#test/builders/random.ts';
import type { Targets } from './chain/hurtful-chain.ts';

/** An attack of some seconds. It is documentation of a threat, and a program. */
export interface Scenario {
  readonly name: string;
  /** One line that describes the attack for people. */
  readonly what: string;
  /** Whether the attacker has the IP address of the good client, like clients of one proxy. */
  readonly sharesAddress?: true;
  /** Whether the service follows a node that answers slowly, instead of a folder of blocks. */
  readonly hasNode?: true;
  /** Whether the attack begins when the service starts, before the service has loaded everything. */
  readonly isAtStart?: true;
  readonly run: (attack: Attack) => Promise<void>;
}

export interface ExchangeOptions {
  /** The time after which the connection is reset, in ms. */
  readonly abortAfterMs?: number;
  /** Whether arriving bytes are read. Default: true. */
  readonly reads?: boolean;
  /** Another IP address than the attacker's usual address, for an attacker with several addresses. */
  readonly from?: string;
}

/** The methods of an attacker. Requests are bytes, because HTTP clients are too polite. */
export interface Attack {
  readonly targets: Targets;
  readonly random: Random;
  /** Whether the time of the attack has ended. */
  readonly isOver: boolean;

  /** Opens a connection, and counts its answers. The connection may break at any time. */
  connect(from?: string): Socket;

  /** Sends one request on its own connection. Settles when the connection is closed. */
  exchange(request: Uint8Array, options?: ExchangeOptions): Promise<void>;

  /** Runs a number of loops at the same time, until the attack's time has ended. */
  loops(count: number, turn: () => Promise<void>): Promise<void>;

  /**
   * Keeps a number of connections open until the attack's time has ended. Each connection sends the same request, or
   * nothing if `request` is null. If a connection is closed, another connection is opened.
   */
  hold(count: number, request: Uint8Array | null, options?: ExchangeOptions): Promise<void>;

  pause(milliseconds: number): Promise<void>;
}

type Headers = Readonly<Record<string, string>>;

/** Headers of an ordinary request. A program that claims to be our own page may search without a key. */
const ordinaryHeaders: Headers = { host: 'service.example', 'sec-fetch-site': 'same-origin' };

const headOf = (method: string, path: string, headers: Headers): string => {
  const lines = Object.entries({ ...ordinaryHeaders, ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`;
};

/** A request without a body. Its connection is closed after the answer. */
export function get(path: string, headers: Headers = {}, method = 'GET'): Uint8Array {
  return Buffer.from(headOf(method, path, { connection: 'close', ...headers }));
}

/** A request with a JSON body. `length` is the body length that the head claims. */
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

/** A random item of a list. */
export function pick<Value>({ random }: Pick<Attack, 'random'>, values: readonly Value[]): Value {
  return values[random.below(values.length)] as Value;
}
