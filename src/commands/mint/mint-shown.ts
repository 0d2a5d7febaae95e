import { unknownMint } from '#collections/approving/approval-errors.ts';
import { countFiles, type FileCounts } from '#collections/approving/count-files.queries.ts';
import { type ApprovalPreview, previewApproval } from '#collections/approving/preview-approval.ts';
import {
  type Collection,
  type CollectionState,
  collectionStates,
  listCollections,
  type MeasuredCollection,
  readAverageBytes,
  readCollection,
} from '#collections/collection/collection.store.ts';
import { type CollectionFile, readFiles } from '#collections/collection/files.store.ts';
import { type ListedPhase, readListedPhases } from '#collections/collection/phases.store.ts';
import { isOpen } from '#collections/selling/choose-phase.ts';
import { shownAmount } from '#kernel/runes/shown-amount.ts';
import { trustedU128 } from '#kernel/runes/u128.ts';
import { terminalText } from '#kernel/text/terminal-text.ts';
import { type CommandContext, UsageError } from '#src/app/command-context.ts';
import { withMint } from '#src/app/ordering/mint.ts';
import { shownTime, withService } from '#src/commands/service-database.ts';

const listedDefault = 100;
const filesDefault = 10;
const limitMost = 10_000;

/** Lists collections, the oldest first. */
export async function list(context: CommandContext): Promise<void> {
  const { flags, print } = context;
  const limit = limitOf(context, listedDefault);
  const state = stateOf(flags['state']);
  const after = flags['after'] ?? null;
  await withService(context, async (pool) => {
    if (after !== null && (await readCollection(pool, after)) === null) throw unknownMint(after);
    const found = await listCollections(pool, state, { after, limit });
    if (flags['json'] !== undefined) return print(`${JSON.stringify(found.map(collectionJson))}\n`);
    if (found.length === 0)
      return print(
        `no ${state ?? ''}${state === null ? '' : ' '}collections; creators send collections to POST /collection-create\n`,
      );
    const head = tableLine(['ID', 'STATE', 'ITEMS', 'SOLD', 'UNPAID', 'PRICE', 'CREATED']);
    await print(`${head}${found.map(collectionLine).join('')}`);
  });
}

function limitOf({ flags }: CommandContext, fallback: number): number {
  const limit = Number(flags['limit'] ?? fallback);
  if (!Number.isInteger(limit) || limit < 1 || limit > limitMost)
    throw new UsageError(`--limit must be a number from 1 to ${limitMost}`);
  return limit;
}

function stateOf(given: string | undefined): CollectionState | null {
  const state = collectionStates.find((name) => name === given);
  if (given !== undefined && state === undefined)
    throw new UsageError(`--state ${given} must be one of ${collectionStates.join(', ')}`);
  return state ?? null;
}

const tableLine = ([
  id = '',
  state = '',
  items = '',
  sold = '',
  unpaid = '',
  price = '',
  created = '',
]: readonly string[]) =>
  `${id.padEnd(24)} ${state.padEnd(8)} ${items.padStart(6)} ${sold.padStart(6)} ${unpaid.padStart(6)} ${price.padStart(10)}  ${created}\n`;

const collectionLine = ({ id, state, totalCount, taken, unpaid, price, createdAt }: Collection): string =>
  tableLine([
    id,
    state,
    String(totalCount),
    String(taken - unpaid),
    String(unpaid),
    String(price),
    createdAt.toISOString().slice(0, 10),
  ]);

const collectionJson = ({
  keyHash,
  price,
  runePrice,
  taken,
  unpaid,
  averageBytes,
  ...shown
}: MeasuredCollection) => ({
  ...shown,
  price: Number(price),
  runeAccount: runePrice?.account ?? null,
  keyHash: keyHash?.toString('hex') ?? null,
  sold: taken - unpaid,
  unpaid,
  averageBytes,
});

/** Shows a collection. If it is pending, also shows the effect of an approval. */
export async function show(context: CommandContext, id: string): Promise<void> {
  const { flags, print } = context;
  const limit = limitOf(context, filesDefault);
  await withMint(context, async ({ pool, market, options }) => {
    const collection = await readCollection(pool, id);
    if (collection === null) throw unknownMint(id);
    const shown = {
      collection: { ...collection, averageBytes: await readAverageBytes(pool, id) },
      phases: await readListedPhases(pool, id),
      counts: await countFiles(pool, id),
      files: await readFiles(pool, id, { after: null, limit }),
      preview: collection.state === 'pending' ? await previewApproval(pool, market, id, options) : null,
    };
    await print(flags['json'] === undefined ? shownText(shown) : `${JSON.stringify(shownJson(shown))}\n`);
  });
}

interface Shown {
  readonly collection: MeasuredCollection;
  readonly phases: readonly ListedPhase[];
  readonly counts: FileCounts;
  readonly files: readonly CollectionFile[];
  readonly preview: ApprovalPreview | null;
}

const shownJson = ({ collection, phases, counts, files, preview }: Shown) => ({
  ...collectionJson(collection),
  phases: phases.map(({ price, ...phase }) => ({ ...phase, price: Number(price ?? collection.price) })),
  files: {
    ...counts,
    first: files.map(({ stored, ...file }) => ({
      ...file,
      sha256: stored?.sha256.toString('hex') ?? null,
      bytes: stored?.bytes ?? null,
      mediaType: stored?.mediaType ?? null,
    })),
  },
  approval: preview,
});

function shownText({ collection, phases, counts, files, preview }: Shown): string {
  const { id, name, state, totalCount, taken, unpaid, price, creatorAddress } = collection;
  const texts = Object.entries(collection.shown).map(([key, text]): [string, string] => [key, String(text)]);
  const facts: readonly (readonly [string, string])[] = [
    ['name', name],
    ['state', `${state}${collection.decidedAt === null ? '' : ` since ${shownTime(collection.decidedAt)}`}`],
    ...(collection.reason === null ? [] : ([['reason', collection.reason]] as const)),
    ['created', shownTime(collection.createdAt)],
    [
      'key',
      collection.keyHash === null
        ? 'none; only the operator can change the collection'
        : 'a key may change its phases',
    ],
    ['items', `${totalCount}: ${taken - unpaid} sold, ${unpaid} unpaid, ${totalCount - taken} left`],
    ...(collection.altPrices === null
      ? ([
          ['price', `${price} sats an item${creatorAddress === null ? '' : ` to ${creatorAddress}`}`],
        ] as const)
      : []),
    ...runeFacts(collection),
    ...texts,
  ];
  const lines = facts.map(([key, text]) => `  ${key.padEnd(12)} ${terminalText(text)}\n`);
  const more = counts.files - files.length;
  return [
    `${id}\n${lines.join('')}`,
    `phases\n${phases.map((phase) => phaseLine(phase, collection)).join('') || '  none\n'}`,
    `files: ${counts.files}, ${counts.stored} of these files stored (${counts.storedBytes} bytes)\n`,
    ...files.map(fileLine),
    more <= 0 ? '' : `  … and ${more} more files (--limit N shows more)\n`,
    preview === null ? '' : previewText(preview, id),
  ].join('');
}

function runeFacts({ altPrices, runePrice }: Collection): readonly (readonly [string, string])[] {
  if (runePrice === null)
    return altPrices === null
      ? []
      : [['runes', `${JSON.stringify(altPrices)}, but no account receives this price, so nothing is sold`]];
  const { account, amount, divisibility, name } = runePrice;
  return [
    ['runes', `${shownAmount(trustedU128(amount), divisibility)} ${name} per item to account ${account}`],
  ];
}

function phaseLine(
  { phase, items, taken, isPublic, price, startsAt, endsAt, allowances }: ListedPhase,
  { state, price: usual }: Pick<Collection, 'state' | 'price'>,
): string {
  const open = state === 'approved' && isOpen({ startsAt, endsAt }, new Date()) ? 'open' : 'not open';
  const from = startsAt === null ? 'from the approval on' : `from ${shownTime(startsAt)}`;
  const to = endsAt === null ? '' : ` to ${shownTime(endsAt)}`;
  const who = isPublic
    ? `public${allowances === 0 ? '' : `, ${allowances} listed`}`
    : `${allowances} listed ${allowances === 1 ? 'address' : 'addresses'}`;
  return `  ${phase.padEnd(12)} ${open}, ${from}${to}; ${who}; ${taken} of ${items ?? 'all'} taken; ${price ?? usual} sats\n`;
}

const fileLine = ({ place, name, url, stored, toldBytes }: CollectionFile): string =>
  `${String(place + 1).padStart(6)}  ${terminalText(name)}  ${stored === null ? `${toldBytes ?? '?'} bytes by its creator, not stored` : `${stored.bytes} bytes, ${stored.mediaType}`}${url === null ? '' : `  ${terminalText(url)}`}\n`;

/** Maximum number of faults that are shown to people. `--json` shows all. */
const faultsShown = 100;

function previewText({ faults, toFetch, toFetchBytes, differences }: ApprovalPreview, id: string): string {
  const fetched =
    toFetch === 0
      ? 'fetches nothing'
      : `fetches ${toFetch} files${toFetchBytes === null ? '' : ` (${toFetchBytes} bytes by its creator)`}`;
  if (faults.length === 0)
    return `satscribe mint approve ${id} now ${fetched}, checks all bytes, and begins the sale\n${
      differences.length === 0
        ? ''
        : `  ${differences.length} stored files have another size than their creator said\n`
    }`;
  const lines = faults
    .slice(0, faultsShown)
    .map(({ where, why }) => `  ${terminalText(where)} ${terminalText(why)}\n`);
  const more = faults.length - lines.length;
  return `the collection cannot be approved now:\n${lines.join('')}${more === 0 ? '' : `  … and ${more} more\n`}`;
}
