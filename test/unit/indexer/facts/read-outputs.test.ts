import { Block } from 'bitcoinjs-lib';
import { describe, expect, test } from 'vitest';
import { hashTransactions } from '#indexer/facts/hash-transactions.ts';
import { decodeOutputColumns, type OutputColumns } from '#indexer/facts/output-columns.ts';
import { OutputReader } from '#indexer/facts/read-outputs.ts';
import { HashTree } from '#indexer/source/hash-tree.ts';
import { BlockLayout, roomForOnce } from '#indexer/transaction/block-layout.ts';
import { expandFingerprintKey } from '#indexer/transaction/outpoint-fingerprint.ts';
import { readLayout } from '#indexer/transaction/read-layout.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { GoldenChain, goldenChainNames } from '#test/support/chain/golden/golden-chain.ts';
import { compactSize, transaction } from '#test/unit/indexer/parse/synthetic-block.ts';

const key = expandFingerprintKey(new Uint8Array(32).fill(9));
const reader = new OutputReader();
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const header = Buffer.alloc(80);

function read(block: Uint8Array, height = 200, network: 'mainnet' | 'regtest' = 'regtest'): OutputColumns {
  const layout = new BlockLayout(roomForOnce(block.length));
  expect(readLayout(block, layout)).toBeNull();
  const tree = new HashTree();
  hashTransactions(tree, block, layout);
  const of = { height: asHeight(height), network, key, txids: tree.leaves };
  return decodeOutputColumns(reader.read(block, layout, of));
}

/** Lines `txid:vout value script spent` of each output, and the outpoints of earlier blocks that the block spends. */
function shown(block: Uint8Array, columns: OutputColumns): { outputs: string[]; spends: string[] } {
  const outputs = Array.from(columns.value, (value, row) => {
    const tx = columns.tx[row]!;
    const start = columns.scriptStart[row]!;
    const script = block.subarray(start, start + columns.scriptLength[row]!);
    const txid = hex(columns.txid.subarray(tx * 32, tx * 32 + 32));
    return `${txid}:${columns.vout[row]} ${value} ${hex(script)} ${columns.spent[row]}`;
  });
  const spends = Array.from(columns.spendAt, (at) => hex(block.subarray(at, at + 36)));
  return { outputs, spends };
}

/** Reads the same from a block with bitcoinjs-lib. */
function naive(bytes: Uint8Array): { outputs: string[]; spends: string[] } {
  const { transactions = [] } = Block.fromBuffer(Buffer.from(bytes));
  const outpoint = (txid: Uint8Array, index: number): string => {
    const vout = Buffer.alloc(4);
    vout.writeUInt32LE(index);
    return hex(txid) + hex(vout);
  };
  const made = new Set(transactions.flatMap((tx) => tx.outs.map((_, vout) => outpoint(tx.getHash(), vout))));
  const spent = transactions
    .slice(1)
    .flatMap((tx) => tx.ins.map((input) => outpoint(input.hash, input.index)));
  return {
    outputs: transactions.flatMap((tx) =>
      tx.outs.flatMap(({ value, script }, vout) => {
        if (script[0] === 0x6a || script.length > 10_000) return [];
        const isSpent = spent.includes(outpoint(tx.getHash(), vout)) ? 1 : 0;
        return [`${hex(tx.getHash())}:${vout} ${value} ${hex(script)} ${isSpent}`];
      }),
    ),
    spends: spent.filter((name) => !made.has(name)),
  };
}

describe('outputs of a block', () => {
  test.each(goldenChainNames)('equal those of another library: %s', (name) => {
    const golden = new GoldenChain(name);
    for (const { headers } of golden.tips()) {
      for (const headerRef of headers.slice(-200)) {
        const { bytes, height } = golden.block(headerRef);
        expect(shown(bytes, read(bytes, height))).toEqual(naive(bytes));
      }
    }
  });

  const blockOf = (...transactions: readonly Buffer[]): Buffer =>
    Buffer.concat([header, compactSize(transactions.length), ...transactions]);
  const coinbase = transaction(
    [{ outpoint: Buffer.alloc(36, 0xff) }],
    [{ value: 50n, script: Buffer.from([0x51]) }],
  );

  test('leave out unspendable ones', () => {
    const outputs = [
      { value: 1n, script: Buffer.from([0x6a]) },
      { value: 2n, script: Buffer.alloc(10_001, 0x51) },
      { value: 3n, script: Buffer.alloc(10_000, 0x51) },
      { value: 4n, script: Buffer.alloc(0) },
    ];
    const columns = read(blockOf(coinbase, transaction([{}], outputs)));
    expect([...columns.value]).toEqual([50, 3, 4]);
    expect([...columns.vout]).toEqual([0, 2, 3]);
  });

  test('leave out the two coinbases of mainnet whose txids were repeated', () => {
    for (const [height, network, count] of [
      [91_722, 'mainnet', 0],
      [91_812, 'mainnet', 0],
      [91_842, 'mainnet', 1],
      [91_722, 'regtest', 1],
    ] as const) {
      expect(read(blockOf(coinbase), height, network).value).toHaveLength(count);
    }
  });

  test('grow with blocks of many outputs and inputs, and read small ones afterwards', () => {
    const many = Array.from({ length: 20_000 }, (_, index) => ({
      value: BigInt(index),
      script: Buffer.from([0x51]),
    }));
    const inputs = Array.from({ length: 9_000 }, (_, index) => {
      const outpoint = Buffer.alloc(36, 3);
      outpoint.writeUInt32LE(index, 32);
      return { outpoint };
    });
    const large = read(blockOf(coinbase, transaction(inputs, many)));
    expect(large.value).toHaveLength(20_001);
    expect(large.spendAt).toHaveLength(9_000);
    const small = blockOf(coinbase, transaction([{ witness: [Buffer.alloc(1)] }]));
    expect(shown(small, read(small))).toEqual(naive(small));
  });

  test('refuse a buffer without columns', () => {
    expect(() => decodeOutputColumns(new ArrayBuffer(16))).toThrow('output columns of version 0');
  });
});
