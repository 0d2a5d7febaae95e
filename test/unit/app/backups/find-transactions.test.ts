import { describe, expect, test } from 'vitest';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { CoinKey } from '#purse/coins/coin-keys.queries.ts';
import { ChainReader } from '#src/app/backups/held/find-transactions.ts';
import type { KnownMoney } from '#src/app/backups/held/known-money.ts';
import { type BranchEnds, endsAt } from '#wallet/indices/branch-ends.ts';
import type { PublicWallet } from '#wallet/public-wallet.ts';

interface Made {
  readonly txid: string;
  readonly spends: readonly string[];
  readonly pays?: readonly string[];
}

interface Block {
  readonly hash: string;
  readonly parent: string;
  readonly txs: readonly Made[];
}

/** A node with blocks and a mempool in memory. Each call may change them first, as another thread of a node would. */
class MemoryNode implements NodeRpc {
  readonly url = 'memory';
  blocks: Block[] = [{ hash: 'b0', parent: '', txs: [] }];
  mempool: Made[] = [];
  /** Blocks of other chains, by hash. A node still has them. */
  readonly stale = new Map<string, Block>();
  /** Called before each call. */
  before: (method: string) => void = () => undefined;

  mine(hash: string, txs: readonly Made[] = []): void {
    this.blocks.push({ hash, parent: this.blocks.at(-1)!.hash, txs });
    this.mempool = this.mempool.filter(({ spends }) => !spends.some((each) => spentBy(txs, each)));
  }

  unmine(): void {
    const gone = this.blocks.pop()!;
    this.stale.set(gone.hash, gone);
    this.mempool.push(...gone.txs);
  }

  async call<Result>(method: string, parameters: readonly unknown[] = []): Promise<Result> {
    this.before(method);
    const answer = this.#answers[method];
    if (answer === undefined) throw new Error(`unexpected call ${method}`);
    return answer(...(parameters as [never, never])) as Result;
  }

  readonly #answers: Readonly<Record<string, (first: never, second: never) => unknown>> = {
    getblockcount: () => this.blocks.length - 1,
    getbestblockhash: () => this.blocks.at(-1)!.hash,
    getblockhash: (height: number) => this.blocks[height]?.hash ?? failed(-8),
    getblockheader: (hash: string) => ({ confirmations: this.stale.has(hash) ? -1 : 1 }),
    deriveaddresses: (branch: string, [from, last]: [number, number]) =>
      Array.from({ length: last - from + 1 }, (_, place) => `${branch}/${from + place}`),
    getblock: (wanted: string) => {
      const { parent, txs } = this.blocks.find(({ hash }) => hash === wanted) ?? this.stale.get(wanted)!;
      return { previousblockhash: parent, tx: txs.map(shown) };
    },
    gettxspendingprevout: (outputs: readonly { txid: string; vout: number }[]) =>
      outputs.map(({ txid, vout }) => {
        const spender = this.mempool.find(({ spends }) => spends.includes(`${txid}:${vout}`));
        return spender === undefined ? {} : { spendingtxid: spender.txid };
      }),
    getrawtransaction: (wanted: string) =>
      this.mempool.filter(({ txid }) => txid === wanted).map(shown)[0] ?? failed(-5),
  };
}

const spentBy = (txs: readonly Made[], outpoint: string): boolean =>
  txs.some(({ spends }) => spends.includes(outpoint));

function failed(rpcCode: number): never {
  throw new AppError('node_call_failed', `error ${rpcCode}`, { rpcCode });
}

const shown = ({ txid, spends, pays = ['them'] }: Made): object => ({
  txid,
  hex: '',
  vin: spends.map((outpoint) => {
    const [of, vout] = outpoint.split(':');
    return { txid: of, vout: Number(vout) };
  }),
  vout: pays.map((address) => ({ value: 0.00001, scriptPubKey: { hex: `script of ${address}`, address } })),
});

const coin: CoinKey = { key: { branch: 1, index: 1 }, held: 'accounts', kind: 'payout', subject: null };

/** Coins of the wallet are all outputs of transactions that begin with `ours`. */
function readerOf(
  node: MemoryNode,
  asked: readonly string[],
  known: ReadonlySet<string> = new Set(),
  more: readonly BranchEnds[] = [],
) {
  const money: KnownMoney = {
    coinKeysOf: async (outpoints) =>
      new Map(outpoints.filter((each) => each.startsWith('ours')).map((each) => [each, coin])),
    outputsToAsk: async () => asked,
    ownAmong: async (txids) => new Set(txids.filter((txid) => known.has(txid))),
  };
  const descriptors = ['orders', 'own', 'inventory', 'fees'];
  return ChainReader.start({
    known: money,
    node,
    wallet: { descriptors: () => descriptors } as unknown as PublicWallet,
    hold: { beganAt: new Date(0), backupAt: new Date(0), height: 0, ends: [endsAt(0), ...more] },
    wanted: new Set(),
    ownIndices: [],
    signal: new AbortController().signal,
    onBlock: () => undefined,
  });
}

const read = async (reader: ChainReader) => {
  const { found, tip } = await reader.read();
  return { found: found.map(({ txid, height }) => [txid, height]), tip: tip.hash };
};

/** Runs a change once, before the first call of a method. */
const once = (node: MemoryNode, method: string, change: () => void): void => {
  node.before = (called) => {
    if (called !== method) return;
    node.before = () => undefined;
    change();
  };
};

describe('transactions since a backup', () => {
  test('are found in blocks and in the mempool, and with their change', async () => {
    const node = new MemoryNode();
    node.mine('b1', [
      { txid: 'x', spends: ['ours1:0'], pays: ['them', 'own/7'] },
      { txid: 'known', spends: ['ours2:0'] },
      { txid: 'foreign', spends: ['theirs:0'] },
    ]);
    node.mempool = [
      { txid: 'y', spends: ['x:1'], pays: ['own/8'] },
      { txid: 'z', spends: ['y:0'] },
    ];
    const reader = await readerOf(node, ['ours1:0'], new Set(['known']));
    expect(await read(reader)).toEqual({
      found: [
        ['x', 1],
        ['y', null],
        ['z', null],
      ],
      tip: 'b1',
    });
  });

  test.each(['gettxspendingprevout', 'getrawtransaction', 'getbestblockhash'])(
    'are found if a block takes them out of the mempool before %s',
    async (method) => {
      const node = new MemoryNode();
      const made = { txid: 'x', spends: ['ours1:0'] };
      node.mempool = [made];
      once(node, method, () => node.mine('b1', [made]));
      expect(await read(await readerOf(node, ['ours1:0']))).toEqual({ found: [['x', 1]], tip: 'b1' });
    },
  );

  test('are found if a replacement takes them out of the mempool', async () => {
    const node = new MemoryNode();
    node.mempool = [{ txid: 'x', spends: ['ours1:0'] }];
    once(node, 'getrawtransaction', () => {
      node.mempool = [{ txid: 'y', spends: ['ours1:0'] }];
    });
    expect(await read(await readerOf(node, ['ours1:0']))).toEqual({ found: [['y', null]], tip: 'b0' });
  });

  test('are read again from the last common block after a reorganisation', async () => {
    const node = new MemoryNode();
    const [made, later] = [
      { txid: 'x', spends: ['ours1:0'] },
      { txid: 'y', spends: ['ours2:0'] },
    ];
    node.mine('b1');
    node.mine('b2', [made]);
    node.mine('b3');
    const reader = await readerOf(node, ['ours1:0', 'ours2:0']);
    expect(await read(reader)).toEqual({ found: [['x', 2]], tip: 'b3' });
    node.unmine();
    node.unmine();
    expect(await read(reader)).toEqual({ found: [['x', null]], tip: 'b1' });
    node.mine('c2', [later]);
    node.mine('c3', [made]);
    expect(await read(reader)).toEqual({
      found: [
        ['y', 2],
        ['x', 3],
      ],
      tip: 'c3',
    });
  });

  test.each(['getblockcount', 'getblockhash', 'getblock', 'getbestblockhash'])(
    'are found if a reorganisation comes before %s',
    async (method) => {
      const node = new MemoryNode();
      const made = { txid: 'x', spends: ['ours1:0'] };
      node.mine('b1');
      node.mine('b2', [made]);
      const reader = await readerOf(node, ['ours1:0']);
      await reader.read();
      node.mine('b3');
      once(node, method, () => {
        node.unmine();
        node.unmine();
        node.mine('c2');
        node.mine('c3', [made]);
      });
      expect(await read(reader)).toEqual({ found: [['x', 3]], tip: 'c3' });
    },
  );

  test('are found with addresses that were shown after each of several restored backups', async () => {
    const node = new MemoryNode();
    // addresses after the first backup, far after the second one, and after neither
    const indices = [9_000, 1_012_000, 1_020_000, 500_000];
    node.mine(
      'b1',
      indices.map((index) => ({ txid: `x${index}`, spends: ['theirs:0'], pays: [`orders/${index}`] })),
    );
    node.mine(
      'b2',
      indices.map((index) => ({ txid: `y${index}`, spends: [`x${index}:0`] })),
    );
    const reader = await readerOf(node, [], new Set(), [endsAt(1_005_000)]);
    const { found } = await read(reader);
    expect(found).toEqual(indices.slice(0, 3).map((index) => [`y${index}`, 2]));
    expect((await read(await readerOf(node, []))).found).toEqual([['y9000', 2]]);
  });

  test('are not told if the mempool changes in each reading', async () => {
    const node = new MemoryNode();
    let count = 0;
    node.before = (method) => {
      if (method === 'gettxspendingprevout') node.mempool = [{ txid: `x${count++}`, spends: ['ours1:0'] }];
      if (method === 'getrawtransaction') node.mempool = [];
    };
    await expect((await readerOf(node, ['ours1:0'])).read()).rejects.toMatchObject({
      code: 'release_refused',
    });
  });
});
