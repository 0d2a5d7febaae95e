import type pg from 'pg';
import type { ApprovalOptions } from '#collections/approving/approval-faults.ts';
import type { ContentsDisk, OwnContents } from '#collections/approving/contents-disk.ts';
import type { MarketListing } from '#collections/approving/market-listing.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { createPool } from '#kernel/pg/pool.ts';
import { openSoldCollection, soldSlugProblem } from '#market/collections/sold-collection.store.ts';
import { CustomerFiles } from '#orders/files/customer-files.ts';
import { fileBytesMax, freeBytesMin } from '#orders/files/file-bounds.ts';
import { OwnFiles } from '#orders/files/own-files.ts';
import { OutgoingHttp } from '#outgoing/outgoing-http.ts';
import type { CommandContext } from '#src/app/command-context.ts';
import { openDatabase } from '#src/app/database/database.ts';
import { filesDirOf } from './files-dir.ts';

/** Maximum number of connections: one stores fetched contents while the other stores decisions. */
const connectionsMax = 2;
/** How long a statement may take, in ms. Creating 100,000 items takes some seconds. */
const statementTimeoutMs = 60_000;

/** Parts that the operator's commands for collections on sale need. */
export interface MintParts {
  readonly pool: pg.Pool;
  readonly disk: ContentsDisk;
  readonly own: OwnContents;
  readonly outgoing: OutgoingHttp;
  readonly market: MarketListing;
  readonly signal: AbortSignal;
  readonly options: ApprovalOptions;
}

/**
 * Runs a command on collections for sale, with the database and the file disk of the settings. A service may run at the
 * same time.
 */
export async function withMint(
  context: CommandContext,
  work: (parts: MintParts) => Promise<void>,
): Promise<void> {
  const { flags, lifecycle } = context;
  const { url } = await openDatabase(context, 'existing');
  const pool = createPool(url, {
    applicationName: 'satscribe mint',
    max: connectionsMax,
    statementTimeoutMs,
  });
  lifecycle.add('mint connections', () => pool.end());
  const parts = openMint(context, pool);
  const options = { ...parts.options, allowsDoubles: flags['allow-doubles'] !== undefined };
  await lifecycle.run('mint', (signal) => work({ ...parts, options, signal }));
}

/** The parts of approvals that come from the settings. Two files with the same bytes are refused. */
export function openMint({ config, lifecycle }: CommandContext, pool: pg.Pool): Omit<MintParts, 'signal'> {
  const outgoing = new OutgoingHttp({ allowPrivate: config.allowPrivateUrls });
  lifecycle.add('requests for files of collections', () => outgoing.close());
  const files = new CustomerFiles(filesDirOf(config));
  return {
    pool,
    disk: diskOf(files),
    own: ownContents(pool, files, config.publicUrl),
    outgoing,
    market,
    options: {
      allowsDoubles: false,
      bytesMax: fileBytesMax,
      nonStandard: config.nonstandardMinerUrl !== undefined,
    },
  };
}

/** Stores contents on disk. Throws `mint_disk_full` if the disk has no space for a content. */
const diskOf = (files: CustomerFiles): ContentsDisk => ({
  put: async (content) => {
    const free = await files.freeBytes();
    if (free - content.length < freeBytesMin)
      throw new AppError('mint_disk_full', `The disk of FILES_DIR has only ${free} bytes left.`, { free });
    return files.put(content);
  },
  bytesOf: (sha256) => files.bytesOf(sha256),
});

/**
 * Reads files of this service from disk. Their URLs begin with the origin of PUBLIC_URL or with an origin of this
 * machine. Uploads have an origin of this machine if PUBLIC_URL is not set, and a fetch is not allowed to reach it.
 */
function ownContents(pool: pg.Pool, files: CustomerFiles, publicUrl: string | undefined): OwnContents {
  const own = new OwnFiles({ pool, files }, publicUrl === undefined ? [] : [publicUrl]);
  return {
    read: async (url, signal) => {
      if (own.isOwn(url)) return (await own.find([url], signal)).read(url);
      if (!isOfThisMachine(url)) return null;
      const local = new OwnFiles({ pool, files }, [url]);
      const content = local.isOwn(url) ? await (await local.find([url], signal)).read(url) : null;
      // return null if it is not found here, because another program of this machine may serve this URL
      return typeof content === 'string' ? null : content;
    },
  };
}

const isOfThisMachine = (url: string): boolean =>
  URL.canParse(url) && /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/u.test(new URL(url).hostname);

const market: MarketListing = {
  slugProblem: soldSlugProblem,
  open: (tx, { id, name, shown }) => {
    const { description, website, twitter, discord } = shown;
    return openSoldCollection(tx, { slug: id, name, description, website, twitter, discord });
  },
};
