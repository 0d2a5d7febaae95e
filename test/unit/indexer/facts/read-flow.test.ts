import { Block } from 'bitcoinjs-lib';
import { describe, expect, test } from 'vitest';
import { decodeFlowColumns, type FlowColumns } from '#indexer/facts/flow-columns.ts';
import { readFacts } from '#indexer/facts/read-facts.ts';
import { BlockLayout, roomForOnce } from '#indexer/transaction/block-layout.ts';
import {
  expandFingerprintKey,
  fingerprint,
  fingerprintOutpoint,
} from '#indexer/transaction/outpoint-fingerprint.ts';
import { readLayout } from '#indexer/transaction/read-layout.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { GoldenChain, goldenChainNames } from '#test/support/chain/golden/golden-chain.ts';
import { blockOf, coinbase, transaction } from '#test/unit/indexer/parse/synthetic-block.ts';

const fingerprintKey = new Uint8Array(32).fill(9);
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

function read(block: Uint8Array): FlowColumns {
  const layout = new BlockLayout(roomForOnce(block.length));
  expect(readLayout(block, layout)).toBeNull();
  const of = { block, spent: null, height: asHeight(1), network: 'regtest', fingerprintKey } as const;
  return decodeFlowColumns(readFacts(new Set(['coin-flow']), of, layout).get('coin-flow')!);
}

/** The value of each output. For each input, the index of its output among all outputs, or the outpoint. */
function shown(block: Uint8Array, { value, source, outpointAt, txFirstOutput, txid }: FlowColumns) {
  const outpoint = (input: number): string => {
    const at = outpointAt[input]!;
    return hex(block.subarray(at, at + 36));
  };
  return {
    values: [...value],
    first: [...txFirstOutput],
    txids: hex(txid),
    inputs: Array.from(source, (row, input) => (row >= 0 ? row : outpoint(input))),
  };
}

/** Reads the same from a block with bitcoinjs-lib. */
function naive(bytes: Uint8Array): ReturnType<typeof shown> {
  const { transactions = [] } = Block.fromBuffer(Buffer.from(bytes));
  const places = new Map<string, number>();
  const [values, first, inputs]: [number[], number[], (number | string)[]] = [[], [0], []];
  for (const [at, tx] of transactions.entries()) {
    for (const { hash, index } of tx.ins) {
      const vout = Buffer.alloc(4);
      vout.writeUInt32LE(index);
      const name = hex(hash) + hex(vout);
      inputs.push(at === 0 ? name : (places.get(name) ?? name));
    }
    for (const [index, { value }] of tx.outs.entries()) {
      const vout = Buffer.alloc(4);
      vout.writeUInt32LE(index);
      if (at > 0) places.set(hex(tx.getHash()) + hex(vout), values.length);
      values.push(Number(value));
    }
    first.push(values.length);
  }
  return { values, first, txids: transactions.map((tx) => hex(tx.getHash())).join(''), inputs };
}

describe('the flow of values through a block', () => {
  test.each(goldenChainNames)('equals that of another library: %s', (name) => {
    const golden = new GoldenChain(name);
    for (const { headers } of golden.tips()) {
      for (const header of headers.slice(-200)) {
        const { bytes } = golden.block(header);
        expect(shown(bytes, read(bytes))).toEqual(naive(bytes));
      }
    }
  });

  test('has the fingerprint of each output’s outpoint', () => {
    const key = expandFingerprintKey(fingerprintKey);
    const golden = new GoldenChain('mixed-2');
    for (const header of golden.tips()[0]!.headers.slice(-50)) {
      const flow = read(golden.block(header).bytes);
      const { txFirstOutput, txid } = flow;
      for (let tx = 0; tx + 1 < txFirstOutput.length; tx++) {
        const outpoint = Buffer.concat([txid.subarray(tx * 32, (tx + 1) * 32), Buffer.alloc(4)]);
        for (let row = txFirstOutput[tx]!; row < txFirstOutput[tx + 1]!; row++) {
          outpoint.writeUInt32LE(row - txFirstOutput[tx]!, 32);
          fingerprintOutpoint(new DataView(outpoint.buffer, outpoint.byteOffset, 36), 0, key);
          expect(flow.fingerprint[row]).toBe(fingerprint.low | 0);
        }
      }
    }
  });

  test('leads only to outputs of earlier transactions, and never to the block’s own coinbase', () => {
    const first = coinbase([{ value: 50n }]);
    const txidOf = (bytes: Buffer): Buffer =>
      Buffer.from(Block.fromBuffer(Buffer.from(blockOf([bytes], bytes))).transactions![0]!.getHash());
    const outpointOf = (bytes: Buffer, vout: number): Buffer => {
      const index = Buffer.alloc(4);
      index.writeUInt32LE(vout);
      return Buffer.concat([txidOf(bytes), index]);
    };
    const made = transaction([{}], [{ value: 1n }, { value: 2n }]);
    const spender = transaction([
      { outpoint: outpointOf(made, 1) },
      { outpoint: outpointOf(made, 2) },
      { outpoint: outpointOf(first, 0) },
    ]);
    const after = read(blockOf([made, spender], first));
    expect([...after.source]).toEqual([-1, -1, 2, -1, -1]);
    const before = read(blockOf([spender, made], first));
    expect([...before.source]).toEqual([-1, -1, -1, -1, -1]);
  });
});
