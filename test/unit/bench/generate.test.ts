import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Block, type Transaction } from 'bitcoinjs-lib';
import { afterAll, describe, expect, test } from 'vitest';
import { readBlockFiles } from '#bench/block-files.ts';
import { verifyBlock } from '#indexer/source/verify-block.ts';
import { displayHash, parseBlockHash } from '#kernel/primitives/hash.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { BlockFolder, cachedFolder } from '#test/builders/block-folder.ts';
import { type ChainOptions, generateInscriptionChain } from '#test/builders/inscription-chain.ts';
import { generateRepeatedBlocks } from '#test/builders/repeated-blocks.ts';

const root = mkdtempSync(join(tmpdir(), 'satscribe-generate-'));
afterAll(() => rmSync(root, { recursive: true }));

const options: ChainOptions = {
  seed: 'test',
  inscriptions: 400,
  shareOfCopies: 0.8,
  revealsPerBlock: 100,
  shareOfMoves: 0.1,
  tipBlocks: 1,
  revealsPerTipBlock: 300,
};

function chain(name: string, changed: Partial<ChainOptions> = {}): string {
  const dir = join(root, name);
  generateInscriptionChain(new BlockFolder(dir), { ...options, ...changed });
  return dir;
}

function blocksOf(dir: string): { name: string; block: Block; bytes: Buffer }[] {
  return readdirSync(join(dir, 'blocks'))
    .toSorted((a, b) => (a < b ? -1 : 1))
    .map((name) => {
      const bytes = readFileSync(join(dir, 'blocks', name));
      return { name, bytes, block: Block.fromBuffer(bytes) };
    });
}

function verified(name: string, bytes: Buffer): unknown {
  const hash = parseBlockHash(name.slice(8, 72))!;
  return verifyBlock(new Uint8Array(bytes), {
    hash,
    height: asHeight(Number(name.slice(0, 7))),
    network: 'regtest',
  });
}

describe('a generated chain of inscriptions', () => {
  test('is the same for the same seed and another for another seed', () => {
    const headers = (dir: string): string => readFileSync(join(dir, 'chain.json'), 'utf8');
    const first = headers(chain('same-1'));
    expect(headers(chain('same-2'))).toBe(first);
    expect(headers(chain('other', { seed: 'other' }))).not.toBe(first);
  });

  test('has linked blocks with proof of work, merkle roots and commitments that hold', () => {
    const blocks = blocksOf(chain('valid'));
    expect(displayHash(blocks[0]!.block.getHash())).toBe(blocks[0]!.name.slice(8, 72));
    let previous = blocks[0]!.block.getHash();
    for (const { name, block, bytes } of blocks.slice(1)) {
      expect(Buffer.from(block.prevHash!).equals(Buffer.from(previous))).toBe(true);
      previous = block.getHash();
      expect(displayHash(previous)).toBe(name.slice(8, 72));
      expect(block.checkProofOfWork()).toBe(true);
      expect(block.checkTxRoots()).toBe(true);
      expect(Buffer.from(block.toBuffer()).equals(bytes)).toBe(true);
      expect(verified(name, bytes)).toEqual({ ok: true });
    }
  });

  test('spends only outputs that are there, and says which', () => {
    const dir = chain('spends');
    const unspent = new Map<string, string>();
    let spends = 0;
    const make = (transaction: Transaction): void => {
      transaction.outs.forEach((output, vout) => {
        const value = Buffer.alloc(8);
        value.writeBigUInt64LE(output.value);
        const encoded = Buffer.concat([value, Buffer.from([output.script.length]), output.script]);
        unspent.set(`${Buffer.from(transaction.getHash()).toString('hex')}:${vout}`, encoded.toString('hex'));
      });
    };
    for (const { name, block } of blocksOf(dir).slice(1)) {
      const spent = readFileSync(join(dir, 'spent', name)).toString('hex');
      let fees = 0n;
      let expected = '';
      for (const transaction of block.transactions!.slice(1)) {
        for (const input of transaction.ins) {
          const outpoint = `${Buffer.from(input.hash).toString('hex')}:${input.index}`;
          const output = unspent.get(outpoint);
          expect(output).toBeDefined();
          unspent.delete(outpoint);
          expected += output;
          fees += Buffer.from(output!, 'hex').readBigUInt64LE();
          spends++;
        }
        for (const output of transaction.outs) fees -= output.value;
        make(transaction);
      }
      make(block.transactions![0]!);
      const height = Number(name.slice(0, 7));
      const subsidy = BigInt(Math.floor(5_000_000_000 / 2 ** Math.floor(height / 150)));
      expect(block.transactions![0]!.outs[0]!.value).toBe(subsidy + fees);
      const outputs = Array.from(spent.matchAll(/[0-9a-f]{16}225120[0-9a-f]{64}/g), String).join('');
      expect(outputs).toBe(expected);
    }
    expect(spends).toBeGreaterThan(700);
  });

  test('is made once for its folder', () => {
    let made = 0;
    const make = (): string | number | undefined =>
      cachedFolder(join(root, 'cached'), (folder) => {
        made++;
        folder.finish(false, { answer: 42 });
      })['answer'];
    expect([make(), make(), made]).toEqual([42, 42, 1]);
  });
});

describe('repeated blocks', () => {
  test('keep their roots and links, and have no transaction twice', () => {
    const files = readBlockFiles('samples/regtest').slice(100);
    const dir = join(root, 'repeated');
    const once = files.reduce((sum, file) => sum + file.bytes.length, 0);
    generateRepeatedBlocks(new BlockFolder(dir), files, 2 * once);
    const blocks = blocksOf(dir);
    expect(blocks).toHaveLength(2 * files.length);
    const txids = new Set<string>();
    let links = 0;
    for (const [index, { name, block, bytes }] of blocks.entries()) {
      expect(verified(name, bytes)).toEqual({ ok: true });
      expect(block.checkTxRoots()).toBe(true);
      const original = Block.fromBuffer(Buffer.from(files[index % files.length]!.bytes));
      block.transactions!.forEach((transaction, place) => {
        txids.add(transaction.getId());
        transaction.ins.forEach((input, at) => {
          const made = txids.has(displayHash(input.hash));
          const before = original.transactions![place]!.ins[at]!;
          // inputs that spend nothing from the folder stay unchanged
          if (!made) expect(Buffer.from(input.hash)).toEqual(Buffer.from(before.hash));
          if (made) links++;
        });
      });
    }
    expect(txids.size).toBe(blocks.reduce((sum, { block }) => sum + block.transactions!.length, 0));
    expect(links).toBeGreaterThan(100);
  });
});
