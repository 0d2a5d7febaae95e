import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openNodeSource } from '#indexer/source/node-source.ts';
import type { LiveBlockSource } from '#kernel/contracts/live-source.ts';
import { parseBlockHash } from '#kernel/primitives/hash.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { connectNode } from '#node/bitcoin-node.ts';
import { type MinedBlock, RegtestChain } from '#test/builders/regtest/regtest-chain.ts';
import { idBytes } from '#test/builders/regtest/regtest-envelope.ts';
import { addressOf, burnScript, scriptOf, transaction } from '#test/builders/regtest/regtest-transaction.ts';
import { type Bitcoind, startBitcoind } from '#test/support/node/bitcoind.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { columnsOf, type ReadEnvelope, readEnvelopes } from '#test/unit/indexer/parse/synthetic-block.ts';

describe.skipIf(bitcoindForTests() === null)('chosen transactions on a real node', () => {
  let bitcoind: Bitcoind;
  let chain: RegtestChain;
  let source: LiveBlockSource;

  beforeAll(async () => {
    bitcoind = await startBitcoind();
    chain = await RegtestChain.start(bitcoind.rpc);
    source = openNodeSource(await connectNode(bitcoind.settings));
  });
  afterAll(async () => {
    await source.close();
    await bitcoind.remove();
  });

  const envelopesOf = async ({ height, hash }: MinedBlock): Promise<ReadEnvelope[]> => {
    const { bytes } = await source.read({ height: asHeight(height), hash: parseBlockHash(hash)! });
    return readEnvelopes(columnsOf(bytes));
  };

  test('reveal the given contents, with parents, pointers and delegates', async () => {
    const first = await chain.inscribe({ contentType: 'text/plain', body: 'first' });
    const long = 'y'.repeat(2000);
    const several = await chain.inscribe([
      { body: long },
      { body: 'third', pointer: 7, metaprotocol: 'test' },
    ]);
    const [one, two, three] = await envelopesOf(
      await chain.mine([...first.transactions, ...several.transactions]),
    );
    expect(one).toMatchObject({ txid: first.reveal.txid, index: 0 });
    expect(one?.type?.toString()).toBe('text/plain');
    expect(one?.content?.body.toString()).toBe('first');
    expect(two).toMatchObject({ txid: several.reveal.txid, index: 0 });
    expect(two?.content?.body.toString()).toBe(long);
    expect(three).toMatchObject({ txid: several.reveal.txid, index: 1, pointer: 7 });

    const parents = [first.reveal.id(), several.reveal.id(1)];
    const child = await chain.inscribe(
      { parents, delegate: parents[0]! },
      { parents: [first.reveal.coin(0)] },
    );
    const [revealed] = await envelopesOf(await chain.mine(child.transactions));
    expect(revealed).toMatchObject({ txid: child.reveal.txid, input: 1 });
    expect(revealed?.fields['delegate']?.subarray(0, 32)).toEqual(idBytes(parents[0]!));
  });

  test('pay addresses, are burnt, and leave all to the miner', async () => {
    const { transactions, reveal } = await chain.inscribe({ body: 'moved' }, { to: 4 });
    const moved = transaction([reveal.coin(0)], [{ value: 9000, to: 5 }]);
    const burnt = transaction([moved.coin(0)], [{ value: 8000, outputScript: burnScript }]);
    expect(() => burnt.coin(0)).toThrow('cannot be spent');
    const other = await chain.inscribe({ body: 'fee' });
    const spent = transaction([other.reveal.coin(0)], [{ value: 0, outputScript: burnScript }]);
    const made = [...transactions, moved, burnt, ...other.transactions, spent];
    const block = await chain.mine(made);
    const { vout } = await bitcoind.rpc.call<{ vout: { scriptPubKey: { address: string; hex: string } }[] }>(
      'getrawtransaction',
      [moved.txid, 1],
    );
    expect(vout[0]?.scriptPubKey).toMatchObject({
      address: addressOf(5),
      hex: Buffer.from(scriptOf(5)).toString('hex'),
    });
    const fees = made.reduce((sum, { fee }) => sum + fee, 0);
    expect(spent.fee).toBe(10_000);
    expect(block.coinbase.value).toBe(5_000_000_000 + fees);
    expect(await envelopesOf(block)).toHaveLength(2);
    const last = await chain.inscribe({ body: 'lost' });
    const losing = await chain.mine(last.transactions, { losesFees: true });
    expect(losing.coinbase.value).toBe(5_000_000_000);
  });

  test('pass the mempool as an item of a witness, are replaced, taken back and reconsidered', async () => {
    const { commit, reveal } = await chain.inscribe({ body: 'pending' });
    await chain.broadcast(commit);
    await chain.broadcast(reveal);
    const dearer = transaction([commit.coin(0)], [{ value: 2000, to: 6 }]);
    await chain.broadcast(dearer);
    const pending = await bitcoind.rpc.call<string[]>('getrawmempool');
    expect(pending.toSorted()).toEqual([commit.txid, dearer.txid].toSorted());
    const block = await chain.mineMempool();
    const [envelope] = await envelopesOf(block);
    expect(envelope).toMatchObject({ txid: dearer.txid });
    expect(envelope?.content?.body.toString()).toBe('pending');

    const before = await chain.height();
    const lowest = await chain.takeBack(2);
    expect(await chain.height()).toBe(before - 2);
    expect(await bitcoind.rpc.call<string[]>('getrawmempool')).toContain(dearer.txid);
    const [branch] = await chain.mineEmpty(1);
    expect(branch?.hash).not.toBe(lowest);
    await chain.reconsider(lowest);
    expect(await bitcoind.rpc.call('getbestblockhash')).toBe(block.hash);
  });
});
