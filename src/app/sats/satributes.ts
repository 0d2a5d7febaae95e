import { open } from 'node:fs/promises';
import type { Config } from '#config/config.ts';
import type { BlockSource } from '#kernel/contracts/block-source.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { NetworkName } from '#kernel/primitives/network.ts';
import { Repeats } from '#kernel/reports/repeats.ts';
import { pause } from '#kernel/retry.ts';
import type { Satribute } from '#kernel/satributes/satribute.ts';
import type { SatributeBook } from '#kernel/satributes/satribute-book.ts';
import { readSatributeFile, satributeFileBytesMax } from '#kernel/satributes/satribute-file.ts';
import type { BitcoinNode } from '#node/bitcoin-node.ts';
import { followProvenance } from '#sat-ranges/follow-provenance.ts';
import { NodeTraceSource } from '#sat-ranges/node-trace-source.ts';
import { SatributesInForce } from '#sat-ranges/satributes-in-force.ts';
import type { CommandContext } from '#src/app/command-context.ts';
import type { AnsweringDatabase, Database } from '#src/app/database/database.ts';

/**
 * How often the results are read, in ms. The table has a few rows. A result takes hours to make, so it may be seen some
 * seconds late.
 */
const lookEveryMs = 5_000;
/** The byte order mark that some editors write before the text. */
const byteOrderMark = /^\u{feff}/u;
/** Maximum number of sentences in one error. */
const wrongShown = 10;

/**
 * Reads the rules of SATRIBUTES_FILE. Empty if the setting is missing. Throws `config_invalid`, which names the wrong
 * entries.
 */
export async function readOwnSatributes({ satributesFile }: Config): Promise<readonly Satribute[]> {
  if (satributesFile === undefined) return [];
  const file = readSatributeFile(await textOf(satributesFile));
  if (file.kind === 'read') return file.satributes;
  const { wrong } = file;
  const lines = wrong.slice(0, wrongShown).map((line) => `${satributesFile}: ${line}`);
  if (wrong.length > wrongShown) lines.push(`and ${wrong.length - wrongShown} others`);
  throw invalid(lines.join('\n'));
}

/** Reads the text of a file. Throws `config_invalid`. */
async function textOf(path: string): Promise<string> {
  try {
    const file = await open(path);
    try {
      const stat = await file.stat();
      // check this first, because only a regular file has a known size
      if (!stat.isFile()) throw invalid(`${path} is not a regular file`);
      if (stat.size <= satributeFileBytesMax) return (await file.readFile('utf8')).replace(byteOrderMark, '');
      throw invalid(`${path} has ${stat.size} bytes, but at most ${satributeFileBytesMax} are allowed`);
    } finally {
      await file.close();
    }
  } catch (error) {
    if (error instanceof AppError) throw error;
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    throw invalid(`${path} cannot be read (${code})`);
  }
}

const invalid = (what: string): AppError => new AppError('config_invalid', `SATRIBUTES_FILE: ${what}`);

/**
 * Opens the satribute definitions, from the settings and the database, and keeps them current for the life of the
 * process. Throws `config_invalid`, or the reason why the database cannot be read.
 */
export async function openSatributes(
  { config, lifecycle, logger }: CommandContext,
  { readers }: AnsweringDatabase,
  network: NetworkName,
): Promise<() => SatributeBook> {
  const inForce = new SatributesInForce(readers, network, await readOwnSatributes(config));
  const now = (): SatributeBook => inForce.book;
  if (!inForce.changes) return now;
  const log = logger.child({ part: 'satributes' });
  const repeats = new Repeats();
  const look = async (): Promise<void> => {
    try {
      await inForce.refresh();
      repeats.reset();
    } catch (error) {
      // the earlier definitions stay valid
      if (repeats.isDue(String(error)))
        log.warn({ err: error }, 'the file of satributes cannot be read again');
    }
  };
  // read the stored results first, because an order that needs them would fail without them
  await inForce.refresh();
  lifecycle
    .run('satributes', async (signal) => {
      while (!signal.aborted) {
        await pause(lookEveryMs, signal);
        if (!signal.aborted) await look();
      }
    })
    .catch((error: unknown) => lifecycle.fail(error));
  return now;
}

/** Traces the outputs that satributes are defined by, for the life of a process that indexes from a node. */
export function startProvenance(
  { lifecycle, logger }: CommandContext,
  { url }: Pick<Database, 'url'>,
  satributes: () => SatributeBook,
  node: BitcoinNode,
  blocks: BlockSource,
): void {
  const { outputs } = satributes();
  if (lifecycle.signal.aborted || outputs.length === 0) return;
  const log = logger.child({ part: 'satributes' });
  const openSource = (): NodeTraceSource => new NodeTraceSource(node.rpc, blocks);
  const { hasCookieFile } = node;
  lifecycle
    .run('provenance', (signal) => followProvenance({ url, openSource, outputs, signal, log, hasCookieFile }))
    .catch((error: unknown) => {
      // these satributes stay unknown; everything else is served
      if (!(error instanceof AppError)) lifecycle.fail(error);
      else log.error({ code: error.code, err: error }, 'outputs of satributes are no longer traced');
    });
}
