import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SourceFile } from '#test/builders/repeated-blocks.ts';

/** ord's first inscription height. Mainnet blocks below it have no inscriptions. */
const firstInscriptionHeight = 767_430;

/**
 * Reads raw blocks by height, from a block folder (`blocks/`, `spent/`) or from any folder of `HEIGHT-HASH.bin` files.
 * It reads only blocks that can have inscriptions if the heights are those of mainnet.
 */
export function readBlockFiles(dir: string): SourceFile[] {
  const blocks = existsSync(join(dir, 'blocks')) ? join(dir, 'blocks') : dir;
  const files = readdirSync(blocks).flatMap((name) => {
    const height = /^(\d+)-[0-9a-f]{64}\.bin$/.exec(name)?.[1];
    return height === undefined ? [] : [{ name, height: Number(height) }];
  });
  const inEra = files.filter(({ height }) => height >= firstInscriptionHeight);
  const chosen = (inEra.length > 0 ? inEra : files).toSorted((a, b) => a.height - b.height);
  if (chosen.length === 0) throw new Error(`no files named HEIGHT-HASH.bin in ${blocks}`);
  return chosen.map(({ name, height }) => {
    const spent = join(dir, 'spent', name);
    return {
      height,
      // a copy outside of Node's pool, so that the buffer holds only this block
      bytes: new Uint8Array(readFileSync(join(blocks, name))),
      spent: existsSync(spent) ? new Uint8Array(readFileSync(spent)) : null,
    };
  });
}
