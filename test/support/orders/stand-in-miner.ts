import type { ServerResponse } from 'node:http';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import { httpMiner } from '#orders/mining/http-miner.ts';
import type { Miner } from '#orders/mining/miner.ts';
import { OutgoingHttp } from '#outgoing/outgoing-http.ts';
import { addressOf } from '#test/builders/regtest/regtest-transaction.ts';
import { type Received, type Receiver, startReceiver } from '#test/support/webhooks/receiver.ts';

/** How a miner answers: it follows the protocol, does not answer, or sends something else. */
export type MinerMood = 'accepts' | 'refuses' | 'silent' | 'broken';

/** A transaction as the node decodes it. Only the fields that a miner needs. */
interface Decoded {
  readonly txid: string;
  readonly weight: number;
  readonly vin: readonly { readonly txid: string; readonly vout: number }[];
}

/** A received offer. */
export interface SeenOffer {
  readonly version: number;
  readonly network: string;
  readonly commit: { readonly weight: number; readonly virtualSize: number; readonly fee: number };
  readonly reveal: { readonly weight: number; readonly virtualSize: number; readonly fee: number };
  readonly feeRate: number;
}

/** A received package, with its transactions decoded. */
export interface SeenPackage {
  readonly id: string;
  readonly hexes: readonly string[];
  readonly commit: Decoded;
  readonly reveal: Decoded;
  /** Whether the node has the commit, in its mempool or in a block. */
  readonly isCommitKnown: boolean;
}

/** Owner of the miner's coinbases. */
const owner = 950;

export const refusalOfMiner = 'too large for this pool';

/** The service's client for the miner at a URL. */
export const testMiner = (url: string): Miner =>
  httpMiner(new OutgoingHttp({ own: [url] }), url, async () => 'regtest');

/**
 * A miner that speaks the protocol of docs/miner.md over HTTP. It decodes packages with a node, and mines a package
 * when a test calls it. Blocks of regtest may contain transactions that its nodes do not relay.
 */
export class StandInMiner {
  offersMood: MinerMood = 'accepts';
  packagesMood: MinerMood = 'accepts';
  readonly offers: SeenOffer[] = [];
  readonly packages: SeenPackage[] = [];
  readonly #receiver: Receiver;
  readonly #silent = new Set<ServerResponse>();
  #rpc: NodeRpc | null = null;

  private constructor(receiver: Receiver) {
    this.#receiver = receiver;
  }

  static async start(): Promise<StandInMiner> {
    let made: StandInMiner | null = null;
    const receiver = await startReceiver((request, response) => made?.answer(request, response));
    made = new StandInMiner(receiver);
    return made;
  }

  /** The URL of the miner, with a secret in its path. */
  get url(): string {
    return `http://127.0.0.1:${this.#receiver.port}/secret-of-the-operator`;
  }

  /** Sets the node that decodes packages from now on. */
  decodeWith(rpc: NodeRpc): void {
    this.#rpc = rpc;
  }

  /** Accepts everything again, and forgets what the miner received. Open requests end without a response. */
  reset(): void {
    for (const response of this.#silent) response.destroy();
    this.#silent.clear();
    this.offersMood = 'accepts';
    this.packagesMood = 'accepts';
    this.offers.length = 0;
    this.packages.length = 0;
  }

  /**
   * Mines the newest package. `both` mines the commit and the reveal, `reveal` only the reveal, for a mined commit.
   * Returns the block's hash.
   */
  async mine(which: 'both' | 'reveal' = 'both'): Promise<string> {
    const found = this.packages.at(-1);
    if (found === undefined) throw new Error('no package came');
    return this.mineThese(which === 'both' ? found.hexes : found.hexes.slice(1));
  }

  /** Mines a block with only these transactions. */
  async mineThese(hexes: readonly string[]): Promise<string> {
    if (this.#rpc === null) throw new Error('the miner has no node');
    const { hash } = await this.#rpc.call<{ hash: string }>('generateblock', [addressOf(owner), hexes]);
    return hash;
  }

  async answer({ target, body }: Received, response: ServerResponse): Promise<void> {
    const isOffer = target === '/secret-of-the-operator/offer';
    const isPackage = target === '/secret-of-the-operator/package';
    const sent = JSON.parse(body.toString()) as SeenOffer & { id: string; transactions: string[] };
    if (isOffer) this.offers.push(sent);
    if (isPackage) this.packages.push(await this.#decode(sent));
    const mood = isOffer ? this.offersMood : this.packagesMood;
    if (!isOffer && !isPackage) response.writeHead(404).end();
    else if (mood === 'silent') this.#silent.add(response);
    else if (mood === 'broken') response.end('{"accepted":"yes"');
    else if (mood === 'refuses') response.end(JSON.stringify({ accepted: false, reason: refusalOfMiner }));
    else response.end(JSON.stringify({ accepted: true, ...(isPackage ? { id: sent.id } : {}) }));
  }

  async #decode({ id, transactions }: { id: string; transactions: string[] }): Promise<SeenPackage> {
    if (this.#rpc === null) throw new Error('the miner has no node');
    const [commit, reveal] = await Promise.all(
      transactions.map((hex) => this.#rpc!.call<Decoded>('decoderawtransaction', [hex])),
    );
    if (commit === undefined || reveal === undefined) throw new Error('a package has two transactions');
    const known = await this.#rpc
      .call('getmempoolentry', [commit.txid])
      .then(() => true)
      .catch(() => false);
    const out = await this.#rpc.call('gettxout', [commit.txid, 0]);
    return { id, hexes: transactions, commit, reveal, isCommitKnown: known || out !== null };
  }

  close(): Promise<void> {
    return this.#receiver.close();
  }
}
