import { spawnSync } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { type Bitcoind, startBitcoind } from '#test/support/node/bitcoind.ts';
import { findBitcoind, isKnots, knotsForTests } from '#test/support/node/find-bitcoind.ts';

/** A regtest node with a wallet. ord's wallet talks to `walletUrl`, everything else to the node itself. */
export interface WalletNode {
  readonly version: string;
  readonly node: Bitcoind;
  readonly walletUrl: string;
  /** Mines blocks with all transactions that were sent. The reward goes to an address outside of all wallets. */
  mine(count?: number): Promise<void>;
  /** The transactions that the next block will have. */
  pending(): Promise<readonly string[]>;
  remove(): Promise<void>;
}

/** The address of all outputs of this chain that no wallet owns. */
const nowhere = 'bcrt1q6rhpng9evdsfnn833a4f4vej0asu6dk5srld6x';

const hasWallet = (executable: string): boolean =>
  spawnSync(executable, ['-help']).stdout.toString().includes('-wallet=<path>');

/** Finds Bitcoin Core if it has a wallet (the release has one, our own build has not), else Bitcoin Knots. */
function executableWithWallet(): string {
  const found = findBitcoind();
  if (found !== null && hasWallet(found)) return found;
  const knots = knotsForTests();
  if (knots !== null && hasWallet(knots)) return knots;
  throw new Error(
    'no bitcoind with a wallet: name one with BITCOIND, or run scripts/install-bitcoind.sh (the release) or scripts/install-knots.sh',
  );
}

export async function startWalletNode(): Promise<WalletNode> {
  const executable = executableWithWallet();
  const node = await startBitcoind({ executable, extra: ['-fallbackfee=0.0001'] });
  const [version = ''] = spawnSync(executable, ['--version']).stdout.toString().split('\n');
  // Knots relays no reveals, so these are mined without its mempool
  return isKnots(executable) ? new RelayingNode(version, node).listen() : new PlainNode(version, node);
}

class PlainNode implements WalletNode {
  readonly version: string;
  readonly node: Bitcoind;

  constructor(version: string, node: Bitcoind) {
    this.version = version;
    this.node = node;
  }

  get walletUrl(): string {
    return this.node.rpcUrl;
  }

  async mine(count = 1): Promise<void> {
    await this.node.rpc.call('generatetoaddress', [count, nowhere]);
  }

  async pending(): Promise<readonly string[]> {
    return this.node.rpc.call<string[]>('getrawmempool');
  }

  async remove(): Promise<void> {
    await this.node.remove();
  }
}

interface RpcRequest {
  readonly id: unknown;
  readonly method: string;
  readonly params?: readonly unknown[];
}

/** Accepts transactions that the node's mempool refuses only for their script, like a miner who gets them directly. */
class RelayingNode extends PlainNode {
  readonly #held = new Map<string, string>();
  readonly #server = createServer((incoming, answer) => {
    const { url = '/', headers } = incoming;
    void text(incoming)
      .then(async (body) => this.#answer(url, headers.authorization ?? '', body))
      .then(
        ({ status, body }) => {
          // ord's client does not accept chunked responses
          const length = String(Buffer.byteLength(body));
          answer
            .writeHead(status, { 'content-type': 'application/json', 'content-length': length })
            .end(body);
        },
        () => answer.destroy(),
      );
  });

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  override get walletUrl(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  override async mine(count = 1): Promise<void> {
    const { rpc } = this.node;
    const pool = await rpc.call<Record<string, { ancestorcount: number }>>('getrawmempool', [true]);
    // parents first, because the refused transactions spend their outputs
    const txids = Object.entries(pool).toSorted(([, a], [, b]) => a.ancestorcount - b.ancestorcount);
    await rpc.call('generateblock', [nowhere, [...txids.map(([txid]) => txid), ...this.#held.values()]]);
    this.#held.clear();
    if (count > 1) await super.mine(count - 1);
  }

  override async pending(): Promise<readonly string[]> {
    return [...(await super.pending()), ...this.#held.keys()];
  }

  override async remove(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
    await super.remove();
  }

  async #answer(
    path: string,
    authorization: string,
    body: string,
  ): Promise<{ status: number; body: string }> {
    const answer = await fetch(new URL(path, this.node.rpcUrl), {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body,
    });
    const { status } = answer;
    const said = await answer.text();
    const { id, method, params = [] } = JSON.parse(body) as RpcRequest;
    if (method === 'signrawtransactionwithwallet') return { status, body: withoutPolicy(said) };
    if (method !== 'sendrawtransaction' || !isRefusedForItsScript(said)) return { status, body: said };
    const raw = String(params[0]);
    const { txid } = await this.node.rpc.call<{ txid: string }>('decoderawtransaction', [raw]);
    this.#held.set(txid, raw);
    return { status: 200, body: JSON.stringify({ result: txid, error: null, id }) };
  }
}

interface Signed {
  readonly result: {
    readonly hex: string;
    readonly complete: boolean;
    readonly errors?: readonly { readonly error: string }[];
  } | null;
}

/**
 * Completes a signing response. The node's wallet applies its mempool policy to inputs that others signed, so it
 * reports an input with an envelope as not signed.
 */
function withoutPolicy(said: string): string {
  const answer = JSON.parse(said) as Signed;
  const { result } = answer;
  const isOfPolicy = result?.errors?.every(({ error }) => /tapscript/u.test(error)) ?? false;
  return isOfPolicy ? JSON.stringify({ ...answer, result: { hex: result?.hex, complete: true } }) : said;
}

/** Also true if the transaction spends an output of a refused one, because the mempool does not know that output. */
const isRefusedForItsScript = (said: string): boolean =>
  /mempool-script-verify-flag-failed|bad-txns-inputs-missingorspent/u.test(said);
