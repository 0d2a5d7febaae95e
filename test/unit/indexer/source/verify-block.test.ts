import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Verification, verifyBlock } from '#indexer/source/verify-block.ts';
import { doubleSha256 } from '#indexer/transaction/double-sha256.ts';
import { asBlockHash, type BlockHash, parseBlockHash } from '#kernel/primitives/hash.ts';
import { asHeight, type Height } from '#kernel/primitives/height.ts';
import type { NetworkName } from '#kernel/primitives/network.ts';
import { mineHeader } from '#test/builders/block.ts';
import { merkleRoot } from '#test/builders/merkle.ts';
import { outlineBlock, strippedTransaction } from '#test/builders/outline.ts';
import { propertyRuns, sampleStep } from '#test/support/property-runs.ts';

const fixtures = join(import.meta.dirname, '../../../fixtures/pipeline');
const samples = join(import.meta.dirname, '../../../../samples');

interface Fixture {
  readonly height: Height;
  readonly hash: BlockHash;
  readonly bytes: Uint8Array<ArrayBuffer>;
}
function load(folder: string, beginning: string): Fixture {
  const name = readdirSync(folder).find((candidate) => candidate.startsWith(beginning));
  const [, height = '', hash = ''] = /^(\d+)-([0-9a-f]{64})/u.exec(name ?? '') ?? [];
  return {
    height: asHeight(Number(height)),
    hash: parseBlockHash(hash)!,
    bytes: new Uint8Array(readFileSync(join(folder, name ?? ''))),
  };
}
const verify = (
  { bytes, hash, height }: Fixture,
  network: NetworkName,
  changed: Uint8Array<ArrayBuffer> = bytes,
): Verification => verifyBlock(changed, { hash, height, network });

const witnessed = load(fixtures, '0040000-'); // a block of testnet4 with 16 transactions, most of which have witnesses
const bare = load(fixtures, '1325168-'); // testnet3
const regtest = load(join(samples, 'regtest/blocks'), '0000165-');

/** Makes a new header for the transactions of a block. Returns the block and its hash. */
function remine(bytes: Uint8Array): Fixture {
  const txids = outlineBlock(bytes).map((outline) => doubleSha256(strippedTransaction(bytes, outline)));
  const { header, hash } = mineHeader(new Uint8Array(32), merkleRoot(Buffer.concat(txids)), 1_700_000_000);
  const block = Uint8Array.from(bytes);
  block.set(header);
  return { height: asHeight(165), hash: asBlockHash(hash), bytes: block };
}

describe('a block that is what it claims to be', () => {
  test.each<[NetworkName, Fixture]>([
    ['testnet4', witnessed],
    ['testnet3', bare],
    ['regtest', regtest],
    ['regtest', load(join(samples, 'regtest/blocks'), '0000000-')],
    ['mainnet', load(join(samples, 'mainnet/blocks'), '0767430-')],
    ['mainnet', load(join(samples, 'mainnet/blocks'), '0781735-')],
    ['mainnet', load(join(samples, 'mainnet/blocks'), '0951658-')],
  ])('is accepted on %s', (network, fixture) => {
    expect(verify(fixture, network)).toEqual({ ok: true });
  });

  test('is accepted again after one that was refused', () => {
    expect(verify(witnessed, 'testnet4', witnessed.bytes.slice(0, -1)).ok).toBe(false);
    expect(verify(witnessed, 'testnet4')).toEqual({ ok: true });
  });
});

describe('a block that was changed', () => {
  test('by any single bit is refused', () => {
    const changed = Uint8Array.from(witnessed.bytes);
    const accepted: number[] = [];
    // All bits would take seconds. This tests every bit of the header, and enough others to cover each bit position of
    // a byte.
    const step = sampleStep(11);
    for (let bit = 0; bit < changed.length * 8; bit += bit < 80 * 8 ? 1 : step) {
      changed[bit >> 3]! ^= 1 << (bit & 7);
      if (verify(witnessed, 'testnet4', changed).ok) accepted.push(bit);
      changed[bit >> 3]! ^= 1 << (bit & 7);
    }
    expect(accepted).toEqual([]);
    expect(verify(witnessed, 'testnet4', changed)).toEqual({ ok: true });
  });

  test('by any single byte of a larger one is refused', () => {
    fc.assert(
      fc.property(fc.nat(regtest.bytes.length - 1), fc.integer({ min: 1, max: 255 }), (at, mask) => {
        const changed = Uint8Array.from(regtest.bytes);
        changed[at]! ^= mask;
        expect(verify(regtest, 'regtest', changed).ok).toBe(false);
      }),
      { numRuns: propertyRuns(300) },
    );
  });

  test('by a cut anywhere is refused as truncated, as long as its header is whole', () => {
    for (let length = 80; length < witnessed.bytes.length; length += 7) {
      expect(verify(witnessed, 'testnet4', witnessed.bytes.slice(0, length))).toMatchObject({
        ok: false,
        code: 'block_truncated',
      });
    }
    expect(verify(witnessed, 'testnet4', new Uint8Array(0))).toMatchObject({ code: 'block_truncated' });
  });

  test('by bytes after it is refused as oversized', () => {
    const longer = new Uint8Array(bare.bytes.length + 1);
    longer.set(bare.bytes);
    expect(verify(bare, 'testnet3', longer)).toMatchObject({ ok: false, code: 'block_oversized' });
    expect(verify(bare, 'testnet3', new Uint8Array(4_000_001))).toMatchObject({ code: 'block_oversized' });
  });

  test('into any bytes at all never throws', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (tail) => {
        const bytes = new Uint8Array(80 + tail.length);
        bytes.set(bare.bytes.subarray(0, 80));
        bytes.set(tail, 80);
        expect(verify(bare, 'testnet3', bytes).ok).toBe(false);
      }),
      { numRuns: propertyRuns(1000) },
    );
  });
});

describe('a header', () => {
  test('of another block than the name says is refused', () => {
    expect(verify({ ...bare, hash: witnessed.hash }, 'testnet3')).toMatchObject({
      code: 'block_corrupt',
      at: 0,
    });
  });

  test('with regtest’s proof of work is refused on any other network', () => {
    for (const network of ['mainnet', 'testnet3', 'testnet4', 'signet'] as const) {
      expect(verify(regtest, network)).toMatchObject({ ok: false, code: 'block_corrupt', at: 72 });
    }
  });

  test('whose hash is above the target it claims is refused', () => {
    const bytes = Uint8Array.from(regtest.bytes);
    new DataView(bytes.buffer).setUint32(72, 0x1d00ffff, true);
    const hash = asBlockHash(doubleSha256(bytes.subarray(0, 80)));
    expect(verify({ bytes, hash, height: asHeight(165) }, 'regtest')).toMatchObject({
      code: 'block_corrupt',
      at: 72,
    });
  });

  test.each([0, 0x01003456, 0x04923456, 0xff123456, 0x217fffff, 0x20ffffff])(
    'that claims the target %i is refused',
    (bits) => {
      const bytes = Uint8Array.from(regtest.bytes);
      new DataView(bytes.buffer).setUint32(72, bits, true);
      const hash = asBlockHash(doubleSha256(bytes.subarray(0, 80)));
      expect(verify({ bytes, hash, height: asHeight(165) }, 'regtest')).toMatchObject({
        code: 'block_corrupt',
        at: 72,
      });
    },
  );
});

/** The bytes of a block with other transactions after its header. There may be at most 252. */
function withTransactions(block: Uint8Array, transactions: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(
    Buffer.concat([block.subarray(0, 80), Buffer.from([transactions.length]), ...transactions]),
  );
}
const transactionsOf = (block: Uint8Array): Uint8Array[] =>
  outlineBlock(block).map(({ start, end }) => block.subarray(start, end));

describe('transactions', () => {
  test('that are doubled at the end, with the same merkle root, are refused (CVE-2012-2459)', () => {
    const whole = transactionsOf(regtest.bytes);
    const odd = remine(
      withTransactions(
        regtest.bytes,
        whole.slice(0, 3).map((tx, index) => (index === 0 ? withoutCommitment(tx) : strip(tx))),
      ),
    );
    expect(verify(odd, 'regtest')).toEqual({ ok: true });
    const three = transactionsOf(odd.bytes);
    const doubled = withTransactions(odd.bytes, [...three, three[2]!]);
    expect(verify(odd, 'regtest', doubled)).toMatchObject({
      code: 'block_corrupt',
      message: expect.stringMatching(/CVE-2012-2459/u) as string,
    });
  });

  test('in another order are refused', () => {
    const [coinbase, first, second, ...others] = transactionsOf(regtest.bytes);
    const swapped = withTransactions(regtest.bytes, [coinbase!, second!, first!, ...others]);
    expect(verify(regtest, 'regtest', swapped)).toMatchObject({ code: 'block_corrupt', at: 36 });
  });

  test('that are not transactions are refused', () => {
    expect(verify(regtest, 'regtest', withTransactions(regtest.bytes, [])).ok).toBe(false);
  });
});

/** Removes the witness of a transaction. */
function strip(transaction: Uint8Array): Uint8Array {
  const block = withTransactions(regtest.bytes, [transaction]);
  return Uint8Array.from(strippedTransaction(block, outlineBlock(block)[0]!));
}
/** A coinbase without a witness, and with a destroyed commitment. */
function withoutCommitment(coinbase: Uint8Array): Uint8Array {
  const bytes = Buffer.from(strip(coinbase));
  const at = bytes.indexOf(Buffer.from('6a24aa21a9ed', 'hex'));
  bytes[at + 2] = 0;
  return bytes;
}

describe('witnesses', () => {
  const whole = transactionsOf(regtest.bytes);

  test('that were cut off are noticed, if the coinbase commits to them', () => {
    const bytes = withTransactions(regtest.bytes, whole.map(strip));
    expect(verify(regtest, 'regtest', bytes)).toMatchObject({
      code: 'block_corrupt',
      message: expect.stringMatching(/32 bytes/u) as string,
    });
  });

  test('that were cut off from all but the coinbase do not match', () => {
    const bytes = withTransactions(
      regtest.bytes,
      whole.map((tx, index) => (index === 0 ? tx : strip(tx))),
    );
    expect(verify(regtest, 'regtest', bytes)).toMatchObject({ code: 'block_corrupt' });
  });

  test('without a commitment are refused', () => {
    const block = remine(withTransactions(regtest.bytes, [withoutCommitment(whole[0]!), ...whole.slice(1)]));
    expect(verify(block, 'regtest')).toMatchObject({
      code: 'block_corrupt',
      message: expect.stringMatching(/without a commitment/u) as string,
    });
  });

  test('are not required below the height of the rule, even if the coinbase looks like a commitment', () => {
    const block = remine(withTransactions(regtest.bytes, whole.map(strip)));
    expect(verify(block, 'regtest').ok).toBe(false);
    // the same block on a network where this rule is not active yet; only the proof of work is wrong
    expect(
      verifyBlock(block.bytes, { ...block, height: asHeight(834_623), network: 'testnet3' }),
    ).toMatchObject({
      at: 72,
    });
  });

  test('of a transaction with a marker but no witness are refused', () => {
    const bare = strip(whole[1]!);
    const marked = Buffer.concat([
      bare.subarray(0, 4),
      Buffer.from([0, 1]),
      bare.subarray(4, -4),
      Buffer.from([0]),
      bare.subarray(-4),
    ]);
    const bytes = withTransactions(regtest.bytes, [withoutCommitment(whole[0]!), marked]);
    expect(verifyBlock(bytes, { ...regtest, network: 'regtest' })).toMatchObject({
      code: 'block_corrupt',
      message: expect.stringMatching(/no witness/u) as string,
    });
  });
});
