import { setTimeout as delay } from 'node:timers/promises';
import { displayHash } from '#kernel/primitives/hash.ts';
import { ByteWriter } from '#test/builders/byte-writer.ts';
import { writeTransaction } from '#test/builders/transaction.ts';
import type { ValidBlock } from '#test/builders/valid-blocks.ts';
import {
  type ChainState,
  coinKey,
  type ModelBlock,
  type SentTransaction,
} from '#test/chaos/chain/chain-state.ts';
import type { RandomBlocks } from '#test/chaos/chain/random-blocks.ts';
import { type Bitcoind, startBitcoind } from '#test/support/node/bitcoind.ts';
import { submitBlock } from '#test/support/node/regtest-feed.ts';
import { TcpProxy } from './tcp-proxy.ts';

const noBytes = new Uint8Array(0);
const sentKept = 12;

/** The node, and the chain that it must follow. */
export class ChaosNode {
  readonly node: Bitcoind;
  readonly rpcProxy: TcpProxy;
  readonly zmqProxy: TcpProxy;
  /** The best chain from height 1 on. */
  chain: ModelBlock[] = [];
  /** Number of all mined blocks, including blocks of lost branches. */
  made = 0;
  reorgs = 0;
  deepestReorg = 0;
  readonly #blocks: RandomBlocks;
  /** A branch that was taken back and is longer than the current best one. */
  #longer: { readonly first: string; readonly chain: readonly ModelBlock[] } | null = null;
  #sent: SentTransaction[] = [];
  /** Number of blocks of the longest chain so far. */
  #longest = 0;

  private constructor(node: Bitcoind, rpcProxy: TcpProxy, zmqProxy: TcpProxy, blocks: RandomBlocks) {
    this.node = node;
    this.rpcProxy = rpcProxy;
    this.zmqProxy = zmqProxy;
    this.#blocks = blocks;
  }

  static async start(bitcoind: string, dataDir: string, blocks: RandomBlocks): Promise<ChaosNode> {
    const node = await startBitcoind({ executable: bitcoind, dataDir });
    const [rpc, zmq] = [await TcpProxy.listen(node.rpcPort), await TcpProxy.listen(node.zmqPort)];
    const chaos = new ChaosNode(node, rpc, zmq, blocks);
    for (const block of blocks.base()) await chaos.#append(block);
    return chaos;
  }

  get tip(): ChainState {
    return (this.chain.at(-1) as ModelBlock).after;
  }

  /** Mines blocks on the tip, and sometimes sends a transaction to the mempool. */
  async extend(count: number): Promise<void> {
    for (let index = 0; index < count; index++) {
      await this.#append(this.#blocks.next(this.tip, this.#sent));
      if (this.#blocks.random.unit() < 0.3) await this.send();
    }
  }

  /** Mines another branch that overtakes the last `depth` blocks. */
  async race(depth: number, ahead: number): Promise<void> {
    const branch = this.chain.slice(0, this.chain.length - depth);
    const first = branch.length;
    while (branch.length < this.chain.length + ahead) {
      const block = this.#blocks.next((branch.at(-1) as ModelBlock).after, this.#sent);
      branch.push(block);
      this.made++;
    }
    for (const { block } of branch.slice(first)) await this.#submit(block);
    this.#reorganised(depth);
    this.chain = branch;
    this.#longest = Math.max(this.#longest, branch.length);
    this.#longer = null;
    await this.settle();
  }

  /** Invalidates the last `depth` blocks, and mines other blocks instead: fewer, as many, or more. */
  async invalidate(depth: number, count: number): Promise<void> {
    const kept = this.chain.slice(0, this.chain.length - depth);
    const before = this.chain;
    const first = displayHash((this.chain[kept.length] as ModelBlock).block.hash);
    await this.node.rpc.call('invalidateblock', [first]);
    this.chain = kept;
    await this.#prefer();
    for (let index = 0; index < count; index++) await this.#append(this.#blocks.next(this.tip, this.#sent));
    await this.settle();
    this.#reorganised(depth);
    this.#longer = before.length > this.chain.length ? { first, chain: before } : null;
  }

  /** Returns to the invalidated branch if that branch is longer. Returns whether it was longer. */
  async reconsider(): Promise<boolean> {
    const longer = this.#longer;
    if (longer === null || longer.chain.length <= this.chain.length) return false;
    const fork = this.chain.findIndex((each, index) => longer.chain[index] !== each);
    this.#reorganised(fork === -1 ? 0 : this.chain.length - fork);
    await this.node.rpc.call('reconsiderblock', [longer.first]);
    this.chain = [...longer.chain];
    this.#longer = null;
    await this.#prefer();
    return true;
  }

  /**
   * Restarts the node after a pause. The node is stopped in order, or killed. Blocks that it forgot are submitted
   * again.
   */
  async restart(how: 'stop' | 'kill', downMs: number): Promise<void> {
    await this.node[how]();
    await delay(downMs);
    await this.node.start();
    await this.#restore();
    if (how === 'stop') return;
    // A killed node may no longer know that it was told to invalidate a branch. An indexer on that branch then waits
    // for more work, as it must (`node_behind`).
    this.#longer = null;
    await this.extend(Math.max(1, this.#longest + 1 - this.chain.length));
  }

  async #restore(): Promise<void> {
    for (const { block } of this.chain) await this.#submit(block);
    await this.#prefer();
  }

  /**
   * Invalidates every branch that the node prefers to the model's branch, because an abandoned branch may have more
   * blocks.
   */
  async #prefer(): Promise<void> {
    const ours = new Set(this.chain.map(({ block }) => displayHash(block.hash)));
    while (!(await this.#isAtTip())) {
      let first = await this.node.rpc.call<string>('getbestblockhash');
      if (ours.has(first)) throw new Error('the node did not take the blocks of its chain');
      for (;;) {
        const { previousblockhash } = await this.node.rpc.call<{ previousblockhash: string }>(
          'getblockheader',
          [first],
        );
        if (ours.has(previousblockhash)) break;
        first = previousblockhash;
      }
      await this.node.rpc.call('invalidateblock', [first]);
    }
  }

  /** Waits until the node's best block equals the model's. */
  async settle(): Promise<void> {
    for (let tries = 0; tries < 100; tries++) {
      if (await this.#isAtTip()) return;
      await delay(50);
    }
    throw new Error('the node did not reach the tip of its blocks');
  }

  /** Sends a reveal to the mempool, like wallets do. The node accepts it by its default policy. */
  async send(): Promise<void> {
    const made = this.#blocks.unconfirmed(this.tip);
    if (made === null) return;
    const inputs = made.inputs.map(({ coin, witness }) => ({
      txid: coin.txid,
      vout: coin.vout,
      scriptSig: noBytes,
      witness,
    }));
    const out = new ByteWriter();
    writeTransaction(out, { inputs, outputs: made.outputs }, true);
    const hex = Buffer.from(out.view()).toString('hex');
    try {
      await this.node.rpc.call('sendrawtransaction', [hex, 0, '21000000']);
    } catch (error) {
      // a replacement has spent the coin for a higher fee
      if (!/replacement|conflict|in-mempool|limit/u.test(String(error))) throw error;
      return;
    }
    const keys = new Set(made.inputs.map(({ coin }) => coinKey(coin)));
    const others = this.#sent.filter(
      ({ inputs: spent }) => !spent.some(({ coin }) => keys.has(coinKey(coin))),
    );
    this.#sent = [...others, made].slice(-sentKept);
  }

  /** Txids of the node's mempool. */
  mempool(): Promise<string[]> {
    return this.node.rpc.call<string[]>('getrawmempool');
  }

  async stop(): Promise<void> {
    await Promise.all([this.rpcProxy.close(), this.zmqProxy.close()]);
    await this.node.stop();
  }

  async #isAtTip(): Promise<boolean> {
    return (await this.node.rpc.call<string>('getbestblockhash')) === displayHash(this.tip.hash);
  }

  /**
   * Submits a block. A killed node may still remember a branch as invalid that it was told to reconsider, because that
   * call had not reached the disk. The call is then repeated once.
   */
  async #submit({ hash, bytes }: ValidBlock): Promise<void> {
    try {
      await submitBlock(this.node.rpc, bytes);
    } catch (error) {
      if (!/duplicate-invalid/u.test(String(error))) throw error;
      await this.node.rpc.call('reconsiderblock', [displayHash(hash)]);
    }
  }

  async #append(block: ModelBlock): Promise<void> {
    await this.#submit(block.block);
    this.chain.push(block);
    this.made++;
    this.#longest = Math.max(this.#longest, this.chain.length);
  }

  #reorganised(depth: number): void {
    if (depth === 0) return;
    this.reorgs++;
    this.deepestReorg = Math.max(this.deepestReorg, depth);
  }
}
