import { formatInscriptionId } from '#kernel/primitives/inscription-id.ts';
import { terminalText } from '#kernel/text/terminal-text.ts';
import type { MarketCollection } from '#market/collections/collection.store.ts';
import type { ImportOutcome } from '#market/imports/import-collection.ts';
import { type Command, type CommandContext, UsageError, wrongSubcommand } from '#src/app/command-context.ts';
import { ownFlag, settingFlag } from '#src/commands/flags.ts';
import { jsonFlag, shownTime, withService } from '#src/commands/service-database.ts';

const limitDefault = 100;
const limitMost = 10_000;

export const collectionsCommand: Command = {
  name: 'collections',
  object: null,
  operands: 'import|list|show|remove',
  summary: 'import collections of the market, list them and remove them',
  details: `Actions:

  import  reads meta.json and inscriptions.json from a folder or a URL. It replaces the collection that the
          same list gave before, completely or not at all. Optional fields that are wrong are left out and
          listed. Inscriptions that are not indexed yet become part of the collection once they are indexed.
  list    shows the imported collections, ordered by slug.
  show    shows one imported collection.
  remove  removes one imported collection.

All actions may run beside a service (docs/marketplace-api.md, "Collections").

  satscribe collections import ./collections/bitcoin-frogs
  satscribe collections import https://example.com/collections/bitcoin-frogs
  satscribe collections list --json`,
  flags: [
    jsonFlag,
    ownFlag('after', 'SLUG', 'list: only collections whose slug comes after this slug'),
    ownFlag('limit', 'N', `list: maximum number of collections; unset: ${limitDefault}`),
    settingFlag('dataDir', 'DIR'),
    settingFlag('logLevel', 'LEVEL', 'warn'),
  ],
  prepare: ({ settings }) => ({ settings, defaults: { logLevel: 'warn' } }),
  run: runCollections,
};

const actions = ['import', 'list', 'show', 'remove'] as const;

async function runCollections(context: CommandContext): Promise<void> {
  const { words } = context;
  const [word = '', object = '', extra] = words;
  const action = actions.find((name) => name === word);
  if (action === undefined) throw wrongSubcommand(word, 'satscribe collections import, list, show or remove');
  const unexpected = action === 'list' && object !== '' ? object : extra;
  if (unexpected !== undefined)
    throw new UsageError(`unexpected word ${unexpected}; satscribe collections --help shows the usage`);
  if (action === 'list') return listAll(context);
  return runOn(context, action, object);
}

async function runOn(
  context: CommandContext,
  action: Exclude<(typeof actions)[number], 'list'>,
  object: string,
): Promise<void> {
  const { flags } = context;
  const foreign = ['after', 'limit'].find((name) => flags[name] !== undefined);
  if (foreign !== undefined)
    throw new UsageError(`--${foreign} is not a flag of satscribe collections ${action}`);
  if (object === '')
    throw new UsageError(
      `missing ${action === 'import' ? 'folder or URL' : 'slug'}; use satscribe collections ${action} ${action === 'import' ? '<folder or URL>' : '<slug>'}`,
    );
  if (action === 'import') return importOne(context, object);
  return action === 'show' ? showOne(context, object) : removeOne(context, object);
}

async function importOne(context: CommandContext, place: string): Promise<void> {
  // loaded here, so that help and usage errors do not load it
  const { importCollectionFrom } = await import('#src/app/market/collections.ts');
  const outcome = await importCollectionFrom(context, place);
  await context.print(
    context.flags['json'] === undefined ? outcomeText(outcome) : `${JSON.stringify(outcome)}\n`,
  );
}

async function listAll(context: CommandContext): Promise<void> {
  const { flags, print } = context;
  const limit = Number(flags['limit'] ?? limitDefault);
  if (!Number.isInteger(limit) || limit < 1 || limit > limitMost)
    throw new UsageError(`--limit must be a number from 1 to ${limitMost}`);
  await withService(context, async (pool) => {
    const { listCollections } = await import('#market/collections/collection.store.ts');
    const found = await listCollections(pool, { after: flags['after'] ?? '', limit });
    await print(
      flags['json'] === undefined
        ? found.map(collectionLine).join('') || emptyText(flags['after'] ?? '')
        : `${JSON.stringify(found.map(collectionJson))}\n`,
    );
  });
}

async function showOne(context: CommandContext, slug: string): Promise<void> {
  const { flags, print } = context;
  await withService(context, async (pool) => {
    const { countIndexedItems, readCollection, unknownCollection } = await import(
      '#market/collections/collection.store.ts'
    );
    const found = await readCollection(pool, slug);
    if (found === null) throw unknownCollection(slug);
    const indexed = await countIndexedItems(pool, slug);
    const shown = { ...collectionJson(found), notIndexed: found.items - indexed };
    await print(`${JSON.stringify(shown, null, flags['json'] === undefined ? 2 : 0)}\n`);
  });
}

async function removeOne(context: CommandContext, slug: string): Promise<void> {
  const { flags, print } = context;
  await withService(context, async (pool) => {
    const { removeCollection } = await import('#market/collections/collection.store.ts');
    await removeCollection(pool, slug);
    await print(flags['json'] === undefined ? `removed ${slug}\n` : `${JSON.stringify({ removed: slug })}\n`);
  });
}

const emptyText = (after: string): string =>
  after === ''
    ? 'No collection is imported. Import one with satscribe collections import FOLDER-OR-URL\n'
    : `No collection comes after ${after}. See all collections with satscribe collections list\n`;

function outcomeText(outcome: ImportOutcome): string {
  const { slug, name, result, items, doubles, notIndexed } = outcome;
  const more = [
    doubles === 0 ? null : `${doubles} named twice`,
    notIndexed === 0 ? null : `${notIndexed} not indexed yet`,
  ].filter((part) => part !== null);
  const tail = more.length === 0 ? '' : `, ${more.join(', ')}`;
  return `${result} ${slug} (${terminalText(name)}): ${items} items${tail}\n${oddityText(outcome)}`;
}

/** Returns a line for each part that is stored differently from the given list. */
function oddityText({ slug, listSlug, leftOut = [], leftOutCount = 0 }: ImportOutcome): string {
  const lines = leftOut.map(({ where, why }) => `  left out ${where}: ${why}\n`);
  if (listSlug !== undefined)
    lines.unshift(`  the list has the slug "${terminalText(listSlug)}", but its slug here is ${slug}\n`);
  if (leftOutCount > leftOut.length)
    lines.push(`  … and ${leftOutCount - leftOut.length} more fields were left out\n`);
  return lines.join('');
}

const collectionJson = ({ icon, ...rest }: MarketCollection) => ({
  ...rest,
  icon: icon === null ? null : formatInscriptionId(icon.txid, icon.index),
});

const collectionLine = ({ slug, name, items, importedAt }: MarketCollection): string =>
  `${slug.padEnd(32)}  ${String(items).padStart(6)} items  ${shownTime(importedAt)}  ${terminalText(name)}\n`;
