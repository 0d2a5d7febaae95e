import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { AppError } from '#kernel/errors/app-error.ts';
import { networkNames } from '#kernel/primitives/network.ts';

/** Maximum height in file names. Its seven digits are enough for more than a century. */
const heightMax = 9_999_999;

const height = Type.Integer({ minimum: 0, maximum: heightMax });
const hash = Type.String({ pattern: '^[0-9a-fA-F]{64}$' });
const counter = Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }));

const headers = Type.Array(Type.Object({ height, hash }));

/** `chain.json` of a block folder (docs/architecture.md, "Block folders"). Other keys are ignored. */
const chainFile = Type.Object({
  network: Type.Enum([...networkNames]),
  /** The best chain, ascending. Needed if two files have the same height. */
  headers: Type.Optional(headers),
  /** True if blocks are missing. Each run of consecutive blocks is then an island. */
  gaps: Type.Optional(Type.Boolean()),
  /** Other branches among the files, for information only: `--tip` finds them by itself. */
  staleBranches: Type.Optional(
    Type.Array(Type.Object({ tip: Type.Optional(hash), headers: Type.Optional(headers) })),
  ),
  /** Running totals just before the island that begins at `height`. Totals without proof are omitted. */
  islands: Type.Optional(
    Type.Array(
      Type.Object({
        height,
        start: Type.Optional(
          Type.Object({
            sequence: counter,
            blessed: counter,
            cursed: counter,
            unbound: counter,
            lostSats: counter,
          }),
        ),
      }),
    ),
  ),
});
export type ChainFile = Static<typeof chainFile>;
const validator = Compile(chainFile);

/** Reads `chain.json`. Throws `folder_invalid` if it is missing, is not JSON, or lacks required fields. */
export async function readChainFile(dir: string): Promise<ChainFile> {
  const path = join(dir, 'chain.json');
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    const what = isMissing ? await missingOf(dir) : `${path} cannot be read: ${reason(error)}`;
    throw new AppError('folder_invalid', what, { dir }, error);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new AppError('folder_invalid', `${path} is not JSON: ${reason(error)}`, { dir }, error);
  }
  if (!validator.Check(value)) throw invalid(path, dir, value);
  return value;
}

/** Describes what a folder without a chain.json contains. */
async function missingOf(dir: string): Promise<string> {
  const names = await readdir(dir).catch((error: NodeJS.ErrnoException) =>
    error.code === 'ENOENT' ? null : ([] as string[]),
  );
  if (names === null) return `The folder ${dir} does not exist.`;
  const lacks = ['chain.json', 'blocks'].filter((name) => !names.includes(name)).join(' and no ');
  const isNode = names.some((name) => /^(?:blk\d+\.dat|chainstate)$/u.test(name));
  const hint = isNode ? ' It is the folder of a node. Name the node with --node instead.' : '';
  return `${dir} has no ${lacks}, so it is not a folder of blocks.${hint}`;
}

function invalid(path: string, dir: string, value: unknown): AppError {
  const first = validator.Errors(value)[0];
  const at = first?.instancePath ?? '';
  const what =
    at === '/network'
      ? `must be one of ${networkNames.join(', ')}`
      : (first?.message ?? 'is not in the required form');
  return new AppError(
    'folder_invalid',
    `${path}: ${at === '' ? 'it' : at.slice(1).replaceAll('/', '.')} ${what}`,
    {
      dir,
      path: at,
    },
  );
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
