import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { cachedFolder, type Description } from '#test/builders/block-folder.ts';
import { type ChainOptions, generateInscriptionChain } from '#test/builders/inscription-chain.ts';
import { numberOption } from '../options.ts';
import { runIndex } from './index-process.ts';

/** The folder of generated chains and databases. It is not in the repository. */
export const benchData = join(import.meta.dirname, '..', 'data');

export interface GeneratedChain {
  readonly options: ChainOptions;
  /** The folder of the blocks. */
  readonly dir: string;
  /** The folder of the database for the search bench. */
  readonly dataDir: string;
  readonly description: Description;
}

/** Minimum number of inscriptions. Fewer would fit into one commit, from which no rate can be computed. */
const leastInscriptions = 30_000;
/** Version of the generators. A new version makes other chains from the same seed. */
const generatorVersion = 1;

/** A short name that is unique for these parameters. */
export function parametersName(parameters: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify([generatorVersion, parameters]))
    .digest('hex')
    .slice(0, 12);
}

/** The parameters of a generated chain, from the command line. */
export interface GeneratedChainArguments {
  readonly docs: string;
  readonly moves: string;
  readonly seed: string;
  /** Share of inscriptions with metadata, 0 to 1. Default: none. */
  readonly metadata?: string;
}

/** Returns the chain of small text inscriptions. It is generated on first use. */
export function generatedChain({ docs, moves, seed, metadata }: GeneratedChainArguments): GeneratedChain {
  const options: ChainOptions = {
    seed,
    inscriptions: numberOption('docs', docs, leastInscriptions),
    shareOfCopies: 0.8,
    revealsPerBlock: 3000,
    shareOfMoves: numberOption('moves', moves, 0),
    tipBlocks: 7,
    revealsPerTipBlock: 5000,
    ...(metadata === undefined ? {} : { shareOfMetadata: numberOption('metadata', metadata, 0) }),
  };
  const dir = join(benchData, `generated-${parametersName(options)}`);
  const description = cachedFolder(dir, (folder) => generateInscriptionChain(folder, options));
  return { options, dir, dataDir: `${dir}-database`, description };
}

/** Returns a data folder in which the complete chain is indexed and sealed. It is made on first use. */
export async function indexedChain(chain: GeneratedChain): Promise<string> {
  if (!existsSync(chain.dataDir)) {
    await runIndex({
      folder: chain.dir,
      dataDir: chain.dataDir,
      bulkUntil: chain.description['bulkHeight'] as number,
      tip: true,
      stages: false,
    });
  }
  return chain.dataDir;
}
