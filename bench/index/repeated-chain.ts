import { join } from 'node:path';
import { cachedFolder, type Description } from '#test/builders/block-folder.ts';
import { generateRepeatedBlocks } from '#test/builders/repeated-blocks.ts';
import { readBlockFiles } from '../block-files.ts';
import { benchData, parametersName } from './generated-chain.ts';

export interface RepeatedChain {
  /** The block folder. */
  readonly dir: string;
  /** Number of real blocks that are repeated. */
  readonly blocks: number;
  readonly description: Description;
}

/** A chain of real blocks that are repeated until it has `leastBytes`, generated on first use. */
export function repeatedChain(blocks: string, leastBytes: number): RepeatedChain {
  const files = readBlockFiles(blocks);
  const name = parametersName([files.map((file) => [file.height, file.bytes.length]), leastBytes]);
  const dir = join(benchData, `repeated-${name}`);
  const description = cachedFolder(dir, (made) => generateRepeatedBlocks(made, files, leastBytes));
  return { dir, blocks: files.length, description };
}
