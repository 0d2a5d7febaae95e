import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/** Number of calls that are processed at a time: bitcoind's default before version 29. Other calls wait. */
const threads = 4;
/** How long a call about transactions takes, in ms. A busy disk takes as long to find a transaction. */
const slowMs = 300;
const slowMethods: ReadonlySet<string> = new Set(['gettxout', 'getrawtransaction', 'getblock']);
/** Error codes of Bitcoin Core (rpc/protocol.h). */
const [notFound, outOfRange, unknownMethod] = [-5, -8, -32_601];
const satsEach = 0.000_005_46;

interface Call {
  readonly id: unknown;
  readonly method: string;
  readonly params: readonly unknown[];
}

interface Header {
  readonly height: number;
  readonly hash: string;
}

class Refusal extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * A bitcoind that serves a folder of blocks. It is slow for calls that clients can choose, and quick for calls of the
 * indexer. It is hostile to walks, because any outpoint is unspent, and every transaction spends another transaction.
 */
export class SlowNode {
  readonly #dir: string;
  readonly #headers: readonly Header[];
  readonly #server: Server;
  #working = 0;
  readonly #waiting: (() => void)[] = [];

  private constructor(dir: string) {
    this.#dir = dir;
    const chain = JSON.parse(readFileSync(join(dir, 'chain.json'), 'utf8')) as {
      readonly headers: readonly Header[];
    };
    this.#headers = chain.headers;
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  /** Listens on a free port. */
  static async start(dir: string): Promise<SlowNode> {
    const node = new SlowNode(dir);
    node.#server.listen(0, '127.0.0.1');
    await once(node.#server, 'listening');
    return node;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = '';
    for await (const bytes of request) body += String(bytes);
    if (request.method !== 'POST') {
      response.writeHead(404).end();
      return;
    }
    const asked = JSON.parse(body) as Call | readonly Call[];
    const answers = Array.isArray(asked)
      ? await Promise.all(asked.map((call: Call) => this.#result(call)))
      : await this.#result(asked as Call);
    response.setHeader('content-type', 'application/json').end(JSON.stringify(answers));
  }

  async #result({ id, method, params }: Call): Promise<object> {
    try {
      const result = slowMethods.has(method)
        ? await this.#slowly(() => this.#call(method, params))
        : this.#call(method, params);
      return { id, result, error: null };
    } catch (error) {
      const { code, message } = error as Refusal;
      return { id, result: null, error: { code, message } };
    }
  }

  async #slowly(work: () => unknown): Promise<unknown> {
    if (this.#working === threads) await new Promise<void>((begin) => this.#waiting.push(begin));
    else this.#working++;
    try {
      await pause(slowMs);
      return work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#working--;
      else next();
    }
  }

  #call(method: string, params: readonly unknown[]): unknown {
    const tip = this.#headers.at(-1)!;
    switch (method) {
      case 'getblockchaininfo':
        return {
          chain: 'regtest',
          blocks: tip.height,
          headers: tip.height,
          bestblockhash: tip.hash,
          initialblockdownload: false,
          pruned: false,
        };
      case 'getnetworkinfo':
        return { version: 300_000, subversion: '/Satoshi:30.0.0/' };
      case 'getindexinfo':
        return {};
      case 'getblockcount':
        return tip.height;
      case 'getbestblockhash':
        return tip.hash;
      case 'getrawmempool':
        return { txids: [], mempool_sequence: 1 };
      case 'getblockhash':
        return this.#at(Number(params[0])).hash;
      case 'getblockheader':
        return this.#header(String(params[0]), params[1] !== false);
      case 'getblock':
        return this.#block(String(params[0]), Number(params[1]));
      case 'gettxout':
        return {
          bestblock: tip.hash,
          confirmations: 10,
          value: satsEach,
          scriptPubKey: { hex: `0014${'00'.repeat(20)}` },
        };
      case 'getrawtransaction':
        return this.#transaction(String(params[0]), Number(params[1]));
      default:
        throw new Refusal(unknownMethod, 'Method not found');
    }
  }

  #at(height: number): Header {
    const header = this.#headers[height];
    if (header === undefined) throw new Refusal(outOfRange, 'Block height out of range');
    return header;
  }

  #header(hash: string, isVerbose: boolean): unknown {
    const { height } = this.#named(hash);
    if (!isVerbose) return this.#bytes(hash).subarray(0, 80).toString('hex');
    return { hash, height, confirmations: this.#headers.length - height };
  }

  #block(hash: string, verbosity: number): unknown {
    const bytes = this.#bytes(hash);
    if (verbosity === 0) return bytes.toString('hex');
    throw new Refusal(notFound, 'Block not found');
  }

  /** A transaction for one step of a walk. The walk never ends. */
  #transaction(txid: string, verbosity: number): unknown {
    if (verbosity !== 2) throw new Refusal(notFound, 'No such mempool or blockchain transaction');
    const before = createHash('sha256').update(txid).digest('hex');
    return {
      in_active_chain: true,
      vin: [{ txid: before, vout: 0, prevout: { height: 1, value: satsEach } }],
      vout: [{ value: satsEach, scriptPubKey: { hex: '51' } }],
    };
  }

  #named(hash: string): Header {
    const header = this.#headers.find((one) => one.hash === hash);
    if (header === undefined) throw new Refusal(notFound, 'Block not found');
    return header;
  }

  #bytes(hash: string): Buffer {
    const { height } = this.#named(hash);
    return readFileSync(join(this.#dir, 'blocks', `${String(height).padStart(7, '0')}-${hash}.bin`));
  }
}
