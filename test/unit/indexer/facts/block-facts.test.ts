import { Block, Transaction } from 'bitcoinjs-lib';
import { describe, expect, test } from 'vitest';
import { openFacts } from '#indexer/facts/block-facts.ts';
import { type Fact, factNames, noFacts } from '#indexer/facts/fact.ts';
import { readFacts } from '#indexer/facts/read-facts.ts';
import { type BlockColumns, decodeBlockColumns } from '#indexer/parse/block-columns.ts';
import { parseBlock } from '#indexer/parse/parse-block.ts';
import { verifyBlock } from '#indexer/source/verify-block.ts';
import { BlockLayout, roomForOnce } from '#indexer/transaction/block-layout.ts';
import { readLayout } from '#indexer/transaction/read-layout.ts';
import { parseBlockHash } from '#kernel/primitives/hash.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { GoldenChain, goldenChainNames } from '#test/support/chain/golden/golden-chain.ts';
import { blockOf, type TestInput, transaction } from '#test/unit/indexer/parse/synthetic-block.ts';

const fingerprintKey = new Uint8Array(32).fill(9);
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

function factsOf(bytes: Uint8Array, spent: Uint8Array | null, asked: Iterable<Fact> = factNames) {
  const set = new Set(asked);
  const layout = new BlockLayout(roomForOnce(bytes.length));
  expect(readLayout(bytes, layout)).toBeNull();
  const columns = parsed(bytes, spent, layout);
  const block = { block: bytes, spent, height: asHeight(200), network: 'regtest', fingerprintKey } as const;
  const encoded = readFacts(set, block, layout);
  return { encoded, columns, facts: openFacts(set, encoded, { bytes, columns, spent }) };
}

function parsed(bytes: Uint8Array, spent: Uint8Array | null, layout: BlockLayout): BlockColumns {
  const result = parseBlock(bytes, { spent, fingerprintKey, layout });
  if (result.kind === 'broken') throw new Error(result.message);
  return decodeBlockColumns(result.columns);
}

describe('facts of a block', () => {
  test('are the same if the check has hashed the txids, and never those of the block before', () => {
    const golden = new GoldenChain('mixed-1');
    const layout = new BlockLayout();
    const asked = new Set(factNames);
    for (const header of golden.chain.headers.slice(-40)) {
      const { bytes, spent, height } = golden.block(header);
      const of = {
        block: bytes,
        spent,
        height: asHeight(height),
        network: 'regtest',
        fingerprintKey,
      } as const;
      const hash = parseBlockHash(header.hash)!;
      expect(verifyBlock(bytes, { hash, height: asHeight(height), network: 'regtest' }, layout).ok).toBe(
        true,
      );
      expect(layout.txids?.length).toBe(layout.transactionCount * 32);
      const checked = readFacts(asked, of, layout);
      expect(readLayout(bytes, layout)).toBeNull();
      expect(layout.txids).toBeNull();
      expect(checked).toEqual(readFacts(asked, of, layout));
    }
  });

  test('have the txids of a checked block, also those that the parser hashes itself in an unchecked one', () => {
    const golden = new GoldenChain('mixed-1');
    const layout = new BlockLayout();
    for (const header of golden.chain.headers.slice(-40)) {
      const { bytes, spent, height } = golden.block(header);
      const claim = {
        hash: parseBlockHash(header.hash)!,
        height: asHeight(height),
        network: 'regtest',
      } as const;
      expect(verifyBlock(bytes, claim, layout).ok).toBe(true);
      const { txTxid: checked, ...columns } = parsed(bytes, spent, layout);
      expect(readLayout(bytes, layout)).toBeNull();
      const { txTxid: unchecked, ...same } = parsed(bytes, spent, layout);
      expect(columns).toEqual(same);
      expect(unchecked.length).toBe(0);
      const txids = Block.fromBuffer(Buffer.from(bytes)).transactions!.map((tx) => hex(tx.getHash()));
      expect(hex(checked)).toBe(txids.join(''));
    }
  });

  test('are not read unless requested', () => {
    const { encoded, facts } = factsOf(blockOf([transaction([{}])]), null, noFacts);
    expect(encoded.size).toBe(0);
    expect(facts).toEqual({});
  });

  test('are there if requested, whatever the others are', () => {
    const bytes = blockOf([transaction([{}])]);
    expect(Object.keys(factsOf(bytes, null, ['outputs']).facts)).toEqual(['outputs']);
    expect(factsOf(bytes, null, ['spent-scripts']).facts).toEqual({ spentScripts: null });
    expect(Object.keys(factsOf(bytes, null, ['runestone-candidates']).facts)).toEqual([
      'runestoneCandidates',
    ]);
    expect(Object.keys(factsOf(bytes, null, ['signatures']).facts)).toEqual(['signatures']);
  });

  test.each(goldenChainNames)('equal those of another library: %s', (name) => {
    const golden = new GoldenChain(name);
    const made = new Map<string, { script: string; value: number }>();
    for (const header of golden.tips()[0]?.headers ?? []) {
      const { bytes, spent } = golden.block(header);
      const { facts, columns } = factsOf(bytes, spent);
      const { transactions = [] } = Block.fromBuffer(Buffer.from(bytes));
      for (const tx of transactions) {
        for (const [vout, { script, value }] of tx.outs.entries())
          made.set(`${hex(tx.getHash())}:${vout}`, { script: hex(script), value: Number(value) });
      }
      const spends = facts.spentScripts;
      if (spends == null) throw new Error('the golden chains have spent outputs');
      const read = Array.from(spends.scriptStart, (start, input) => ({
        script: hex(spends.bytes.subarray(start, start + spends.scriptLength[input]!)),
        value: spends.value[input]!,
      }));
      const expected = transactions.flatMap((tx, place) =>
        tx.ins.map(({ hash, index }) =>
          place === 0 ? { script: '', value: 0 } : made.get(`${hex(hash)}:${index}`),
        ),
      );
      expect(read).toEqual(expected);
      expect(runestonesIn(bytes, facts.runestoneCandidates)).toEqual(naiveRunestones(transactions));
      expect(columns.txOutputs.length).toBe(transactions.length);
    }
  });
});

function runestonesIn(
  bytes: Uint8Array,
  found: ReturnType<typeof factsOf>['facts']['runestoneCandidates'],
): string[] {
  if (found === undefined) return [];
  return Array.from(found.tx, (tx, row) => {
    const start = found.scriptStart[row]!;
    return `${tx}:${found.vout[row]} ${hex(bytes.subarray(start, start + found.scriptLength[row]!))}`;
  });
}

const naiveRunestones = (transactions: readonly Transaction[]): string[] =>
  transactions.flatMap((tx, place) =>
    tx.outs.flatMap(({ script }, vout) =>
      hex(script).startsWith('6a5d') ? [`${place}:${vout} ${hex(script)}`] : [],
    ),
  );

describe('runestone candidates', () => {
  test('are outputs that begin with OP_RETURN OP_13: all of a transaction and of the coinbase', () => {
    const scripts = ['6a5d', '6a5d0100', '6a', '6a5e', '5d6a', '', '6a015d'];
    const outputs = scripts.map((script) => ({ value: 0n, script: Buffer.from(script, 'hex') }));
    const bytes = blockOf([transaction([{}], outputs), transaction([{}], outputs.slice(2))]);
    const { facts } = factsOf(bytes, null);
    expect(runestonesIn(bytes, facts.runestoneCandidates)).toEqual(['1:0 6a5d', '1:1 6a5d0100']);
  });

  test('are all found in a block with more of them than the room for a usual block', () => {
    const script = Uint8Array.of(0x6a, 0x5d, 0);
    const outputs = Array.from({ length: 5000 }, () => ({ value: 0n, script }));
    for (const count of [5000, 2]) {
      const bytes = blockOf([transaction([{}]), transaction([{}], outputs.slice(0, count))]);
      const found = runestonesIn(
        bytes,
        factsOf(bytes, null, ['runestone-candidates']).facts.runestoneCandidates,
      );
      expect(found.length).toBe(count);
      expect(found).toEqual(naiveRunestones(Block.fromBuffer(Buffer.from(bytes)).transactions ?? []));
    }
  });
});

describe('signatures', () => {
  const der = (sighash: number, length = 71): Buffer =>
    Buffer.concat([Buffer.of(0x30, length - 3), Buffer.alloc(length - 3, 2), Buffer.of(sighash)]);
  const schnorr = (sighash?: number): Buffer =>
    Buffer.concat([Buffer.alloc(64, 7), ...(sighash === undefined ? [] : [Buffer.of(sighash)])]);
  const push = (bytes: Buffer): Buffer => Buffer.concat([Buffer.of(bytes.length), bytes]);
  const key = Buffer.alloc(33, 2);
  const annex = Buffer.from('5000', 'hex');
  const controlBlock = Buffer.concat([Buffer.of(0xc1), Buffer.alloc(63, 1), Buffer.of(0x83)]);

  const cases: readonly (readonly [string, TestInput, readonly string[]])[] = [
    ['P2WPKH', { witness: [der(0x83), key] }, ['ecdsa 83']],
    ['P2WPKH with the longest DER', { witness: [der(0x81, 73), key] }, ['ecdsa 81']],
    ['P2TR by key, DEFAULT', { witness: [schnorr()] }, ['schnorr 0']],
    ['P2TR by key', { witness: [schnorr(0x83)] }, ['schnorr 83']],
    [
      'P2TR by key, which begins like DER',
      { witness: [Buffer.concat([Buffer.of(0x30, 62), schnorr(0x83).subarray(2)])] },
      ['ecdsa 83', 'schnorr 83'],
    ],
    ['P2TR by key with an annex', { witness: [schnorr(0x83), annex] }, ['schnorr 83']],
    ['P2TR by key, an undefined type', { witness: [schnorr(0x04)] }, []],
    [
      'a 2-of-2 leaf with a control block as long as a signature',
      { witness: [schnorr(0x03), schnorr(), Buffer.of(0x51), controlBlock] },
      ['schnorr 3', 'schnorr 0'],
    ],
    ['a leaf, its control block and an annex', { witness: [Buffer.of(0x51), controlBlock, annex] }, []],
    [
      'P2WSH multisig',
      { witness: [Buffer.alloc(0), der(0x01), der(0x83), Buffer.of(0x52, 0xae)] },
      ['ecdsa 1', 'ecdsa 83'],
    ],
    ['P2PKH', { script: Buffer.concat([push(der(0x83)), push(key)]) }, ['ecdsa 83']],
    [
      'P2SH multisig',
      {
        script: Buffer.concat([
          Buffer.of(0),
          push(der(0x81)),
          push(der(0x02)),
          Buffer.of(0x4c, 80),
          Buffer.alloc(80, 3),
        ]),
      },
      ['ecdsa 81', 'ecdsa 2'],
    ],
    [
      'P2WPKH in P2SH',
      {
        script: push(Buffer.concat([Buffer.from('0014', 'hex'), Buffer.alloc(20)])),
        witness: [der(0x83), key],
      },
      ['ecdsa 83'],
    ],
    ['a script that ends within a push', { script: Buffer.of(71, 0x30) }, []],
    ['nothing', {}, []],
  ];

  test.each(cases)('of %s', (_, input, expected) => {
    const bytes = blockOf([transaction([{}, input, {}]), transaction([input])]);
    const { facts, columns } = factsOf(bytes, null);
    const shown = (place: number): string[] | undefined =>
      facts.signatures?.of(place).map(({ kind, sighash }) => `${kind} ${sighash.toString(16)}`);
    const first = columns.txFirstInput[1]!;
    expect(shown(first)).toEqual([]);
    expect(shown(first + 1)).toEqual(expected);
    // several readers may read the same input
    expect(shown(first + 1)).toEqual(expected);
    expect(shown(columns.txFirstInput[2]!)).toEqual(expected);
  });
});
