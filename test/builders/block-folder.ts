import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { displayHash } from '#kernel/primitives/hash.ts';
import type { RawBlock } from './block.ts';
import { ByteWriter } from './byte-writer.ts';
import type { Output } from './transaction.ts';

/** The outputs that a block spends, grouped by transaction, in the format of `/rest/spenttxouts/<hash>.bin`. */
export class SpentWriter {
  readonly #out = new ByteWriter(1 << 20);
  #transactions = 0;

  add(outputs: readonly Output[]): void {
    this.#out.compactSize(outputs.length);
    for (const output of outputs) {
      this.#out.u64(output.value);
      this.#out.sized(output.script);
    }
    this.#transactions++;
  }

  /** Returns the encoding, with the coinbase's empty entry first. The writer is then empty. */
  finish(): Uint8Array {
    const head = new ByteWriter(8);
    head.compactSize(this.#transactions + 1);
    head.compactSize(0);
    const bytes = Buffer.concat([head.view(), this.#out.view()]);
    this.#out.clear();
    this.#transactions = 0;
    return bytes;
  }
}

/** The description of a generated chain. It is stored next to the chain as `generated.json`. */
export type Description = Record<string, number | string>;

/** Writes blocks one after another into `<dir>/blocks` and `<dir>/spent`. */
export class BlockFolder {
  readonly #headers: { height: number; hash: string }[] = [];
  readonly #dir: string;

  constructor(dir: string) {
    this.#dir = dir;
    mkdirSync(join(dir, 'blocks'), { recursive: true });
    mkdirSync(join(dir, 'spent'), { recursive: true });
  }

  add(height: number, block: RawBlock, spent: Uint8Array | null): void {
    const hash = displayHash(block.hash);
    const name = `${String(height).padStart(7, '0')}-${hash}.bin`;
    writeFileSync(join(this.#dir, 'blocks', name), block.bytes);
    if (spent !== null) writeFileSync(join(this.#dir, 'spent', name), spent);
    this.#headers.push({ height, hash });
  }

  finish(gaps: boolean, description: Description): void {
    const chain = { network: 'regtest', ...(gaps ? { gaps } : {}), headers: this.#headers };
    writeFileSync(join(this.#dir, 'chain.json'), JSON.stringify(chain, null, 1));
    writeFileSync(join(this.#dir, 'generated.json'), JSON.stringify(description, null, 1));
  }
}

/** Makes a folder only once. A half-written folder of an interrupted run is never used as a complete folder. */
export function cachedFolder(dir: string, make: (folder: BlockFolder) => void): Description {
  if (!existsSync(dir)) {
    const unfinished = `${dir}.unfinished`;
    rmSync(unfinished, { recursive: true, force: true });
    mkdirSync(dirname(dir), { recursive: true });
    make(new BlockFolder(unfinished));
    renameSync(unfinished, dir);
  }
  return JSON.parse(readFileSync(join(dir, 'generated.json'), 'utf8')) as Description;
}
