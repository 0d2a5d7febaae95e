import type pg from 'pg';
import { requirePending, unknownMint, wrongFiles } from '#collections/approving/approval-errors.ts';
import { readFacts } from '#collections/approving/approval-facts.ts';
import { approveIn, prepareApproval } from '#collections/approving/approve-collection.ts';
import {
  closeCollectionIn,
  refuseCollectionIn,
  requireOnSale,
} from '#collections/approving/decide-collection.ts';
import { previewApproval } from '#collections/approving/preview-approval.ts';
import { type Collection, lockCollection } from '#collections/collection/collection.store.ts';
import type { RunePrice } from '#collections/collection/rune-price.ts';
import type { ConsoleCell, ConsolePart } from '#kernel/contracts/console-sheet.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { shownAmount } from '#kernel/runes/shown-amount.ts';
import { trustedU128 } from '#kernel/runes/u128.ts';
import {
  type ActingParts,
  type ActionFields,
  digestOf,
  type OperatorAction,
  reasonInput,
  valueOf,
  words,
} from './operator-action.ts';

/**
 * Maximum number of files that are fetched while an operator waits for the page. A file may take a minute, and 32 are
 * fetched at once.
 */
const fetchedMax = 100;
/** Maximum number of files with another size than the creator said that a page names. */
const differencesShown = 20;

const ofCollection = {
  given: ['id'],
  target: (fields: ActionFields) => `collection ${valueOf(fields, 'id')}`,
  back: (fields: ActionFields) => `/console/collections/${encodeURIComponent(valueOf(fields, 'id'))}`,
} as const;

async function lockNamed(tx: pg.ClientBase, fields: ActionFields): Promise<Collection> {
  const id = valueOf(fields, 'id');
  const collection = await lockCollection(tx, id);
  if (collection === null) throw unknownMint(id);
  return collection;
}

/** The state of a collection without its counters, which each order changes. */
const stateOf = ({
  id,
  state,
  name,
  totalCount,
  price,
  creatorAddress,
  altPrices,
  runePrice,
  shown,
}: Collection) => ({
  id,
  state,
  name,
  totalCount,
  price,
  creatorAddress,
  altPrices,
  runePrice: runePrice === null ? null : runePriceFacts(runePrice),
  shown,
});

/** The price of an item in a rune, and its receiver. */
const runePriceFacts = ({
  account,
  etching,
  name,
  divisibility,
  amount,
}: RunePrice): readonly (readonly [string, ConsoleCell])[] => [
  ['Price in a rune', `${shownAmount(trustedU128(amount), divisibility)} ${name}`],
  ['Rune is etched by', displayHash(etching)],
  ['Account that gets the rune', account],
];

const facts = (
  { name, state, totalCount, taken, unpaid, price, creatorAddress, runePrice }: Collection,
  more: readonly (readonly [string, ConsoleCell])[],
): ConsolePart => ({
  kind: 'facts',
  facts: [
    ['Name', name],
    ['State', state],
    ['Items', totalCount],
    ['Sold', taken - unpaid],
    ['Price (sats)', Number(price)],
    ['Creator is paid at', creatorAddress],
    ...(runePrice === null ? [] : runePriceFacts(runePrice)),
    ...more,
  ],
});

/** Receiver of the price of an item, in words. */
const payeeOf = ({ creatorAddress, runePrice }: Collection): string =>
  runePrice === null
    ? `the creator at ${creatorAddress ?? 'no address'}`
    : `${runePrice.name} to the account ${runePrice.account}`;

/** The effect of an approval. Throws `mint_files_wrong` if it has faults, or too many files to fetch now. */
async function previewOf(client: pg.Pool | pg.ClientBase, { approval }: ActingParts, id: string) {
  const preview = await previewApproval(client, approval.market, id, approval.options);
  if (preview.faults.length > 0) throw wrongFiles(id, preview.faults);
  if (preview.toFetch > fetchedMax)
    throw new AppError(
      'mint_files_wrong',
      `The collection ${id} has ${preview.toFetch} files to fetch, and a page fetches at most ${fetchedMax}. Use satscribe mint approve ${id}, which shows its progress.`,
    );
  return preview;
}

const approve: OperatorAction = {
  ...ofCollection,
  title: 'Approve a collection',
  button: 'Approve',
  inputs: [],
  about: '',
  async prepare(parts, fields) {
    const id = valueOf(fields, 'id');
    // the creator may have added files since the confirmation was shown
    await previewOf(parts.pool, parts, id);
    const nothing = (): void => undefined;
    const { options, ...approval } = parts.approval;
    const { pool } = parts;
    await prepareApproval({ ...approval, pool, onMissing: nothing, onStored: nothing }, id, options);
  },
  async propose(tx, parts, fields) {
    const collection = await lockNamed(tx, fields);
    requirePending(collection);
    const { id } = collection;
    const preview = await previewOf(tx, parts, id);
    const { phases, files } = await readFacts(tx, id);
    const { differences } = preview;
    return {
      seen: {
        ...stateOf(collection),
        phases,
        // contents are fetched between confirmation and approval, so they are no part of the state
        files: digestOf(files.map(({ place, name, url, toldBytes }) => [place, name, url, toldBytes])),
      },
      parts: [
        words(
          `The ${collection.totalCount} items are sold under the name "${collection.name}", and their sales pay ${payeeOf(collection)}. ${preview.toFetch === 0 ? 'All files are stored.' : `${preview.toFetch} files are fetched first, which may take minutes.`}`,
          ...differences
            .slice(0, differencesShown)
            .map(
              ({ name, bytes, toldBytes }) =>
                `${name} has ${bytes} bytes, but its creator said ${toldBytes}.`,
            ),
        ),
        facts(collection, [
          ['Files', files.length],
          ['Phases', phases.length],
        ]),
      ],
      act: async () => {
        const { items } = await approveIn(tx, parts.approval.market, id, parts.approval.options);
        return `The collection is approved: ${items} items are on sale.`;
      },
    };
  },
};

const refuse: OperatorAction = {
  ...ofCollection,
  title: 'Refuse a collection',
  button: 'Refuse',
  inputs: [reasonInput('which the creator reads')],
  about: 'A refused collection is never sold, and its files are deleted.',
  async propose(tx, _parts, fields) {
    const collection = await lockNamed(tx, fields);
    requirePending(collection);
    const reason = valueOf(fields, 'reason');
    return {
      seen: stateOf(collection),
      parts: [
        words('The collection is refused. It can never be sold, and its files are deleted.'),
        facts(collection, [['Your reason', reason]]),
      ],
      act: async () => {
        await refuseCollectionIn(tx, collection.id, reason);
        return 'The collection is refused.';
      },
    };
  },
};

const close: OperatorAction = {
  ...ofCollection,
  title: 'Close a sale',
  button: 'Close the sale',
  inputs: [reasonInput('which the creator reads')],
  about: 'Ends the sale of a collection for ever. Sold items stay sold.',
  async propose(tx, _parts, fields) {
    const collection = await lockNamed(tx, fields);
    requireOnSale(collection);
    const reason = valueOf(fields, 'reason');
    return {
      seen: stateOf(collection),
      parts: [
        words(
          'The sale ends for ever. Sold items stay sold, and unpaid orders keep their items until these orders expire.',
        ),
        facts(collection, [
          ['Unpaid', collection.unpaid],
          ['Your reason', reason],
        ]),
      ],
      act: async () => {
        await closeCollectionIn(tx, collection.id, reason);
        return 'The sale is closed.';
      },
    };
  },
};

/** Actions on collections for sale, by name. */
export const collectionActions = {
  'mint-approve': approve,
  'mint-refuse': refuse,
  'mint-close': close,
} as const;
